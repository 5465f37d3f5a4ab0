{# PostgreSQL's forms of k-means: the hash differs, and a number beyond the range of its type, or below it, is an error. #}

{% macro postgres__weighted_squared_difference(difference, weight) -%}
{% set z %}({{ difference }} * sqrt({{ weight }})){% endset -%}
{{ nbsql.square_of_whitened(z) }}
{%- endmacro %}
