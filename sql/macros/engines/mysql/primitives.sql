{# MySQL's own forms (8.0.19 and later). A macro mysql__name takes the place of the macro `name`. #}

{% macro mysql__string() -%} CHAR {%- endmacro %}

{# MySQL has no infinity. #}
{% macro mysql__infinity() -%} CAST(NULL AS DOUBLE) {%- endmacro %}

{# With MySQL's default settings the case and the accents of letters do not count in a comparison. #}
{% macro mysql__exact(x, kind) -%}
{% if kind == 'text' %}CONVERT({{ x }} USING utf8mb4) COLLATE utf8mb4_0900_bin{% else %}{{ x }}{% endif %}
{%- endmacro %}

{% macro mysql__exact_literal(x, kind) -%}
{{ nbsql.exact(x, kind) }}
{%- endmacro %}

{% macro mysql__row_keyword() -%} ROW {%- endmacro %}

{% macro mysql__number_of_weekday(x) -%} WEEKDAY({{ x }}) + 1 {%- endmacro %}

{# A TIMESTAMP is shown in the session's time zone. The names of zones may not be loaded, so that only UTC is known. #}
{% macro mysql__in_time_zone(x, zone) -%} CONVERT_TZ({{ x }}, @@session.time_zone, '+00:00') {%- endmacro %}
