{# Where Snowflake writes otherwise. A macro snowflake__name takes the place of the macro `name`. #}

{% macro snowflake__infinity() -%} CAST('inf' AS {{ nbsql.double() }}) {%- endmacro %}
