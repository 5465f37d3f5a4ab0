CREATE OR REPLACE VIEW `spam`.`features` COMMENT 'nbsql: One row per feature: feature, family, columns, types, options (JSON).' AS
SELECT
  get_json_object(feature, '$.name') AS feature,
  get_json_object(feature, '$.family') AS family,
  from_json(get_json_object(feature, '$.columns'), 'ARRAY<STRING>') AS columns,
  from_json(get_json_object(feature, '$.types'), 'ARRAY<STRING>') AS types,
  to_json(map_filter(
    from_json(feature, 'MAP<STRING, VARIANT>'),
    (name, option) -> NOT array_contains(json_object_keys('{"name":null,"columns":null,"types":null,"floating":null,"whole":null,"complete":null,"near":null,"few":null,"family":null}'), name)
  )) AS options
FROM (
  SELECT explode(from_json(get_json_object(spec.spec, '$.features'), 'ARRAY<STRING>')) AS feature
  FROM `spam`.`spec` AS spec
) AS features;
