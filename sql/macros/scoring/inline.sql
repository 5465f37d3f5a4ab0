{#
  A query of a model (predict.sql, explain.sql) that contains the model: its parameters and lookups (parameters.sql) stand as numbers in
  front, under the names `nbsql parameters` and `nbsql lookups`, so that it reads only the source.

  The columns of a table are given by name; its values are literals, rendered below.
#}
{% macro with_inline_tables(query, tables) -%}
WITH {% for name, columns, rows in tables -%}
{{ nbsql.ident(name) }} AS (
  {% if rows | length == 1 %}
  SELECT
    {% for value in rows[0] %}
    {{ value }} AS {{ nbsql.word(columns[loop.index0]) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  {%- elif not rows %}
  SELECT
    {% for column in columns %}
    {% set type %}{% if column in ('feature', 'value', 'method') %}{{ nbsql.string() }}{% else %}{{ nbsql.double() }}{% endif %}{% endset %}
    CAST(NULL AS {{ type }}{% if column == 'scores' %}[]{% endif %}) AS {{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  WHERE FALSE
  {%- else %}
  SELECT *
  FROM (
    VALUES
      {% for row in rows %}
      ({% for value in row %}{{ value }}{{ nbsql.comma_blank(loop) }}{% endfor %}){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS literals({% for column in columns %}{{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
  {%- endif +%}
){{ nbsql.comma_line(loop) }}
{%- endfor %}
{{- nbsql.after_tables(query) }}
{%- endmacro %}

{# The rest of a query that begins with common table expressions: another query, whose own follow them. #}
{% macro after_tables(query) -%}
{%- if query.startswith('WITH ') %},
{{ query[5:] }}
{%- else +%}
{{ query }}
{%- endif %}
{%- endmacro %}

{# The name of such a table in the query. #}
{% macro inline_name(name) -%} {{ nbsql.ident('nbsql ' ~ name) }} {%- endmacro %}

{# A number, even if a plain literal cannot express it, or a list of numbers. type: of a missing list. #}
{% macro inline_number(value, type=none) -%}
{% if value is none -%}
CAST(NULL AS {% if type %}{{ type }}{% else %}{{ nbsql.double() }}{% endif %})
{%- elif value is iterable -%}
{% set numbers %}{% for number in value %}{{ nbsql.inline_number(number) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ nbsql.list_of(numbers, nbsql.double()) }}
{%- elif value > 1.7976931348623157e308 -%}
{{ nbsql.infinity() }}
{%- elif value < -1.7976931348623157e308 -%}
-{{ nbsql.infinity() }}
{%- else -%}
{{ nbsql.number(value) }}
{%- endif %}
{%- endmacro %}

{# A class in its own type. #}
{% macro inline_label(label, type) -%} CAST({{ nbsql.text(label) }} AS {{ type }}) {%- endmacro %}
