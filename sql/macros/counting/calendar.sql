{# The parts of dates and times, the same on every engine (nbsql/family/calendar.py). #}

{#
  A part of a column, an expression: of a weekday its name, Sunday, of the others a whole number; NULL for a missing or infinite date. zone:
  the time zone of the part, for a column of times with a time zone; none for others. type: that of the column; a table macro needs it,
  whose query is planned before it can say that a column is of another type.
#}
{% macro calendar_part(name, part, zone=none, type=none) -%}
{% set column %}{% if type is none %}{{ nbsql.ident(name) }}{% else %}CAST({{ nbsql.ident(name) }} AS {{ type }}){% endif %}{% endset -%}
{% set time = column if zone is none else nbsql.in_time_zone(column, zone) -%}
{% if part == 'weekday' -%}
{% set days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] -%}
CASE {{ nbsql.number_of_weekday(time) }}
{%- for day in days %} WHEN {{ loop.index }} THEN {{ nbsql.text(day) }}{% endfor %} END
{%- else -%}
{{ nbsql.part_of_time(time, part) }}
{%- endif %}
{%- endmacro %}

{#
  One row: for each part, an expression, how many rows with a class have one, and how many different ones they have. target: none for all
  rows.
#}
{% macro calendar_facts(source, expressions, target) -%}
SELECT
  {% for expression in expressions %}
  count({{ expression }}) AS rows_{{ loop.index }}, count(DISTINCT {{ expression }}) AS values_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- if target is not none +%}
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
{%- endif %}
{%- endmacro %}
