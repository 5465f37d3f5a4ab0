{# Where leave-one-out differs: parameters are beside a row, not in a column of it. #}

{# The estimates are computed before the parameters, which name them often: a beta's would be written out 10,000 times. #}
{% macro postgres__with_packed_parameters(query, packed) -%}
{{ query }}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{% macro postgres__packed_parameter(name, expression) -%}
{{ expression }} AS {{ name }}
{%- endmacro %}

{# After a relation, a join that adds the parameters that were packed as columns of `parameters`. #}
{% macro postgres__unpacked_parameters(packed) %}

CROSS JOIN LATERAL (
  SELECT
    {{ packed | indent(4) }}
  OFFSET 0
) AS parameters
{%- endmacro %}

{# The value of a row as the text that the cells have it in: a level, or of a yes or no true or false. #}
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
