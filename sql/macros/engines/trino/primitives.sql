{# Where Trino writes otherwise. A macro trino__name takes the place of the macro `name`. #}

{% macro trino__infinity() -%} infinity() {%- endmacro %}
