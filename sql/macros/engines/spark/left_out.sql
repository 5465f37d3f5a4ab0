{# Spark's forms of leave-one-out: the parameters are the fields of a struct. #}

{% macro spark__pack_function() -%} struct {%- endmacro %}

{% macro spark__packed_parameter(name, expression) -%}
{{ expression }} AS {{ name }}
{%- endmacro %}
