{# Spark's forms of the distances of covariance matrices (covariance_distance.sql): the two compared matrices are structs in one row. #}

{#
  One row, for two classes by name, in the order of their names: structs of n, means, covariance, whites, and log_determinant, which is
  NULL without an inverse.
#}
{% macro matrices_of_two_classes(feature, names) -%}
{% set p = feature.columns | length -%}
{% set left %}forall({{ nbsql.index_range(p) }}, j -> matrix[j][j] > 1e-10 AND deviations[j] > 0){% endset -%}
{% set log_determinant %}CASE WHEN {{ left }} THEN {{ nbsql.log_determinant(p) }} END{% endset -%}
SELECT
  {% for name in names %}
  any_value(of_class) FILTER (WHERE class = {{ nbsql.text(name) }}) AS of_{{ nbsql.word(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  SELECT class, struct(n, means, covariance, {{ nbsql.whitening(p) }} AS whites, {{ log_determinant }} AS log_determinant) AS of_class
  FROM (
    {{ nbsql.matrices(feature) | indent(4) }}
  ) AS matrices
) AS matrices
{%- endmacro %}

{# The trace of the inverse of one matrix times the other; NULL without an inverse. #}
{% macro trace_of_product(p, one, other) -%}
{% set up_to %}sequence(0, j){% endset -%}
{% set each %}{{ one }}.whites[j][l] * {{ other }}.covariance[i][l]{% endset -%}
{% set row %}{{ one }}.whites[j][i] * {{ nbsql.sum_over_indexes(up_to, 'l', each) }}{% endset -%}
{% set trace = nbsql.sum_over_indexes(nbsql.index_range(p), 'j', nbsql.sum_over_indexes(up_to, 'i', row)) -%}
CASE WHEN {{ one }}.log_determinant IS NOT NULL THEN {{ trace }} END
{%- endmacro %}

{#
  At most one row: feature, psi and kl of the two normal distributions, and of the column that has moved most value, a and b (its means).
#}
{% macro spark__multivariate_drift(feature) -%}
{% set p = feature.columns | length -%}
{% set a, b = nbsql.word('a'), nbsql.word('b') -%}
{% set of_a, of_b = nbsql.word('of_a'), nbsql.word('of_b') -%}
SELECT *
FROM (
  WITH classes AS (
    SELECT explode(array('a', 'b')) AS class
  ),
  comoments AS (
    {% for side in ['a', 'b'] %}
    SELECT {{ nbsql.text(side) }} AS class, * FROM (
      {{ nbsql.pooled_moments(nbsql.comoments_of(nbsql.word(side), [feature]), ['feature', 'value']) | indent(6) }}
    ) AS side_{{ loop.index }}
    {%+ if not loop.last %}UNION ALL{%+ endif %}

    {% endfor %}
  )
  SELECT
    {{ nbsql.text(feature.name) }} AS feature,
    max(from_a + from_b) AS psi,
    max(from_a) AS kl,
    {{ nbsql.value_at_maximum(nbsql.word('value'), nbsql.word('moved'), nbsql.word('value')) }} AS value,
    {{ nbsql.value_at_maximum(a, nbsql.word('moved'), nbsql.word('value')) }} AS a,
    {{ nbsql.value_at_maximum(b, nbsql.word('moved'), nbsql.word('value')) }} AS b
  FROM (
    SELECT *, coalesce({{ nbsql.normal_divergence(a, b) }} + {{ nbsql.normal_divergence(b, a) }}, abs(b - a)) AS moved
    FROM (
      SELECT
        {% for old, new in [(of_a, of_b), (of_b, of_a)] %}
        {% set gap %}{{ old }}.whites[j][i] * (of_b.means[i] - of_a.means[i]){% endset %}
        {% set up_to %}sequence(0, j){% endset %}
        {% set moved %}transform({{ nbsql.index_range(p) }}, j -> {{ nbsql.sum_over_indexes(up_to, 'i', gap) }}){% endset %}
        0.5 * (
          {{ nbsql.trace_of_product(p, old, new) | indent(10) }} + {{ nbsql.sum_of_squares(moved) }} - {{ p }}
          + {{ old }}.log_determinant - {{ new }}.log_determinant
        ) AS from_{% if loop.first %}a{% else %}b{% endif %},
        {% endfor %}
        inline(transform({{ nbsql.index_range(p) }}, j -> struct(
          {{ nbsql.pair_values(feature) }}[{{ nbsql.pair_place(p, nbsql.word('j'), nbsql.word('j')) }}] AS value,
          of_a.means[j] AS a,
          of_b.means[j] AS b,
          of_a.covariance[j][j] AS variance_a,
          of_b.covariance[j][j] AS variance_b
        )))
      FROM (
        {{ nbsql.matrices_of_two_classes(feature, ['a', 'b']) | indent(8) }}
      ) AS beside
      WHERE of_a.n > 0 AND of_b.n > 0
    ) AS columns_of
  ) AS columns_of
) AS drift{{ feature.index }}
WHERE value IS NOT NULL
{%- endmacro %}

{#
  At most one row: feature, n, mutual_information (of the class and the normal distribution, at most the entropy of the class),
  symmetrical_uncertainty (NULL), chi_square, f_statistic (NULL).
#}
{% macro spark__multivariate_relevance(feature) -%}
{% set p = feature.columns | length -%}
SELECT *
FROM (
  WITH of_class AS (
    {{ nbsql.pooled_moments(nbsql.comoments_of(nbsql.word('cells'), [feature]), ['class', 'feature', 'value']) | indent(4) }}
  ),
  classes AS (
    SELECT explode(array('total', 'within')) AS class
  ),
  comoments AS (
    SELECT 'total' AS class, * FROM (
      {{ nbsql.pooled_moments(nbsql.word('of_class'), ['feature', 'value']) | indent(6) }}
    ) AS total
    UNION ALL
    SELECT 'within', feature, value, sum(n), max(mean), sum(m2) FROM of_class GROUP BY feature, value
  ),
  sizes AS (
    SELECT sum(n) AS n, -sum(n * ln(n / total)) / sum(n) AS entropy
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
    sizes.n * ({{ p }} - {{ nbsql.trace_of_product(p, nbsql.word('of_total'), nbsql.word('of_within')) | indent(4) }}) AS chi_square,
    CAST(NULL AS {{ nbsql.double() }}) AS f_statistic
  FROM sizes
  CROSS JOIN (
    {{ nbsql.matrices_of_two_classes(feature, ['total', 'within']) | indent(4) }}
  ) AS beside
) AS relevance{{ feature.index }}
WHERE n IS NOT NULL
{%- endmacro %}
