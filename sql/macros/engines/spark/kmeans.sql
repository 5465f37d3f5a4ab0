{# Spark's forms of k-means and mixtures: the hash, and the search for the smallest values of a class. #}

{# Selects by rank. For a small limit on the rank, Spark drops the other rows while it sorts. #}
{% macro spark__points_of_smallest_hashes(points, size) -%}
(
  SELECT *, dense_rank() OVER (PARTITION BY label ORDER BY hashed ASC NULLS LAST) AS nbsql_rank FROM {{ points }}
) AS points
WHERE points.nbsql_rank <= {{ size }}
{%- endmacro %}
