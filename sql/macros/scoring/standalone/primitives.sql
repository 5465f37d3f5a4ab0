{# Where engines differ in a standalone scorer, beyond the primitives of all statements (primitives.sql). #}

{#
  The largest of some numbers, none of them NULL. It is computed in blocks, because a function may not take as many arguments as a model
  has classes.
#}
{% macro greatest_of(values) -%}
{% if values | length == 1 -%}
{{ values[0] }}
{%- elif values | length <= 50 -%}
{{ nbsql.greatest_of_few(values) }}
{%- else -%}
{% set blocks = [] -%}
{% for block in values | batch(50) %}{{ nbsql.standalone_add(blocks, nbsql.greatest_of(block)) }}{% endfor -%}
{{ nbsql.greatest_of(blocks) }}
{%- endif %}
{%- endmacro %}
