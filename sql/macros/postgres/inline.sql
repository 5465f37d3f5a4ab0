{# Where a query with the numbers of the model differs: a list is an array, and a label is compared as those of models are. #}

{% macro postgres__inline_numbers(values) -%}
CAST(ARRAY[{% for value in values %}{{ nbsql.inline_number(value) }}{% if not loop.last %}, {% endif %}{% endfor %}] AS {{ nbsql.double() }}[])
{%- endmacro %}
