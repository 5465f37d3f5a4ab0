{#
  Where scoring differs. PostgreSQL puts a sub-select's expressions in the place of their names, again and again where one is named
  often: OFFSET 0 keeps it from that.
#}

{# After the columns of an answer: the scored rows, in the order of the source. #}
{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.has_row_numbers %}

ORDER BY source.nbsql_row ASC NULLS LAST
{%- endif %}
{%- endmacro %}
