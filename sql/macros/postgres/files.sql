{# A model in a file of JSON: a list a cell, of its slice, class, feature, value, n, mean and m2. #}

{% macro postgres__cells_as_json(cells) -%}
SELECT CAST(coalesce(json_agg(json_build_array(slice, CAST(class AS {{ nbsql.string() }}), feature, value, n, mean, m2)), '[]') AS {{ nbsql.string() }}) AS cells
FROM (
  {{ cells | indent(2) }}
) AS cells
{%- endmacro %}

{% macro postgres__cells_of_json(text, type) -%}
{% set class %}CAST(cell ->> 1 AS {{ type }}){% endset -%}
SELECT
  (cell ->> 0) COLLATE "C" AS slice,
  {{ nbsql.as_label(class, type) }} AS class,
  cell ->> 2 AS feature,
  (cell ->> 3) COLLATE "C" AS value,
  CAST(cell ->> 4 AS {{ nbsql.double() }}) AS n,
  CAST(cell ->> 5 AS {{ nbsql.double() }}) AS mean,
  CAST(cell ->> 6 AS {{ nbsql.double() }}) AS m2,
  '1' AS batch
FROM json_array_elements(CAST({{ nbsql.text(text) }} AS JSON)) AS cells(cell)
{%- endmacro %}

{% macro postgres__calibration_text(calibration) -%}
SELECT CAST(json_agg(json_build_object(
    {%- for column in ['method', 'temperature', 'slope', 'intercept', 'score', 'probability'] %}{{ nbsql.text(column) }}, {{ nbsql.word(column) }}, {% endfor -%}
    'class', CAST(class AS {{ nbsql.string() }})) ORDER BY class_no, score) AS {{ nbsql.string() }}) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{% macro postgres__stored_calibration(text) -%}
json_to_recordset(CAST({{ nbsql.text(text) }} AS JSON)) AS stored(
  method {{ nbsql.string() }}, class {{ nbsql.string() }}
  {%- for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] %}, {{ nbsql.word(column) }} {{ nbsql.double() }}{% endfor %})
{%- endmacro %}
