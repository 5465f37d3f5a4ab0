{# MySQL's own forms (8.0.19 and later). A macro mysql__name takes the place of the macro `name`. #}

{# With MySQL's default settings the case and the accents of letters do not count in a comparison. #}
{% macro mysql__exact(x, kind) -%}
{% if kind == 'text' %}CONVERT({{ x }} USING utf8mb4) COLLATE utf8mb4_0900_bin{% else %}{{ x }}{% endif %}
{%- endmacro %}
