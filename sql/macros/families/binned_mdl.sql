{#
  Bin edges that separate the classes, one row per edge (Fayyad and Irani 1993). A set S of N rows of k classes is cut in two, S1 and S2,
  where the remaining entropy of the class is smallest, at the lowest such place, if the minimum description length principle accepts the
  cut:

    Ent(S) - (N1 Ent(S1) + N2 Ent(S2)) / N  >  (log2(N - 1) + log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N

  Both parts are then cut in the same way. The edge is halfway between the values on its two sides.

  Every value may be a cut of a feature with up to 1,000 different ones. With more, neighbours are first put together in some 256 bins of as
  many rows each, and only these are told apart. A value of as many rows as such a bin is a bin of its own.

  A row of `parts` is a value, or a bin of values, and class in a part. A part is named by the value below it, where the last cut was made.
  Columns: feature (its index), part, x (the largest value of the bin), least (the smallest), class, n, up_to, all_up_to, cut. Each step
  cuts all parts of all features at once and drops the parts that were not cut. It is made from the step before, in one query if the engine
  lets a query read itself more than once, else in tables (nbsql/learning/prepare.py). up_to and all_up_to count the rows up to the value,
  of the class and of all classes, once for all parts.
#}

{#
  All steps in one recursive query. Its rows are those of every step. The bins are found from one row in `share`, as counts_in_histograms
  says.
#}
{% macro binned_mdl(model, source, features, share=1, is_varied=false) -%}
WITH RECURSIVE parts AS (
  {{ nbsql.mdl_parts(model, source, features, share, is_varied) | indent(2) }}
  UNION ALL
  {{ nbsql.mdl_step(nbsql.word('parts')) | indent(2) }}
)
{{ nbsql.mdl_edges(nbsql.word('parts')) }}
{% if features[0].family.by == 'mdl and quantile' %}
UNION
{{ nbsql.quantile_edges(nbsql.word('parts'), features[0].family.bins) }}
{% endif %}
ORDER BY feature ASC NULLS LAST, edge ASC NULLS LAST
{%- endmacro %}

{# The first step, in which all rows are one part. #}
{% macro mdl_parts(model, source, features, share=1, is_varied=false) -%}
SELECT
  feature,
  -{{ nbsql.infinity() }} AS part,
  x,
  least,
  class,
  n,
  sum(n) OVER (PARTITION BY feature, class ORDER BY x ASC NULLS LAST) AS up_to,
  sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS all_up_to,
  CAST(NULL AS {{ nbsql.double() }}) AS cut
FROM (
  {% if share > 1 %}
  {{ nbsql.counts_in_histograms(model, source, features, share, is_varied) | indent(2) }}
  {% else %}
  {{ nbsql.mdl_counts(model, source, features) | indent(2) }}
  {% endif %}
) AS counts
{%- endmacro %}

{# One row per bin and class: feature, x, least, class, n. Bins of several values have numbers below 0. #}
{% macro mdl_counts(model, source, features) -%}
SELECT
  feature,
  max(most) OVER (PARTITION BY feature, bin) AS x,
  min(least) OVER (PARTITION BY feature, bin) AS least,
  class,
  n
FROM (
  SELECT feature, bin, class, sum(n) AS n, max(x) AS most, min(x) AS least
  FROM (
    SELECT
      feature,
      CASE
        WHEN of_value * 256 >= total OR max(place) OVER (PARTITION BY feature) <= 1000 THEN place
        ELSE -1 - floor((up_to - of_value) * 256 / total + 1e-9)
      END AS bin,
      class,
      x,
      n
    FROM (
      SELECT
        feature,
        class,
        x,
        n,
        dense_rank() OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS place,
        sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS up_to,
        sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS of_value,
        sum(n) OVER (PARTITION BY feature) AS total
      FROM (
        SELECT feature, x, class, CAST(sum(weight) AS {{ nbsql.double() }}) AS n
        FROM {{ nbsql.subquery(nbsql.numbers_of_features(model, source, features)) | indent(8) }} AS numbers
        WHERE x IS NOT NULL
        GROUP BY feature, x, class
      ) AS counts
    ) AS places
  ) AS bins
  GROUP BY feature, bin, class
) AS bins
{%- endmacro %}

{# The next step. cut is the value after which the part was cut. #}
{% macro mdl_step(parts) -%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('cuts')) }}
  parts.feature,
  CASE WHEN parts.x > cuts.cut THEN cuts.cut ELSE parts.part END AS part,
  parts.x,
  parts.least,
  parts.class,
  parts.n,
  parts.up_to,
  parts.all_up_to,
  cuts.cut
FROM {{ parts }} AS parts
JOIN {{ nbsql.subquery(nbsql.mdl_cuts(parts)) }} AS cuts ON cuts.feature = parts.feature AND cuts.part = parts.part
{%- endmacro %}

{# The edges of one step or of all steps: feature, edge. #}
{% macro mdl_edges(parts) -%}
SELECT feature, {{ nbsql.edge_between(nbsql.word('cut'), nbsql.word('following')) }} AS edge
FROM (
  SELECT feature, cut, min(least) AS following FROM {{ parts }} AS parts WHERE x > cut GROUP BY feature, cut
) AS neighbours
{%- endmacro %}

{#
  Edges between bins of about as many rows each, from the first step: feature, edge. There is one after the first value, or bin of values,
  up to which i / bins of the rows are, for i = 1, 2, ..., unless it is the last. There are fewer bins if a bin would have less than 25 rows
  for each class, whose likelihoods would be noise.
#}
{% macro quantile_edges(parts, bins) -%}
{% set place %}floor(up_to * bins / total + 1e-9){% endset -%}
SELECT feature, {{ nbsql.edge_between(nbsql.word('x'), nbsql.word('following')) }} AS edge
FROM (
  SELECT
    feature,
    x,
    {{ place }} AS place,
    lag({{ place }}, 1, 0) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS place_before,
    lead(least) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS following
  FROM (
    SELECT feature, x, least, up_to, total, least({{ bins }}, floor(total / (25 * classes))) AS bins
    FROM (
      SELECT feature, x, least, max(all_up_to) AS up_to, max(max(all_up_to)) OVER (PARTITION BY feature) AS total
      FROM {{ parts }} AS parts
      WHERE cut IS NULL
      GROUP BY feature, x, least
    ) AS counts
    CROSS JOIN (SELECT count(DISTINCT class) AS classes FROM {{ parts }} AS parts WHERE cut IS NULL) AS of_classes
  ) AS counts
) AS places
WHERE place > place_before AND following IS NOT NULL
{%- endmacro %}

{# Halfway between two values or, if that is not above the lower one, at the upper one. #}
{% macro edge_between(low, high) -%}
CASE WHEN {{ low }} / 2 + {{ high }} / 2 > {{ low }} THEN {{ low }} / 2 + {{ high }} / 2 ELSE {{ high }} END
{%- endmacro %}

{#
  One row per part that is to be cut: feature, part, cut (the value to cut after). The principle is applied to the best cut of a part only.
#}
{% macro mdl_cuts(parts) -%}
{% set bits %}bits / total{% endset -%}
{% set cost %}{{ nbsql.round_to_ten_places(bits) }}, x{% endset -%}
{% set others %}greatest(sum(of_class) - 1, 1){% endset -%}
{% set ways %}power(3, count(*)) - 2{% endset -%}
{% set place = nbsql.element(nbsql.word('best.place'), 2) -%}
{% set bits_of_all = nbsql.mdl_bits(nbsql.word('of_class')) -%}
{% set bits_of_left = nbsql.mdl_bits(nbsql.word('left_n')) -%}
{% set bits_of_right = nbsql.mdl_bits(nbsql.word('of_class') ~ ' - left_n') -%}
SELECT feature, part, max(cut) AS cut
FROM (
  SELECT
    best.feature,
    best.part,
    {{ place }} AS cut,
    sum(parts.n) AS of_class,
    sum(CASE WHEN parts.x <= {{ place }} THEN parts.n ELSE 0 END) AS left_n,
    max(parts.x) > {{ place }} AS is_right
  FROM {{ parts }} AS parts
  JOIN (
    SELECT feature, part, min({{ nbsql.list_of(cost, nbsql.double()) }}) AS place
    FROM {{ nbsql.subquery(nbsql.mdl_sides(parts)) | indent(4) }} AS sides
    WHERE right_n > least(1e-9 * total, 0.5)
    GROUP BY feature, part
  ) AS best ON best.feature = parts.feature AND best.part = parts.part
  GROUP BY best.feature, best.part, {{ place }}, parts.class
) AS classes_of
GROUP BY feature, part
HAVING {{ bits_of_all }} - {{ bits_of_left }} - {{ bits_of_right }}
  > {{ nbsql.log2(others) }} + {{ nbsql.log2(ways) }} - count(*) * {{ bits_of_all }} / sum(of_class)
    + sum(CASE WHEN left_n > 0 THEN 1 ELSE 0 END) * {{ bits_of_left }} / sum(left_n)
    + sum(CASE WHEN is_right THEN 1 ELSE 0 END) * {{ bits_of_right }} / sum(of_class - left_n)
{%- endmacro %}

{# The bits of a set of rows, N Ent(S), from its class counts: with f(n) = n log2(n), f(N) minus the sum of f(n_c). #}
{% macro mdl_bits(n) -%} ({{ nbsql.n_bits('sum(' ~ n ~ ')') }} - sum({{ nbsql.n_bits(n) }})) {%- endmacro %}

{#
  One row per value and class: feature, part, x, total (the rows of the part), right_n (the rows above the value), and the bits of both
  sides of a cut after the value. From value to value these change by the f(n_c) of the classes at the value, so they are a running sum.
#}
{% macro mdl_sides(parts) -%}
{% set up_to, of_class = nbsql.word('up_to'), nbsql.word('of_class') -%}
{% set change_on_left %}{{ nbsql.n_bits(up_to) }} - {{ nbsql.n_bits(up_to ~ ' - n') }}{% endset -%}
{% set change_on_right %}{{ nbsql.n_bits(of_class ~ ' - up_to') }} - {{ nbsql.n_bits(of_class ~ ' - up_to + n') }}{% endset -%}
SELECT
  feature,
  part,
  x,
  total,
  right_n,
  {{ nbsql.n_bits(nbsql.word('total') ~ ' - right_n') }} + {{ nbsql.n_bits(nbsql.word('right_n')) }} - whole_f
    - sum({{ change_on_left }} + {{ change_on_right }}) OVER (PARTITION BY feature, part ORDER BY x ASC NULLS LAST) AS bits
FROM (
  SELECT
    parts.feature,
    parts.part,
    parts.x,
    parts.n,
    parts.up_to - totals.before AS up_to,
    totals.of_class,
    totals.total,
    totals.whole_f,
    totals.last_up_to - parts.all_up_to AS right_n
  FROM {{ parts }} AS parts
  JOIN (
    SELECT
      feature,
      part,
      class,
      of_class,
      before,
      sum(of_class) OVER (PARTITION BY feature, part) AS total,
      max(last_up_to) OVER (PARTITION BY feature, part) AS last_up_to,
      sum({{ nbsql.n_bits(nbsql.word('of_class')) }}) OVER (PARTITION BY feature, part) AS whole_f
    FROM (
      SELECT feature, part, class, sum(n) AS of_class, min(up_to - n) AS before, max(all_up_to) AS last_up_to
      FROM {{ parts }} AS parts
      GROUP BY feature, part, class
    ) AS classes_of
  ) AS totals ON totals.feature = parts.feature AND totals.part = parts.part AND totals.class = parts.class
) AS counts
{%- endmacro %}

{# n log2(n), and 0 for a remainder that is only rounding. #}
{% macro n_bits(n) -%} CASE WHEN {{ n }} > 1e-9 THEN ({{ n }}) * {{ nbsql.log2(n) }} ELSE 0 END {%- endmacro %}
