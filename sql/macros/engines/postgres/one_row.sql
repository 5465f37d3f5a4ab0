{# Where the prediction of one row differs. #}

{% macro postgres__row_list(numbers, type) -%}
{% set element_type %}{% if type == 'INTEGER' %}INTEGER{% else %}{{ nbsql.double() }}{% endif %}{% endset -%}
unnest(CAST(translate({{ nbsql.text(numbers) }}, '[]', '{}') AS {{ element_type }}[]))
{%- endmacro %}

{# No function raises an error; a text that is no yes or no does. It hangs on a column, or it would do so before anything is read. #}
{% macro postgres__raise_error(message) -%}
CAST(left(spec.nbsql_version, 0) || {{ nbsql.text(message) }} AS BOOLEAN)
{%- endmacro %}
