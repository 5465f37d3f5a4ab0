CREATE VIEW "spam"."features" AS
SELECT
  feature ->> 'name' AS feature,
  feature ->> 'family' AS family,
  ARRAY(SELECT jsonb_array_elements_text(feature -> 'columns')) AS columns,
  ARRAY(SELECT jsonb_array_elements_text(feature -> 'types')) AS types,
  feature - ARRAY(SELECT jsonb_object_keys(CAST('{"name":null,"columns":null,"types":null,"floating":null,"whole":null,"complete":null,"near":null,"few":null,"family":null}' AS JSONB))) AS options
FROM "spam"."spec" AS spec
CROSS JOIN LATERAL jsonb_array_elements(CAST(spec.spec AS JSONB) -> 'features') WITH ORDINALITY AS listed(feature, position)
ORDER BY position ASC NULLS LAST;
