{# Redshift's own forms. A macro redshift__name takes the place of the macro `name`. #}

{% macro redshift__double() -%} DOUBLE PRECISION {%- endmacro %}

{% macro redshift__string() -%} VARCHAR(65535) {%- endmacro %}

{# A result below the range of a double is an error. #}
{% macro redshift__square(x) -%}
CASE WHEN ABS({{ x }}) > {{ nbsql.number(1e-140) }} THEN {{ x }} * {{ x }} ELSE 0 END
{%- endmacro %}

{# Redshift cannot select from VALUES. #}
{% macro redshift__literal_rows(kind, keys, scores) -%}
{{ nbsql.literal_union(kind, keys, scores) }}
{%- endmacro %}

{% macro redshift__number_of_weekday(x) -%} MOD(CAST(EXTRACT(dow FROM {{ x }}) AS INTEGER) + 6, 7) + 1 {%- endmacro %}
