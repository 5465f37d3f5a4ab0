{# One row, as every engine takes it: `values` are literals by the names of their columns. #}
{% macro made_up(values, last) -%}
SELECT {% for name, value in values.items() %}{{ value }} AS {{ name }}{{ ', ' if not loop.last }}{% endfor %}
{{ 'UNION ALL' if not last }}
{%- endmacro %}

{% macro one_of(values, number) %}'{{ values[number % (values | length)] }}'{% endmacro %}
