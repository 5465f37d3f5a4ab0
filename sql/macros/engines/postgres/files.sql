{# A model as a text of JSON, with one object a cell. #}

{# One row a cell of such a text: slice, class, feature, value, n, mean, m2, batch. #}
{% macro postgres__cells_of_json(text, type) -%}
{% set class %}CAST(cell ->> 'class' AS {{ type }}){% endset -%}
SELECT
  (cell ->> 'slice') COLLATE "C" AS slice,
  {{ nbsql.as_label(class, type) }} AS class,
  cell ->> 'feature' AS feature,
  (cell ->> 'value') COLLATE "C" AS value,
  CAST(cell ->> 'n' AS {{ nbsql.double() }}) AS n,
  CAST(cell ->> 'mean' AS {{ nbsql.double() }}) AS mean,
  CAST(cell ->> 'm2' AS {{ nbsql.double() }}) AS m2,
  cell ->> 'batch' AS batch
FROM json_array_elements(CAST({{ nbsql.text(text) }} AS JSON)) AS cells(cell)
{%- endmacro %}

{# One row: calibration, a text of JSON that lists one object a class and knot. #}
{% macro postgres__calibration_text(calibration) -%}
{% set entry -%}
json_build_object(
    {%- for column in ['method', 'temperature', 'slope', 'intercept', 'score', 'probability'] -%}
    {{ nbsql.text(column) }}, {{ nbsql.word(column) }}, {% endfor -%}
    'class', CAST(class AS {{ nbsql.string() }}))
{%- endset -%}
SELECT
  CAST(json_agg({{ entry }} ORDER BY class_no ASC NULLS LAST, score ASC NULLS LAST) AS {{ nbsql.string() }}) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{#
  A relation from such a text. One row a class and knot: method, class (its label as text), temperature, slope, intercept, score,
  probability.
#}
{% macro postgres__stored_calibration(text) -%}
json_to_recordset(CAST({{ nbsql.text(text) }} AS JSON)) AS stored(
  method {{ nbsql.string() }}, class {{ nbsql.string() }}
  {%- for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] -%}
  , {{ nbsql.word(column) }} {{ nbsql.double() }}
  {%- endfor %})
{%- endmacro %}
