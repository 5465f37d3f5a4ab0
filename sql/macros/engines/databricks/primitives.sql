{# Databricks' own forms. A macro databricks__name takes the place of the macro `name`. #}

{% macro databricks__string() -%} STRING {%- endmacro %}

{% macro databricks__number_of_weekday(x) -%} weekday({{ x }}) + 1 {%- endmacro %}

{# Of a TIMESTAMP, which is cast in the session's time zone. #}
{% macro databricks__in_time_zone(x, zone) -%}
convert_timezone(current_timezone(), {{ nbsql.text(zone) }}, CAST({{ x }} AS TIMESTAMP_NTZ))
{%- endmacro %}
