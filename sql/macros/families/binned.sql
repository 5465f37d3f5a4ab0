{#
  A number cut into bins, which are counted, estimated (dirichlet.sql) and looked up as categories. A bin includes its lower edge and
  excludes its upper one.
#}

{# The label of the bin of a number; NULL if it is missing. #}
{% macro binned_value(feature, relation) -%}
{{ nbsql.bin_of(feature.column, relation, feature.family.edges, feature.family.labels) }}
{%- endmacro %}

{# An expression that is NULL where the number is missing, and so in no bin. #}
{% macro binned_given(feature, relation) -%} {{ nbsql.finite(nbsql.number_of(feature.column, relation)) }} {%- endmacro %}

{# The label of the bin of a numeric column; NULL if it is missing. #}
{% macro bin_of(column, relation, edges, labels) -%}
{% call(stretch) nbsql.stretch_of(column, relation, edges) %}{{ nbsql.text(labels[stretch]) }}{% endcall %}
{%- endmacro %}

{# What a block renders for the stretch between edges, from 0, in which a numeric column is; NULL if it is missing. #}
{% macro stretch_of(column, relation, edges) -%}
{% set x = nbsql.number_of(column, relation) -%}
CASE WHEN {{ nbsql.finite(x) }} IS NOT NULL THEN CASE
  {%- for edge in edges %} WHEN {{ x }} < {{ nbsql.number(edge) }} THEN {{ caller(loop.index0) }}{% endfor %}
  {%- if edges %} ELSE{% else %} WHEN {{ x }} IS NOT NULL THEN{% endif %} {{ caller(edges | length) }} END END
{%- endmacro %}
