{# Where k-means and mixtures differ: the hash, and how the least of a class are found. #}

{# The sign is taken away, so that remainders are at least 0. #}
{% macro spark__mixed_hash(values) -%}
(xxhash64({{ values }}) & 9223372036854775807)
{%- endmacro %}

{# By their ranks: of so few, Spark keeps no others when it sorts. #}
{% macro spark__points_of_smallest_hashes(points, size) -%}
(
  SELECT *, dense_rank() OVER (PARTITION BY label ORDER BY hashed ASC NULLS LAST) AS nbsql_rank FROM {{ points }}
) AS points
WHERE points.nbsql_rank <= {{ size }}
{%- endmacro %}
