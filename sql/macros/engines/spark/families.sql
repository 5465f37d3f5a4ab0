{# Spark's forms of the families that look at the data before they count it. #}

{# Of a timestamp, the time of UTC: the microseconds since 1970 as a time without a zone. #}
{% macro spark__time_as_text(x, type) -%}
{% if type == 'timestamp' -%}
{% set seconds %}CAST(CAST(unix_micros(CAST({{ x }} AS TIMESTAMP)) AS DECIMAL(24, 0)) / 1000000 AS DECIMAL(18, 6)){% endset -%}
CAST(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, {{ seconds }}) AS {{ nbsql.string() }})
{%- elif type == 'date' -%}
{% set day %}CAST({{ x }} AS DATE){% endset -%}
CASE
  WHEN CAST({{ x }} AS TIMESTAMP_NTZ) = CAST({{ day }} AS TIMESTAMP_NTZ) THEN CAST({{ day }} AS {{ nbsql.string() }})
  ELSE CAST({{ x }} AS {{ nbsql.string() }})
END
{%- elif type == 'timestamp_ntz' %}CAST(CAST({{ x }} AS TIMESTAMP_NTZ) AS {{ nbsql.string() }})
{%- else %}CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}
{%- endmacro %}
