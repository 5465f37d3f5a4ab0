{# PostgreSQL's forms of logistic regression. #}

{#
  A likelihood below 1e-100 of the highest counts as 0: products of such ratios would fall below the range of a double, which is an error.
#}
{% macro postgres__logistic_relative_likelihood(below) -%}
CASE WHEN {{ below }} < -230 THEN 0 ELSE exp({{ below }}) END
{%- endmacro %}

{# PostgreSQL does not cast a Boolean to a number. #}
{% macro postgres__weighted_number(feature) -%}
{% if feature.family.binary -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ x }} IN ('true', '1') THEN {{ nbsql.number(1) }}
  WHEN {{ x }} IN ('false', '0') THEN {{ nbsql.number(0) }}
  ELSE CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN {{ nbsql.number(1) }} WHEN 0 THEN {{ nbsql.number(0) }} END
END
{%- else -%}
{{ nbsql.finite(nbsql.number_of(feature.column)) }}
{%- endif %}
{%- endmacro %}
