{# Cells and calibrations as a text of JSON. #}

{# One row: calibration, a text of JSON that lists one object a class and knot. #}
{% macro spark__calibration_text(calibration) -%}
SELECT to_json(array_sort(collect_list(struct(
    class_no, score, method, CAST(class AS {{ nbsql.string() }}) AS class, temperature, slope, intercept, probability
  )))) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{# One row per object of the text. #}
{% macro spark__rows_of_json(text, texts, numbers) -%}
(
  SELECT inline(from_json({{ text }}, 'ARRAY<STRUCT<
    {%- for name in texts %}{{ nbsql.word(name) }}: {{ nbsql.string() }}, {% endfor %}
    {%- for name in numbers %}{{ nbsql.word(name) }}: {{ nbsql.double() }}{{ nbsql.comma_blank(loop) }}{% endfor %}>>'))
)
{%- endmacro %}
