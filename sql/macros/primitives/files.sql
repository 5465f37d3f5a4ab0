{#
  A CSV file with some columns as they are written; DuckDB guesses the types of the others. named: whether it begins with the names of
  its columns.
#}
{% macro csv_with_texts(path, columns, named) -%}
read_csv({{ nbsql.text(path) }}, {% if named %}header = TRUE, {% endif %}types = {
  {%- for column in columns %}{{ nbsql.text(column) }}: 'VARCHAR'{% if not loop.last %}, {% endif %}{% endfor -%}
})
{%- endmacro %}

{# A file of JSON whose columns have these types. columns: (name, type) a column. #}
{% macro json_with_types(path, columns) -%}
read_json({{ nbsql.text(path) }}, columns = {
  {%- for column, type in columns %}{{ nbsql.text(column) }}: {{ nbsql.text(type) }}{% if not loop.last %}, {% endif %}{% endfor -%}
})
{%- endmacro %}
