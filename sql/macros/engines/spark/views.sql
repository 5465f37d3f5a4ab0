{# The parts of a model that exist only for users to read. #}

{# One row per feature: feature, family, columns, types, options (a text of JSON). #}
{% macro spark__features(spec) -%}
SELECT
  get_json_object(feature, '$.name') AS feature,
  get_json_object(feature, '$.family') AS family,
  from_json(get_json_object(feature, '$.columns'), 'ARRAY<STRING>') AS columns,
  from_json(get_json_object(feature, '$.types'), 'ARRAY<STRING>') AS types,
  to_json(map_filter(
    from_json(feature, 'MAP<STRING, VARIANT>'),
    (name, option) -> NOT array_contains(json_object_keys({{ nbsql.non_option_fields() }}), name)
  )) AS options
FROM (
  SELECT explode(from_json(get_json_object(spec.spec, '$.features'), 'ARRAY<STRING>')) AS feature
  FROM {{ spec }} AS spec
) AS features
{%- endmacro %}
