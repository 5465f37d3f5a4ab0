CREATE VIEW "spam"."features" AS
SELECT
  feature ->> 'name' AS feature,
  feature ->> 'family' AS family,
  CAST(feature -> 'columns' AS VARCHAR[]) AS columns,
  CAST(feature -> 'types' AS VARCHAR[]) AS types,
  json_merge_patch(feature, '{"name":null,"columns":null,"types":null,"floating":null,"whole":null,"complete":null,"near":null,"few":null,"family":null}') AS options
FROM (
  SELECT unnest(CAST(json_extract(spec.spec, '$.features') AS JSON[])) AS feature
  FROM "spam"."spec" AS spec
) AS features;
