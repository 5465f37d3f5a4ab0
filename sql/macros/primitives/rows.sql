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

{# A value as one of another type, whose form of it is the same text: 0.1 is 0.1 in every type of numbers. NULL where it has none. #}
{% macro in_type(value, type) -%} {{ nbsql.cast_or_null('CAST(' ~ value ~ ' AS ' ~ nbsql.string() ~ ')', type) }} {%- endmacro %}

{# One row for each value of a column that would be another one in a type, at most one. own: the type of the column. #}
{% macro value_beyond_type(source, column, type, own) -%}
{% set value %}source.{{ nbsql.ident(column) }}{% endset -%}
SELECT {{ value }}
FROM {{ source }} AS source
WHERE {{ value }} IS NOT NULL
  AND CASE WHEN {{ value }} = CAST({{ nbsql.in_type(value, type) }} AS {{ own }}) THEN FALSE ELSE TRUE END
LIMIT 1
{%- endmacro %}

{# The rows with a column in another type. #}
{% macro with_type(source, columns, column, type) -%}
(
  SELECT
    {% for name in columns %}
    {% set value %}source.{{ nbsql.ident(name) }}{% endset -%}
    {% if name != column %}{{ value }}{% else %}{{ nbsql.in_type(value, type) }} AS {{ nbsql.ident(name) }}{% endif %}
    {{- nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ source }} AS source
)
{%- endmacro %}
