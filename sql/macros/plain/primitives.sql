{#
  Where PostgreSQL and Spark write alike, in SQL without DuckDB's conveniences. A macro plain__name takes the place of the macro `name`
  in a dialect that speaks "plain" (Traits.speaks in nbsql/dialect.py).
#}

{% macro plain__divisor(x) -%}
nullif({{ x }}, 0)
{%- endmacro %}

{# PostgreSQL has lgamma from 18 on, Spark has none. #}
{% macro plain__log_factorial(x) -%}
{{ nbsql.stirling(x) }}
{%- endmacro %}

{# So it is computed once a row, not once a row and class. #}
{% macro plain__log_factorial_of(feature) -%}
number.nbsql_log_factorial{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro plain__completed(inputs, features) -%}
{% set counts = features | selectattr('family.name', 'equalto', 'poisson') | list -%}
{% if counts -%}
SELECT
  counted.*
  {%- for feature in counts %},
  {% set x %}counted.nbsql_x{{ nbsql.sub(feature) }}{% endset %}
  {{ nbsql.log_factorial(x) | indent(2) }} AS nbsql_log_factorial{{ nbsql.sub(feature) }}
  {%- endfor %}

FROM (
  {{ inputs | indent(2) }}
  {{- nbsql.once() | indent(2) }}
) AS counted
{{- nbsql.once() }}
{%- else -%}
{{ inputs }}
{{- nbsql.once() }}
{%- endif %}
{%- endmacro %}
