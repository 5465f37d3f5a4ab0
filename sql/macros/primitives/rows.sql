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

{# One row: for each of some columns, how many rows have a value. #}
{% macro values_of_columns(source, columns) -%}
SELECT
  {% for column in columns %}
  (
    SELECT count(*)
    FROM (
      SELECT 1 AS value FROM {{ source }} AS source WHERE source.{{ nbsql.ident(column) }} IS NOT NULL LIMIT 1
    ) AS first
  ){{ nbsql.comma(loop) }}
  {% endfor %}
{%- endmacro %}

{# The rows with NULL in some columns. emptied: their types, by name; none: no type. #}
{% macro without_values(source, columns, emptied) -%}
(
  SELECT
    {% for column in columns %}
    {% if column not in emptied %}source.
    {%- elif emptied[column] is none %}NULL AS {% else %}CAST(NULL AS {{ emptied[column] }}) AS {% endif %}
    {{- nbsql.ident(column) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ source }} AS source
)
{%- endmacro %}
