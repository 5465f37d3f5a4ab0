{#
  Rows that the caller's program holds, as a source.

    rows       a text of JSON, a list of objects
    structure  the types of their fields, as DuckDB reads them from a text of JSON
    columns    (name, kind of type) a column
#}
{% macro default__rows_from_json(rows, structure, columns) -%}
(
  SELECT unnest(from_json({{ nbsql.text(rows) }}, {{ nbsql.text(structure) }}), max_depth := 2)
)
{%- endmacro %}
