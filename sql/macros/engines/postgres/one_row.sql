{# PostgreSQL's forms of the prediction of one row. #}

{% macro postgres__row_list(numbers, type) -%}
{% set element_type %}{% if type == 'INTEGER' %}INTEGER{% else %}{{ nbsql.double() }}{% endif %}{% endset -%}
unnest(CAST(translate({{ nbsql.text(numbers) }}, '[]', '{}') AS {{ element_type }}[]))
{%- endmacro %}

{#
  No function raises an error, but casting an invalid text to BOOLEAN does. The cast depends on a text of the row, because it would
  otherwise fail before any row is read.
#}
{% macro postgres__raise_error(message, text='spec.nbsql_version') -%}
CAST(left({{ nbsql.word(text) }}, 0) || {{ nbsql.text(message) }} AS BOOLEAN)
{%- endmacro %}
