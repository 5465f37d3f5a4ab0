{#
  Covariance matrices and their inverses, from the cells of families/multivariate_gaussian.sql.

  Let R be the correlations. Gaussian elimination of [R I] gives R = L D L' as [D L', L^-1]. It needs no pivoting, because R is positive
  definite (Golub and Van Loan, Matrix Computations, section 4.2). ln |R| is the sum of ln d, and with W = D^-1/2 L^-1 the inverse is W'W.
  d_k is the share of the variance of column k that the columns before it leave unexplained. If it is zero, row k of L^-1 names the
  columns that determine column k.
#}

{# The co-moment cells, pooled over all batches and slices: class, feature, value, n, mean, m2. #}
{% macro comoments_of(statistics, features) -%}
(SELECT * FROM {{ statistics }} AS statistics WHERE feature IN ({{ nbsql.feature_names(features) }}))
{%- endmacro %}

{#
  Common table expressions of one feature, from `comoments` and `classes`:

    centres(class, n, means)           the lists of the column means; of a class without rows, those over all classes
    covariances(class, i, j, value, covariance)   i <= j; shared: one matrix, without a class
    eliminated(class, k, matrix)       [R I] after elimination of k columns less one
    whitened(class, rows, deviations)  the last of these matrices
#}
{% macro covariance_steps(feature) -%}
{% set family = feature.family -%}
{% set p = feature.columns | length -%}
{% set lost = 1 if family.variance == 'sample' else 0 -%}
{% set s = nbsql.number(family.fixed_shrinkage) -%}
{% set t = nbsql.number(family.pooled_shrinkage) -%}
pairs AS MATERIALIZED {{ nbsql.subquery(nbsql.column_pairs(feature)) }},
entries AS MATERIALIZED (
  SELECT comoments.class, pairs.*, comoments.n, comoments.mean, comoments.m2
  FROM comoments
  JOIN pairs ON pairs.value = comoments.value
  WHERE comoments.feature = {{ nbsql.text(feature.name) }}
),
centres_of_classes AS (
  SELECT class, max(n) AS n, {{ nbsql.ordered_list(nbsql.word('mean'), nbsql.word('i')) }} AS means FROM entries WHERE i = j GROUP BY class
),
pooled_centre AS (
  SELECT {{ nbsql.ordered_list(nbsql.word('mean'), nbsql.word('i')) }} AS means
  FROM (
    SELECT i, CASE WHEN min(mean) = max(mean) THEN min(mean) ELSE sum(n * mean) / sum(n) END AS mean FROM entries WHERE i = j GROUP BY i
  ) AS means
),
centres AS (
  SELECT classes.class, coalesce(centres_of_classes.means, pooled_centre.means) AS means
  FROM classes
  JOIN pooled_centre ON TRUE
  LEFT JOIN centres_of_classes ON centres_of_classes.class = classes.class
),
of_classes AS (
  SELECT
    entries.class,
    entries.i,
    entries.j,
    entries.n,
    CASE
      WHEN entries.i = entries.j THEN entries.m2
      ELSE entries.scale_i * entries.scale_j
        * (entries.m2 - of_i.m2 / (of_i.scale_i * of_i.scale_i) - of_j.m2 / (of_j.scale_i * of_j.scale_i)) / 2
    END / entries.n AS covariance
  FROM entries
  JOIN entries AS of_i ON of_i.class = entries.class AND of_i.i = entries.i AND of_i.j = entries.i
  JOIN entries AS of_j ON of_j.class = entries.class AND of_j.i = entries.j AND of_j.j = entries.j
),
shrunk AS (
  {% if family.ledoit_wolf %}
  {{ nbsql.ledoit_wolf(feature) | indent(2) }}
  {%- elif family.fixed_shrinkage %}
  SELECT
    class,
    i,
    j,
    n,
    (1 - {{ s }}) * covariance + CASE
      WHEN i = j THEN {{ s }} * sum(CASE WHEN i = j THEN covariance END) OVER (PARTITION BY class) / {{ p }}
      ELSE 0
    END AS covariance
  FROM of_classes
  {%- else %}
  SELECT * FROM of_classes
  {%- endif +%}
),
within_classes AS (
  SELECT i, j, sum(n * covariance) / sum(n) AS covariance, sum(n) / nullif(greatest(sum(n) - {{ lost }} * count(*), 0), 0) AS corrected
  FROM shrunk
  GROUP BY i, j
),
covariances AS MATERIALIZED (
  {% if family.shared %}
  SELECT 0 AS class, i, j, covariance * corrected AS covariance FROM within_classes
  {%- else %}
  SELECT
    classes.class,
    within_classes.i,
    within_classes.j,
    CASE
      WHEN shrunk.class IS NULL THEN within_classes.covariance
      ELSE {% if family.pooled_shrinkage %}(1 - {{ t }}) * {% endif %}shrunk.covariance * shrunk.n / nullif(shrunk.n - {{ lost }}, 0)
      {%- if family.pooled_shrinkage %} + {{ t }} * within_classes.covariance * within_classes.corrected{% endif +%}
    END AS covariance
  FROM classes
  JOIN within_classes ON TRUE
  LEFT JOIN shrunk ON shrunk.class = classes.class AND shrunk.i = within_classes.i AND shrunk.j = within_classes.j
  {%- endif +%}
),
{{ nbsql.elimination(p) }}
{%- endmacro %}

{# These common table expressions from the cells of a model, and a query of its classes. #}
{% macro covariances_of_cells(classes, cells, feature) -%}
WITH RECURSIVE classes AS {{ nbsql.subquery(classes) }},
comoments AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.comoments_of(cells, [feature]), ['class', 'feature', 'value'])) }},
{{ nbsql.covariance_steps(feature) }}
{%- endmacro %}

