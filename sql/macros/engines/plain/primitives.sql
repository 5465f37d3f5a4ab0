{#
  Forms that PostgreSQL and Spark share, in SQL without DuckDB's conveniences. A macro plain__name takes the place of the macro `name` in
  a dialect whose folders include "plain" (Traits.macro_folders in nbsql/rendering/dialect.py).
#}

{# A query of the inputs of some features and of the log-factorial of each count, which is computed once a row. #}
{% macro plain__completed_inputs(inputs, features) -%}
{% set counts = features | selectattr('family.name', 'equalto', 'poisson') | list -%}
{% if counts -%}
SELECT
  counted.*
  {%- for feature in counts %},
  {% set x %}counted.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset %}
  {{ nbsql.log_factorial(x) | indent(2) }} AS nbsql_log_factorial{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}

FROM (
  {{ inputs | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS counted
{{- nbsql.optimisation_fence() }}
{%- else -%}
{{ inputs }}
{{- nbsql.optimisation_fence() }}
{%- endif %}
{%- endmacro %}
