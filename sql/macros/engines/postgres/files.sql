{# One row per object of a text of JSON, of cells or of a calibration. #}
{% macro postgres__rows_of_json(text, texts, numbers) -%}
(
  SELECT *
  FROM json_to_recordset(CAST({{ text }} AS JSON)) AS listed(
    {%- for name in texts %}{{ nbsql.word(name) }} {{ nbsql.string() }}, {% endfor %}
    {%- for name in numbers %}{{ nbsql.word(name) }} {{ nbsql.double() }}{{ nbsql.comma_blank(loop) }}{% endfor %})
)
{%- endmacro %}