{# The likelihoods (likelihoods.sql) of such features alone, in all classes that have cells. #}
{% macro likelihoods_of_matrices(cells, features) -%}
{% set classes %}(SELECT DISTINCT class FROM {{ cells }} AS cells){% endset -%}
{{ nbsql.likelihoods_of_cells(cells, classes, features) }}
{%- endmacro %}

{# ln |S| of a matrix of p columns in `whitened`; columns that do not vary are left out. #}
{% macro log_determinant(p) -%}
{% set share %}CASE WHEN matrix[j][j] > 0 AND deviations[j] > 0 THEN ln(matrix[j][j]) + 2 * ln(deviations[j]) END{% endset -%}
{{ nbsql.list_total(nbsql.list_mapped(nbsql.list_of_whole_numbers(1, p + 1), share, 'j')) }}
{%- endmacro %}

{#
  Common table expressions: `spreads`, `correlations`, `eliminated` and `whitened`, from the `covariances` of p columns, as described
  above.
#}
{% macro elimination(p) -%}
{% set deviation %}sqrt(greatest(covariance, 0)){% endset -%}
{% set correlation %}coalesce(sides.covariance / nullif(spreads.deviations[sides.i] * spreads.deviations[sides.j], 0), 0){% endset -%}
spreads AS (
  SELECT class, {{ nbsql.ordered_list(deviation, nbsql.word('i')) }} AS deviations FROM covariances WHERE i = j GROUP BY class
),
correlations AS (
  SELECT sides.class, sides.i, {{ nbsql.ordered_list(correlation, nbsql.word('sides.j')) }} AS correlations
  FROM (
    SELECT class, i, j, covariance FROM covariances
    UNION ALL
    SELECT class, j, i, covariance FROM covariances WHERE i < j
  ) AS sides
  JOIN spreads ON spreads.class = sides.class
  GROUP BY sides.class, sides.i
),
eliminated AS {{ nbsql.subquery(nbsql.elimination_matrices(p)) }},
whitened AS MATERIALIZED (
  SELECT eliminated.class, eliminated.matrix, spreads.deviations
  FROM eliminated
  JOIN spreads ON spreads.class = eliminated.class
  WHERE eliminated.k = {{ p }}
)
{%- endmacro %}

{# One row per class and elimination step, from `correlations`: class, k, matrix. The first is [R I]; each step eliminates a column. #}
{% macro default__elimination_matrices(p) -%}
SELECT
  class,
  1 AS k,
  list(
    list_concat(correlations, list_transform(range(1, {{ p + 1 }}), lambda j: CASE WHEN j = i THEN 1e0 ELSE 0e0 END))
    ORDER BY i ASC NULLS LAST
  ) AS matrix
FROM correlations
GROUP BY class
UNION ALL
SELECT
  class,
  k + 1,
  list_transform(
    matrix,
    lambda row, i: CASE
      WHEN i <= k OR row[k] = 0 THEN row
      ELSE list_transform(row, lambda x, j: x - row[k] / nullif(ahead[k], 0) * ahead[j])
    END
  )
FROM (
  SELECT class, k, matrix, matrix[k] AS ahead FROM eliminated WHERE k < {{ p }}
) AS step
{%- endmacro %}

{# One row per matrix without an inverse: class, as text, and the columns that are linearly dependent. #}
{% macro collinear_columns(statistics, feature) -%}
{% set p = feature.columns | length -%}
{{ nbsql.covariances_of_cells(nbsql.class_counts(statistics), statistics, feature) }},
columns AS (
  SELECT {{ nbsql.whole_numbers(1, p + 1) }} AS i
)
SELECT
  {{ nbsql.text_of(nbsql.word('whitened.class')) }} AS class,
  {{ nbsql.ordered_list(nbsql.word('i'), nbsql.word('i')) }} AS columns
FROM whitened
JOIN (
  SELECT class, min(i) AS k
  FROM whitened
  CROSS JOIN columns
  WHERE NOT coalesce(matrix[i][i] > 1e-10, FALSE)
  GROUP BY class
) AS pivots ON pivots.class = whitened.class
JOIN columns ON columns.i <= pivots.k
WHERE abs(whitened.matrix[pivots.k][{{ p }} + columns.i]) > 1e-6
GROUP BY whitened.class
ORDER BY class ASC NULLS LAST
LIMIT 1
{%- endmacro %}
