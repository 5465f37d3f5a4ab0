{# PostgreSQL's forms of the prediction of one row. #}

{% macro postgres__row_list(numbers, type) -%}
{% set element_type %}{% if type == 'INTEGER' %}INTEGER{% else %}{{ nbsql.double() }}{% endif %}{% endset -%}
unnest(CAST(translate({{ nbsql.text(numbers) }}, '[]', '{}') AS {{ element_type }}[]))
{%- endmacro %}
