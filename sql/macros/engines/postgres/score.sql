{#
  PostgreSQL's forms of scoring. It replaces a name from a sub-select by its expression at every use, so an expression that is named often
  is computed often. OFFSET 0 prevents this.
#}

{# To follow the columns of an answer: the scored rows, in the order of the source. #}
{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}
