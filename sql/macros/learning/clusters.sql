{#
  Clusters by expectation-maximisation (Dempster, Laird and Rubin, Maximum likelihood from incomplete data via the EM algorithm, Journal of
  the Royal Statistical Society B 39, 1977). A step is that of rows without a class (em.sql); the queries here are its start and its end.
#}

{# The name of the cluster of a number, of as many digits as all have. #}
{% macro cluster_name(number, digits) -%}
'cluster_' || lpad(CAST({{ number }} AS {{ nbsql.string() }}), {{ digits }}, '0'){{ nbsql.binary() }}
{%- endmacro %}

{#
  One row per cluster at its start: class, its name; nbsql_number, the row by which it starts; total, the weight of all rows. The rows
  differ, and are the first in the order of a hash of their values and of `start`.
#}
{% macro first_rows_of_clusters(model, rows, columns, kinds, k, start) -%}
{% set number %}row_number() OVER (ORDER BY place ASC NULLS LAST, nbsql_number ASC NULLS LAST){% endset -%}
{% set place %}hash, {{ nbsql.text(start) }}{% endset -%}
SELECT
  {{ nbsql.cluster_name(number, k | string | length) }} AS class,
  nbsql_number,
  total
FROM (
  SELECT
    {{ nbsql.mixed_hash(place) }} AS place,
    min(nbsql_number) AS nbsql_number,
    sum(sum(weight)) OVER () AS total
  FROM (
    SELECT nbsql_number, {{ nbsql.row_weight(model) }} AS weight, {{ nbsql.hash_of(columns, kinds) }} AS hash
    FROM {{ rows }} AS source
  ) AS hashed
  GROUP BY hash
) AS different
ORDER BY place ASC NULLS LAST, nbsql_number ASC NULLS LAST
LIMIT {{ k }}
{%- endmacro %}

{#
  The rows that the start counts: every row in every cluster, so that these are half of the whole, and the first row of each cluster once
  more, with the other half of the weight. The columns are those of `posterior_weighted_rows` (em.sql).

  firsts: a table of first_rows_of_clusters. k: the number of clusters.
#}
{% macro rows_at_the_start(model, rows, firsts, columns, k) -%}
(
  SELECT
    {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(4) }}
    firsts.class AS {{ nbsql.ident(model.spec.target) }},
    ({{ nbsql.row_weight(model) }} + CASE WHEN firsts.nbsql_number = source.nbsql_number THEN firsts.total ELSE 0 END)
      / {{ nbsql.number(2 * k) }} AS nbsql_weight
  FROM {{ rows }} AS source
  JOIN {{ firsts }} AS firsts ON TRUE
)
{%- endmacro %}

{# The cells with the clusters numbered by their size, the largest first. #}
{% macro cells_by_size(cells, k) -%}
{% set size %}sum(n){% endset -%}
{% set number %}row_number() OVER (ORDER BY {{ nbsql.sort_key(size, 9) }} DESC NULLS LAST, class ASC NULLS LAST){% endset -%}
SELECT cells.slice, ranked.class, cells.feature, cells.value, cells.n, cells.mean, cells.m2, cells.batch
FROM {{ cells }} AS cells
JOIN (
  SELECT
    class AS former,
    {{ nbsql.cluster_name(number, k | string | length) }} AS class
  FROM {{ cells }} AS cells
  WHERE feature IS NULL
  GROUP BY class
) AS ranked ON ranked.former = cells.class
{%- endmacro %}
