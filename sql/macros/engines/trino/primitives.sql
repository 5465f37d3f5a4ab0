{# Trino's own forms. A macro trino__name takes the place of the macro `name`. #}

{% macro trino__infinity() -%} infinity() {%- endmacro %}

{% macro trino__number_of_weekday(x) -%} day_of_week({{ x }}) {%- endmacro %}
