{# PostgreSQL's form of a query that contains the model's numbers: a list is an array, and a label is compared as in models. #}

{% macro postgres__inline_numbers(values) -%}
{% set elements %}{% for value in values %}{{ nbsql.inline_number(value) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ nbsql.list_of(elements, nbsql.double()) }}
{%- endmacro %}
