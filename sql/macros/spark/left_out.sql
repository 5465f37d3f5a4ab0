{# Where leave-one-out differs: parameters are the fields of a struct. #}

{% macro spark__pack() -%} struct {%- endmacro %}

{% macro spark__packed(name, expression) -%}
{{ expression }} AS {{ name }}
{%- endmacro %}
