{# PostgreSQL's forms of k-means: the hash differs, and a number beyond the range of its type, or below it, is an error. #}

{% macro postgres__weighted_squared_difference(difference, weight) -%}
{% set z %}({{ difference }} * sqrt({{ weight }})){% endset -%}
{{ nbsql.square_of_whitened(z) }}
{%- endmacro %}

{% macro postgres__mixed_hash(values) -%}
(hashtextextended(CAST(ROW({{ values }}) AS {{ nbsql.string() }}), 0) & 9223372036854775807)
{%- endmacro %}

{% macro postgres__greatest_of_smallest(x, count) -%}
(array_agg(DISTINCT {{ x }} ORDER BY {{ x }} ASC NULLS LAST))[least({{ count }}, count(DISTINCT {{ x }}))]
{%- endmacro %}

{% macro postgres__round_to_seven_digits(x) -%}
CAST(least(greatest({{ x }}, 1e-30), 1e30) AS REAL)
{%- endmacro %}
