{#
  PostgreSQL's forms of scoring. It replaces a name from a sub-select by its expression at every use, so an expression that is named often
  is computed often. OFFSET 0 prevents this.
#}

{# To follow the columns of an answer: the scored rows, in the order of the source. #}
{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.has_row_numbers %}

ORDER BY source.nbsql_row ASC NULLS LAST
{%- endif %}
{%- endmacro %}
