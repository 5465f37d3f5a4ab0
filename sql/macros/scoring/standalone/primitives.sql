{# Where engines differ in a standalone scorer, beyond the primitives of all statements (primitives.sql). #}

{# The largest of the numbers of some items, none of them NULL, which a block renders. #}
{% macro greatest_of(items) -%}
{% set values = namespace(list=[]) -%}
{% for item in items %}{% set values.list = values.list + [caller(item)] %}{% endfor -%}
{{ nbsql.greatest_of_list(values.list) }}
{%- endmacro %}

{# The same of rendered numbers. It is computed in blocks, because a function may not take as many arguments as a model has classes. #}
{% macro greatest_of_list(values) -%}
{% if values | length == 1 -%}
{{ values[0] }}
{%- elif values | length <= 50 -%}
{{ nbsql.greatest_of_few(values) }}
{%- else -%}
{% set blocks = namespace(list=[]) -%}
{% for block in values | batch(50) %}{% set blocks.list = blocks.list + [nbsql.greatest_of_list(block)] %}{% endfor -%}
{{ nbsql.greatest_of_list(blocks.list) }}
{%- endif %}
{%- endmacro %}
