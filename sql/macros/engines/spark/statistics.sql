{# Where counting differs: a map has its values in an array. #}

{% macro spark__breaks_negative_counts(column) -%}
coalesce(array_min(map_values(source.{{ nbsql.ident(column) }})) < 0, FALSE)
{%- endmacro %}
