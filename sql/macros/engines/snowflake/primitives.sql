{# Snowflake's own forms. A macro snowflake__name takes the place of the macro `name`. #}

{% macro snowflake__infinity() -%} CAST('inf' AS {{ nbsql.double() }}) {%- endmacro %}
