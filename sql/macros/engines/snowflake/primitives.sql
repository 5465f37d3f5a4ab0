{# Snowflake's own forms. A macro snowflake__name takes the place of the macro `name`. #}

{% macro snowflake__infinity() -%} CAST('inf' AS {{ nbsql.double() }}) {%- endmacro %}

{% macro snowflake__number_of_weekday(x) -%} DAYOFWEEKISO({{ x }}) {%- endmacro %}

{% macro snowflake__in_time_zone(x, zone) -%} CONVERT_TIMEZONE({{ nbsql.text(zone) }}, {{ x }}) {%- endmacro %}
