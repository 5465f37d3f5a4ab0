{# The parts of a model that exist only for users to read. #}

{# One row per feature: feature, family, columns, types, options (JSON). #}
{% macro postgres__features(spec) -%}
SELECT
  feature ->> 'name' AS feature,
  feature ->> 'family' AS family,
  ARRAY(SELECT jsonb_array_elements_text(feature -> 'columns')) AS columns,
  ARRAY(SELECT jsonb_array_elements_text(feature -> 'types')) AS types,
  feature - ARRAY(SELECT jsonb_object_keys(CAST({{ nbsql.non_option_fields() }} AS JSONB))) AS options
FROM {{ spec }} AS spec
CROSS JOIN LATERAL jsonb_array_elements(CAST(spec.spec AS JSONB) -> 'features') WITH ORDINALITY AS listed(feature, position)
ORDER BY position ASC NULLS LAST
{%- endmacro %}
