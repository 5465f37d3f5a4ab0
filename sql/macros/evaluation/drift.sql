{#
  The distance between two parts of the learnt data, a and b, one row per feature, and one without a feature for the class:

    psi    the population stability index, the sum over values of (b - a) ln(b / a): Jeffreys' divergence of a and b
    kl     the Kullback-Leibler divergence of b from a, the sum of b ln(b / a), in nats
    value  the value that adds most to the psi (NULL: the missing ones), with its shares in a and b; for numbers the means in a and b

  Shares of values are (n + 1/2) / (N + K / 2), where K is the number of values of both, so that a value never seen in one has a share,
  too (Krichevsky and Trofimov 1981). Numbers are compared as the distributions of their family with their moments. Of columns that share
  a covariance matrix the one that has moved most stands for all, and is the value. A number whose zeros are counted apart is compared by
  whether it is 0 and, where it is not, by its value: KL = KL of the zeros + P(x <> 0 in b) KL of the others.
#}
{% macro default__drift(a, b, features) -%}
{% set together = features | selectattr('family.kind', 'equalto', 'matrix') | list -%}
{% set inflated = features | selectattr('family.zeros') | list -%}
{% set class %}CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
WITH {% for side, cells in [('a', a), ('b', b)] -%}
{{ nbsql.word(side) }} AS (
  SELECT feature, value, class, n, mean, m2 FROM {{ nbsql.subquery(nbsql.folded_cells(cells, side)) | indent(2) }} AS cells
),
{% endfor -%}
counts AS (
  SELECT feature, value, sum(a) AS a, sum(b) AS b
  FROM (
    {% for side in ['a', 'b'] %}
    {% set ns %}{% if side == 'a' %}n AS a, 0 AS b{% else %}0 AS a, n AS b{% endif %}{% endset %}
    SELECT feature, CASE WHEN feature IS NULL THEN {{ class }} ELSE value END AS value, {{ ns }}
    FROM {{ nbsql.word(side) }} AS cells
    WHERE mean IS NULL OR (value IS NOT NULL AND m2 IS NULL)
    {%- if inflated +%}
    UNION ALL
    SELECT feature, {{ nbsql.nonzero_value() }}, {{ ns }}
    FROM {{ nbsql.word(side) }} AS cells
    WHERE mean IS NOT NULL AND feature IN ({{ nbsql.feature_names(inflated) }})
    {%- endif %}
    {{- nbsql.union_all(loop) | indent(4) }}
    {%- endfor +%}
  ) AS both_sides
  GROUP BY feature, value
)
SELECT feature, psi, kl, value, a, b
FROM (
  {{ nbsql.divergences(features, nbsql.word('counts'), nbsql.word('a'), nbsql.word('b'), ['feature'], together) | indent(2) }}
) AS divergences
ORDER BY psi DESC NULLS LAST, feature ASC NULLS FIRST
{%- endmacro %}

{#
  The distance between two sides, one row per group of the keys, the last of which is the feature: the keys; psi; kl; value, a, b (the value
  or column that adds most to the psi, and its shares; of a number its means); n_a, n_b (the counts); by_chance, which for numbers is
  1 / n_a + 1 / n_b times the number of parameters of the distribution.

  counts: a relation of the keys, value, a, b. cells_a, cells_b: the cells of the sides; those of b have all keys that numbers have.
  together: features with a covariance matrix, whose columns are compared one by one. bounded: features of which the numbers outside of
  their distribution, a value of their counts, are compared apart.
#}
{% macro divergences(features, counts, cells_a, cells_b, keys, together=[], bounded=[]) -%}
{% set a, b = nbsql.word('a'), nbsql.word('b') -%}
{% set of_one = features | rejectattr('family.divergence', 'equalto', 'normal') | list -%}
{% set inflated = features | selectattr('family.zeros') | list + bounded -%}
{% set columns = ['value'] if together else [] -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% if inflated -%}
SELECT
  {{ by }},
  CASE WHEN count(psi) = count(*) THEN sum(psi) END AS psi,
  CASE WHEN count(kl) = count(*) THEN sum(kl) END AS kl,
  {% set moved %}{% if bounded %}CASE WHEN psi > 0 THEN value END{% else %}value{% endif %}{% endset %}
  max({{ moved }}) AS value, max(a) AS a, max(b) AS b,
  max(n_a) AS n_a, max(n_b) AS n_b, sum(by_chance) AS by_chance
FROM (
{% endif -%}
SELECT *
FROM {{ nbsql.subquery(nbsql.divergence_of_values(counts, keys)) }} AS of_values
{%- if features | rejectattr('family.has_lookups') | list +%}
UNION ALL
SELECT
  {{ by }},
  psi,
  kl,
  CASE WHEN psi IS NOT NULL THEN value END,
  {% for side in [a, b] %}
  {%+ if inflated %}CASE WHEN feature NOT IN ({{ nbsql.feature_names(inflated) }}) THEN {{ side }} END{% else %}{{ side }}{%+ endif %},
  {% endfor %}
  n_a,
  n_b,
  by_chance
FROM (
  SELECT
    moments.*,
    {% set of_a %}{% if inflated %}coalesce(share_a, 1) * {% endif %}{% endset %}
    {% set of_b %}{% if inflated %}coalesce(share_b, 1) * {% endif %}{% endset %}
    {% set psi %}{{ of_b }}{{ nbsql.divergence(a, b, features) }} + {{ of_a }}{{ nbsql.divergence(b, a, features) }}{% endset %}
    {{ psi | indent(4) }} AS psi,
    {{ of_b }}{{ nbsql.divergence(a, b, features) | indent(4) }} AS kl,
    {% set parameters %}CASE WHEN feature IN ({{ nbsql.feature_names(of_one) }}) THEN 1 ELSE 2 END{% endset %}
    {%+ if of_one %}{{ parameters }}{% else %}2{%+ endif %} * (1 / n_a + 1 / n_b) AS by_chance
    {%- if together %},
    row_number() OVER (PARTITION BY {{ by }} ORDER BY {{ psi | indent(4) }} DESC NULLS LAST, value DESC NULLS LAST) AS place
    {%- endif +%}
  FROM (
    SELECT
      {{ nbsql.listed_columns(b, keys) | indent(6) }}
      {%+ if together %}b.value{% else %}CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }}{%+ endif %} AS value,
      a.mean AS a,
      b.mean AS b,
      {{ nbsql.variance_of_side(a) }} AS variance_a,
      {{ nbsql.variance_of_side(b) }} AS variance_b,
      a.n AS n_a,
      b.n AS n_b
    FROM {{ nbsql.subquery(nbsql.pooled_moments(nbsql.cells_of_moments(cells_a, together), ['feature'] + columns)) | indent(4) }} AS a
    JOIN (
      {{ nbsql.pooled_moments(nbsql.cells_of_moments(cells_b, together), keys + columns) | indent(6) }}
    ) AS b ON b.feature = a.feature{% if together %} AND {{ nbsql.same_value(a, b) }}{% endif +%}
  ) AS moments
  {% if inflated %}
  LEFT JOIN {{ nbsql.subquery(nbsql.nonzero_shares(counts, inflated, keys)) | indent(2) }} AS shares USING ({{ by }})
  {% endif %}
) AS of_numbers
{%- if together +%}
WHERE place = 1
{%- endif %}
{%- endif %}
{%- if inflated +%}
) AS parts
GROUP BY {{ by }}
{%- endif %}
{%- endmacro %}

