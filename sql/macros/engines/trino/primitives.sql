{# Trino's own forms. A macro trino__name takes the place of the macro `name`. #}

{% macro trino__infinity() -%} infinity() {%- endmacro %}
