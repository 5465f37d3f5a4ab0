{#
  Categories as they are, estimated by dirichlet.sql. A family of categories has two macros: its value as text, and something that
  is NULL where the value is missing.
#}

{#
  A column of whole numbers is read as whole numbers: a frame with a gap in such a column holds doubles, and 1.0 must find the
  value 1.
#}
{% macro categorical_value(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
CAST({% if feature.whole %}TRY_CAST({{ x }} AS HUGEINT){% else %}{{ x }}{% endif %} AS {{ nbsql.string() }})
{%- endmacro %}

{% macro categorical_given(feature, relation) -%}
{{ relation }}.{{ nbsql.ident(feature.column) }}
{%- endmacro %}

{# A value drawn at random (sample.sql). #}
{% macro categorical_drawn(feature, seed, position) -%}
drawn.value{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro categorical_weights(feature, column, degree) -%}
{{ nbsql.other_weights(feature, column) }}
{%- endmacro %}
