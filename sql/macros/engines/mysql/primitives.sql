{# Where MySQL (8.0.19 and later) writes otherwise. A macro mysql__name takes the place of the macro `name`. #}

{% macro mysql__string() -%} CHAR {%- endmacro %}

{# There is none. #}
{% macro mysql__infinity() -%} CAST(NULL AS DOUBLE) {%- endmacro %}

{# As it is set up, the case of a letter and its accents count for nothing. #}
{% macro mysql__exact(x, kind) -%}
{% if kind == 'text' %}CONVERT({{ x }} USING utf8mb4) COLLATE utf8mb4_0900_bin{% else %}{{ x }}{% endif %}
{%- endmacro %}

{% macro mysql__exact_literal(x, kind) -%}
{{ nbsql.exact(x, kind) }}
{%- endmacro %}

{% macro mysql__row_keyword() -%} ROW {%- endmacro %}
