{#
  The edges of bins that tell the classes apart, a row an edge (Fayyad and Irani 1993). A set S of N rows of k classes is cut in two,
  S1 and S2, where the entropy of the class that is left is least, at the lowest such place, if the minimum description length
  principle accepts the cut:

    Ent(S) - (N1 Ent(S1) + N2 Ent(S2)) / N  >  (log2(N - 1) + log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N

  and so on with both parts. The edge is halfway between the values on its sides.

  A row of `parts` is a value and a class in a part, which is named by its lower end. All parts are cut at once.
#}
{% macro binned_mdl(model, source, feature) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
{% set cost %}CASE WHEN right_n > 1e-9 * total THEN round((left_bits + right_bits) / total, 10) END{% endset -%}
WITH RECURSIVE parts AS (
  SELECT
    -{{ nbsql.infinity() }} AS part,
    {{ nbsql.finite(x) }} AS x,
    {{ nbsql.target(model) }} AS class,
    CAST({{ nbsql.size(model) }} AS {{ nbsql.double() }}) AS n,
    CAST(NULL AS {{ nbsql.double() }}) AS edge
  FROM {{ source }} AS source
  WHERE {{ nbsql.counted(model) }} AND {{ nbsql.finite(x) }} IS NOT NULL
  GROUP BY {{ nbsql.finite(x) }}, {{ nbsql.target(model) }}
  UNION ALL
  SELECT CASE WHEN x >= edge THEN edge ELSE part END, x, class, n, edge
  FROM (
    SELECT part, x, class, n, CASE WHEN best / 2 + following / 2 > best THEN best / 2 + following / 2 ELSE following END AS edge
    FROM (
      SELECT
        *,
        min(CASE WHEN x > best THEN x END) OVER (PARTITION BY part) AS following,
        bool_or(x = best AND bits - left_bits - right_bits > log2(total - 1) + log2(power(3, k) - 2)
          - k * bits / total + left_k * left_bits / left_n + right_k * right_bits / right_n) OVER (PARTITION BY part) AS accepted
      FROM (
        SELECT *, min(CASE WHEN {{ cost }} = least THEN x END) OVER (PARTITION BY part) AS best
        FROM (
          SELECT *, min({{ cost }}) OVER (PARTITION BY part) AS least
          FROM (
            {{ nbsql.mdl_sides(nbsql.word('parts')) | indent(12) }}
          ) AS sides
        ) AS costs
      ) AS candidates
    ) AS cuts
    WHERE accepted
  ) AS edges
)
SELECT DISTINCT edge FROM parts WHERE edge IS NOT NULL ORDER BY edge
{%- endmacro %}

{#
  A row a value and class, with the two sides of a cut after the value: how many rows and classes they have, and their bits, N Ent(S).
  With f(n) = n log2(n) these are f(N) minus the sum of f(n_c) over the classes, which changes from value to value by those of the
  classes that the value has, so that it is a running sum.
#}
{% macro mdl_sides(parts) -%}
SELECT
  *,
  {{ nbsql.n_bits(nbsql.word('total')) }} - whole_f AS bits,
  {{ nbsql.n_bits(nbsql.word('left_n')) }} - left_f AS left_bits,
  {{ nbsql.n_bits(nbsql.word('right_n')) }} - (whole_f + right_f) AS right_bits
FROM (
  SELECT
    part,
    x,
    class,
    n,
    sum(n) OVER part_of AS total,
    sum(n) OVER so_far AS left_n,
    sum(n) OVER part_of - sum(n) OVER so_far AS right_n,
    sum(CASE WHEN is_first THEN 1 ELSE 0 END) OVER part_of AS k,
    sum(CASE WHEN is_first THEN 1 ELSE 0 END) OVER so_far AS left_k,
    sum(CASE WHEN is_last THEN 1 ELSE 0 END) OVER part_of - sum(CASE WHEN is_last THEN 1 ELSE 0 END) OVER so_far AS right_k,
    sum(CASE WHEN is_first THEN {{ nbsql.n_bits(nbsql.word('of_class')) }} ELSE 0 END) OVER part_of AS whole_f,
    sum({{ nbsql.n_bits(nbsql.word('up_to')) }} - {{ nbsql.n_bits(nbsql.word('up_to') ~ ' - n') }}) OVER so_far AS left_f,
    sum({{ nbsql.n_bits(nbsql.word('of_class') ~ ' - up_to') }} - {{ nbsql.n_bits(nbsql.word('of_class') ~ ' - up_to + n') }}) OVER so_far AS right_f
  FROM (
    SELECT
      part,
      x,
      class,
      n,
      sum(n) OVER (PARTITION BY part, class) AS of_class,
      sum(n) OVER (PARTITION BY part, class ORDER BY x) AS up_to,
      lag(x) OVER (PARTITION BY part, class ORDER BY x) IS NULL AS is_first,
      lead(x) OVER (PARTITION BY part, class ORDER BY x) IS NULL AS is_last
    FROM {{ parts }} AS parts
  ) AS counts
  WINDOW part_of AS (PARTITION BY part), so_far AS (PARTITION BY part ORDER BY x)
) AS sums
{%- endmacro %}

{# n log2(n), and 0 for what rounding leaves of no row. #}
{% macro n_bits(n) -%}
CASE WHEN {{ n }} > 1e-9 THEN ({{ n }}) * log2({{ n }}) ELSE 0 END
{%- endmacro %}
