{# One row per feature: feature, the kinds of its rows (NULL if there is none), and its values. #}
{% macro postgres__given_features(given) -%}
SELECT
  feature,
  array_agg(DISTINCT kind) AS kinds,
  coalesce(array_agg(DISTINCT value) FILTER (WHERE value IS NOT NULL OR kind = 'values'), '{}') AS "values"
{{ nbsql.from_given_kinds(given) }}
{%- endmacro %}
