{# BigQuery's own forms. A macro bigquery__name takes the place of the macro `name`. #}

{# One row per literal: value, class_1, class_2, ... The rows are structs in a list; the first one names the columns. #}
{% macro bigquery__literal_rows(kind, keys, scores) -%}
SELECT *
FROM UNNEST([
  {% for key in keys %}
  {% set first = loop.first %}
  {% set values -%}
  {{ key }}{% if first %} AS value{% endif %}
  {%- for score in scores[loop.index0] -%}
  , {{ nbsql.standalone_nullable(score) }}{% if first %} AS class_{{ loop.index }}{% endif %}
  {%- endfor %}
  {%- endset %}
  {%+ if first %}STRUCT{%+ endif %}({{ values }}){{ nbsql.comma(loop) }}
  {% endfor %}
])
{%- endmacro %}
