{# Spark's form of counting: the values of a map are an array. #}

{% macro spark__breaks_negative_counts(column) -%}
coalesce(array_min(map_values(source.{{ nbsql.ident(column) }})) < 0, FALSE)
{%- endmacro %}
