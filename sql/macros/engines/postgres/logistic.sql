{# PostgreSQL's forms of logistic regression. #}

{#
  A likelihood below 1e-100 of the highest counts as 0: products of such ratios would fall below the range of a double, which is an error.
#}
{% macro postgres__logistic_relative_likelihood(below) -%}
CASE WHEN {{ below }} < -230 THEN 0 ELSE exp({{ below }}) END
{%- endmacro %}
