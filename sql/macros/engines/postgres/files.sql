{# Cells and calibrations as a text of JSON. #}

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

{# One row per object of the text. #}
{% macro postgres__rows_of_json(text, texts, numbers) -%}
(
  SELECT *
  FROM json_to_recordset(CAST({{ text }} AS JSON)) AS listed(
    {%- for name in texts %}{{ nbsql.word(name) }} {{ nbsql.string() }}, {% endfor %}
    {%- for name in numbers %}{{ nbsql.word(name) }} {{ nbsql.double() }}{{ nbsql.comma_blank(loop) }}{% endfor %})
)
{%- endmacro %}
