{# Where leave-one-out differs: parameters are beside a row, not in a column of it. #}

{% macro postgres__packed_into(query, packed) -%}
{{ query }}
{%- endmacro %}

{% macro postgres__packed(name, expression) -%}
{{ expression }} AS {{ name }}
{%- endmacro %}

{% macro postgres__unpacked(packed) %}

CROSS JOIN LATERAL (
  SELECT
    {{ packed | indent(4) }}
  OFFSET 0
) AS parameters
{%- endmacro %}

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
