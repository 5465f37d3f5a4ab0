{# PostgreSQL's forms of leave-one-out: the parameters are columns beside those of a row, not the fields of one column. #}

{#
  Computes the estimates before the parameters, which name them many times: PostgreSQL would write out the estimate of a beta distribution
  10,000 times.
#}
{% macro postgres__with_packed_parameters(query, packed) -%}
{{ query }}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{# To follow a relation: a join that adds the packed parameters as columns of `parameters`. #}
{% macro postgres__unpacked_parameters(packed) %}

CROSS JOIN LATERAL (
  SELECT
    {{ packed | indent(4) }}
  OFFSET 0
) AS parameters
{%- endmacro %}
