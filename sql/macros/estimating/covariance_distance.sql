{#
  How far classes are apart, from the covariance matrices of families/multivariate_gaussian.sql. The matrices are those of the rows
  themselves, neither shared nor shrunk (`plain`); covariance.sql inverts them. Where columns are linearly dependent there is no inverse,
  and therefore no distance.
#}

{#
  To follow the common table expressions `comoments` and `classes`, which they read: whites, and log_determinants(class,
  log_determinant), which lacks a class without an inverse.
#}
{% macro inverse_steps(feature) -%}
{% set p = feature.columns | length -%}
{% set left %}CASE WHEN matrix[j][j] > 1e-10 AND deviations[j] > 0 THEN 1 ELSE 0 END{% endset -%}
,
{{ nbsql.covariance_steps(feature) }},
log_determinants AS MATERIALIZED (
  SELECT
    class,
    {{ nbsql.log_determinant(p) }} AS log_determinant
  FROM whitened
  WHERE {{ nbsql.list_lowest(nbsql.list_mapped(nbsql.list_of_whole_numbers(1, p + 1), left, 'j')) }} = 1
),
whites AS MATERIALIZED (
  SELECT
    whitened.class,
    pairs.i,
    pairs.j,
    matrix[pairs.j][{{ p }} + pairs.i] / sqrt(matrix[pairs.j][pairs.j]) / nullif(deviations[pairs.i], 0) AS white
  FROM whitened
  JOIN log_determinants ON log_determinants.class = whitened.class
  CROSS JOIN pairs
)
{%- endmacro %}

{# The trace of the inverse of the covariance matrix of `one` times the covariance matrix of `other`. #}
{% macro trace_of(one, other) -%}
(
  SELECT sum(left_of.white * right_of.white * sides.covariance)
  FROM whites AS left_of
  JOIN whites AS right_of ON right_of.class = left_of.class AND right_of.j = left_of.j
  JOIN (
    SELECT class, i, j, covariance FROM covariances
    UNION ALL
    SELECT class, j, i, covariance FROM covariances WHERE i < j
  ) AS sides ON sides.class = {{ nbsql.text(other) }} AND sides.i = left_of.i AND sides.j = right_of.i
  WHERE left_of.class = {{ nbsql.text(one) }}
)
{%- endmacro %}

{# The queries of two classes and their cells, common table expressions: classes, and comoments(class, feature, value, n, mean, m2). #}
{% macro two_classes(names, queries) -%}
classes(class) AS (
  VALUES {% for name in names %}({{ nbsql.text(name) }}){{ nbsql.comma_blank(loop) }}{% endfor +%}
),
comoments AS (
  {% for name in names %}
  SELECT {{ nbsql.text(name) }} AS class, feature, value, n, mean, m2 FROM (
    {{ queries[loop.index0] | indent(4) }}
  ) AS side_{{ loop.index }}
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor +%}
)
{%- endmacro %}

{#
  For relevance.sql. One row: feature, n, mutual_information, symmetrical_uncertainty, chi_square, f_statistic. The classes have normal
  distributions with one covariance matrix: W is that within the classes, T that over all classes.

    mutual_information  -ln(L) / 2, with L = |W| / |T|, Wilks' lambda: 2 n times it is the likelihood-ratio statistic (Wilks, Certain
                        generalizations in the analysis of variance, Biometrika 24, 1932); at most the entropy of the class
    chi_square          n (p - tr(T^-1 W)), n times Pillai's trace (Pillai, Annals of Mathematical Statistics 26, 1955)

  For one column these equal the numbers that relevance.sql has for it. If a plane separates the classes, W has no inverse although T has
  one, and the mutual information is at its maximum.
#}
{% macro multivariate_relevance(feature) -%}
{% set within %}SELECT feature, value, sum(n) AS n, max(mean) AS mean, sum(m2) AS m2 FROM of_class GROUP BY feature, value{% endset -%}
{% set queries = [nbsql.pooled_moments(nbsql.word('of_class'), ['feature', 'value']), within] -%}
SELECT *
FROM (
  WITH RECURSIVE of_class AS (
    {{ nbsql.pooled_moments(nbsql.comoments_of(nbsql.word('cells'), [feature]), ['class', 'feature', 'value']) | indent(4) }}
  ),
  {{ nbsql.two_classes(['total', 'within'], queries) | indent(2) }}
  {{- nbsql.inverse_steps(feature) | indent(2) }},
  sizes AS (
    SELECT sum(n) AS n, -sum(n * ln(n / total)) / sum(n) AS entropy, count(*) AS classes
    FROM (
      SELECT n, sum(n) OVER () AS total FROM of_class WHERE value = {{ nbsql.text(feature.column) }}
    ) AS sizes
  )
  SELECT
    {{ nbsql.text(feature.name) }} AS feature,
    sizes.n,
    CASE WHEN of_total.log_determinant IS NOT NULL THEN
      least(greatest(coalesce((of_total.log_determinant - of_within.log_determinant) / 2, sizes.entropy), 0), sizes.entropy)
    END AS mutual_information,
    CAST(NULL AS {{ nbsql.double() }}) AS symmetrical_uncertainty,
    sizes.n * ({{ feature.columns | length }} - {{ nbsql.trace_of('total', 'within') | indent(4) }}) AS chi_square,
    CAST(NULL AS {{ nbsql.double() }}) AS f_statistic,
    {% set chance = nbsql.normal_chance(nbsql.word('sizes.classes'), nbsql.word('sizes.n')) %}
    CASE WHEN sizes.n > sizes.classes
      THEN least({{ feature.columns | length }} * {{ chance }}, sizes.entropy)
      ELSE sizes.entropy
    END AS by_chance
  FROM sizes
  LEFT JOIN log_determinants AS of_total ON of_total.class = 'total'
  LEFT JOIN log_determinants AS of_within ON of_within.class = 'within'
) AS relevance{{ feature.index }}
WHERE n IS NOT NULL
{%- endmacro %}

{# For relevance.sql. One row per column, as if it were a single number: feature, value, n, mutual_information, chi_square. #}
{% macro relevance_of_columns(feature) -%}
SELECT
  {{ nbsql.text(feature.name) }} AS feature,
  value,
  sum(n) AS n,
  least(greatest({{ nbsql.information_of_number([]) }}, 0), -sum(n * ln(n / total)) / sum(n)) AS mutual_information,
  CASE WHEN max(pooled_m2) > 0 THEN sum(n) * (1 - sum(m2) / max(pooled_m2)) END AS chi_square
FROM {{ nbsql.subquery(nbsql.pooled_moments(nbsql.comoments_of(nbsql.word('cells'), [feature]), ['class', 'value'])) }} AS of_class
JOIN (
  SELECT value, n AS total, m2 AS pooled_m2 FROM (
    {{ nbsql.pooled_moments(nbsql.comoments_of(nbsql.word('cells'), [feature]), ['value']) | indent(4) }}
  ) AS pooled
) AS pooled USING (value)
WHERE value IN ({% for column in feature.columns %}{{ nbsql.text(column) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
GROUP BY value
{%- endmacro %}