{# The cells of numbers, and for features with a covariance matrix those of the columns without the pairs. #}
{% macro cells_of_moments(cells, together) -%}
(
  SELECT * FROM {{ cells }} AS cells
  WHERE mean IS NOT NULL AND (value IS NULL
  {%- for feature in together %} OR (feature = {{ nbsql.text(feature.name) }} AND value IN (
    {%- for column in feature.columns %}{{ nbsql.text(column) }}{{ nbsql.comma(loop) }}{% endfor %}))
  {%- endfor %})
)
{%- endmacro %}

{#
  The distance between the counts of values on two sides, one row per group of the keys: the keys; psi; kl; value, a, b (the value that adds
  most to the psi, and its shares); n_a, n_b (the counts of the sides); and by_chance, the mean psi of two samples of one distribution:
  nearly (K - 1) (1 / n_a + 1 / n_b), as for Jeffreys' divergence (Kullback, Information Theory and Statistics, 1959, chapter 6; Yurdakul
  and Naranjo, Statistical properties of the population stability index, 2020).

  counts: a relation of the keys, value, a, b. Shares are those of the header above.
#}
{% macro divergence_of_values(counts, keys) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set n_a %}max(n_a){% endset -%}
{% set n_b %}max(n_b){% endset -%}
SELECT
  {{ by }},
  sum(moved) AS psi,
  sum(b * ln(b / a)) AS kl,
  {% for column in ['value', 'a', 'b'] %}
  max(CASE WHEN place = 1 THEN {{ nbsql.word(column) }} END) AS {{ nbsql.word(column) }},
  {% endfor %}
  max(n_a) AS n_a,
  max(n_b) AS n_b,
  (count(*) - 1) * (1 / {{ nbsql.null_if_zero(n_a) }} + 1 / {{ nbsql.null_if_zero(n_b) }}) AS by_chance
FROM (
  SELECT
    *,
    row_number() OVER (PARTITION BY {{ by }} ORDER BY moved DESC NULLS LAST, coalesce(value, '') DESC NULLS LAST) AS place
  FROM (
    SELECT *, (b - a) * ln(b / a) AS moved
    FROM (
      SELECT {{ by }}, value, n_a, n_b, (a + 0.5) / (n_a + 0.5 * k) AS a, (b + 0.5) / (n_b + 0.5 * k) AS b
      FROM (
        SELECT
          *,
          sum(a) OVER (PARTITION BY {{ by }}) AS n_a,
          sum(b) OVER (PARTITION BY {{ by }}) AS n_b,
          count(*) OVER (PARTITION BY {{ by }}) AS k
        FROM {{ counts }} AS counts
      ) AS sides
    ) AS shares
  ) AS parts
) AS ranked
GROUP BY {{ by }}
{%- endmacro %}

{# The variance from the moments of one side; NULL if it is so small that it is only the rounding of a constant. #}
{% macro variance_of_side(side) -%}
CASE WHEN {{ side }}.m2 / {{ side }}.n > 1e-20 * {{ side }}.mean * {{ side }}.mean THEN {{ side }}.m2 / {{ side }}.n END
{%- endmacro %}

{#
  The divergence of a number's distribution in `new` from that in `old`, by its family: normal, or of one parameter, which its mean
  determines. If one side has no variance, or no mean, there is none; if both have not, and are equal, it is 0.
#}
{% macro divergence(old, new, features) -%}
{% set others = features | rejectattr('family.divergence', 'equalto', 'normal') | list -%}
{% if others -%}
CASE
  {%- for feature in others %}
  {%- set divergence = nbsql[feature.family.divergence ~ '_divergence'](old, new) %} WHEN feature = {{ nbsql.text(feature.name) }}
    THEN CASE WHEN a > 0 AND b > 0 THEN {{ divergence }} WHEN a = b THEN 0 END
  {%- endfor %} ELSE {{ nbsql.normal_divergence(old, new) }} END
{%- else -%}
{{ nbsql.normal_divergence(old, new) }}
{%- endif %}
{%- endmacro %}

{# Of normal distributions: 0 for two equal constants, NULL for another number that does not vary. #}
{% macro normal_divergence(old, new) -%}
CASE WHEN variance_a > 0 AND variance_b > 0 THEN
    0.5 * (ln(variance_{{ old }} / variance_{{ new }}) + (variance_{{ new }} + (a - b) * (a - b)) / variance_{{ old }} - 1)
    WHEN variance_a IS NULL AND variance_b IS NULL AND abs(a - b) <= 1e-10 * abs(a) THEN 0
  END
{%- endmacro %}

{% macro poisson_divergence(old, new) -%} {{ new }} * ln({{ new }} / {{ old }}) - {{ new }} + {{ old }} {%- endmacro %}

{% macro exponential_divergence(old, new) -%} ln({{ old }} / {{ new }}) + {{ new }} / {{ old }} - 1 {%- endmacro %}

{# With mean m, the probability of success is 1 / (1 + m) and that of failure m / (1 + m). #}
{% macro geometric_divergence(old, new) -%}
ln((1 + {{ old }}) / (1 + {{ new }})) + {{ new }} * (ln({{ new }} / {{ old }}) + ln((1 + {{ old }}) / (1 + {{ new }})))
{%- endmacro %}
