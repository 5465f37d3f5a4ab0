{# PostgreSQL's forms of leave-one-out: the parameters are columns beside those of a row, not the fields of one column. #}

{#
  Computes the estimates before the parameters, which name them many times: PostgreSQL would write out the estimate of a beta distribution
  10,000 times.
#}
{% macro postgres__with_packed_parameters(query, packed) -%}
{{ query }}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{% macro postgres__packed_parameter(name, expression) -%}
{{ expression }} AS {{ name }}
{%- endmacro %}

{# To follow a relation: a join that adds the packed parameters as columns of `parameters`. #}
{% macro postgres__unpacked_parameters(packed) %}

CROSS JOIN LATERAL (
  SELECT
    {{ packed | indent(4) }}
  OFFSET 0
) AS parameters
{%- endmacro %}

{# The value of a row as text, as the cells have it: a level, or true or false for a Boolean. #}
{% macro postgres__left_out_value(feature, relation) -%}
{% if feature.family.level -%}
{{ nbsql[feature.family.name ~ '_value'](feature, relation) }}
{%- else -%}
{% set x %}CAST({{ relation }}.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
CASE
    WHEN {{ x }} IN ('true', '1') THEN 'true'
    WHEN {{ x }} IN ('false', '0') THEN 'false'
    ELSE CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END
  END
{%- endif %}
{%- endmacro %}
