{# Where a query with the numbers of the model differs: a list is an array, and a label is compared as those of models are. #}

{% macro postgres__inline_numbers(values) -%}
{% set elements %}{% for value in values %}{{ nbsql.inline_number(value) }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
{{ nbsql.list_of(elements, nbsql.double()) }}
{%- endmacro %}
