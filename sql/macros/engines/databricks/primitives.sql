{# Databricks' own forms. A macro databricks__name takes the place of the macro `name`. #}

{% macro databricks__string() -%} STRING {%- endmacro %}
