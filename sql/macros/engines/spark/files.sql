{# One row per object of a text of JSON, of cells or of a calibration. #}
{% macro spark__rows_of_json(text, texts, numbers) -%}
(
  SELECT inline(from_json({{ text }}, 'ARRAY<STRUCT<
    {%- for name in texts %}{{ nbsql.word(name) }}: {{ nbsql.string() }}, {% endfor %}
    {%- for name in numbers %}{{ nbsql.word(name) }}: {{ nbsql.double() }}{{ nbsql.comma_blank(loop) }}{% endfor %}>>'))
)
{%- endmacro %}
