{# The starting point of the search for the weights; `problem` and the terms are those of rows.sql. #}

{# One row per class: class_no, class, n. #}
{% macro logistic_classes(priors) -%}
SELECT classes.class_no, classes.class, priors.n
FROM {{ nbsql.subquery(nbsql.classes(priors)) }} AS classes
JOIN {{ priors }} AS priors ON priors.class = classes.class
{%- endmacro %}

{# The weights of a single class, which needs none. #}
{% macro logistic_no_weights(classes) -%}
SELECT
  class,
  {{ nbsql.no_text() }} AS feature,
  {{ nbsql.no_text() }} AS value,
  CAST(0 AS {{ nbsql.double() }}) AS weight,
  CAST(NULL AS {{ nbsql.double() }}) AS mean
FROM {{ classes }} AS classes
{%- endmacro %}

{# One row, the starting point: the list v of the linear form of the generative model (linear.sql), `weights`, in the terms. #}
{% macro logistic_start(problem, classes, terms, weights) -%}
{% set order %}class_no, j{% endset -%}
WITH linear AS {{ nbsql.materialized() }}(
  SELECT
    classes.class_no,
    weights.feature,
    weights.value,
    weights.times,
    CASE WHEN abs(weights.weight) < {{ nbsql.infinity() }} THEN weights.weight ELSE 0 END AS weight
  FROM {{ weights }} AS weights
  JOIN {{ classes }} AS classes ON classes.class = weights.class
),
scores AS (
  SELECT
    linear.class_no,
    terms.j,
    sum(CASE WHEN terms.kind = 'binary' AND linear.value = 'false' THEN -linear.weight ELSE linear.weight END)
      * max(terms.scale) AS score
  FROM linear
  JOIN {{ terms }} AS terms
    ON terms.feature = linear.feature
    AND CASE terms.kind
      WHEN 'number' THEN linear.times = 'x'
      WHEN 'count' THEN linear.times = 'x' AND linear.value = terms.value
      WHEN 'binary' THEN linear.times = 'is' AND linear.value IS NOT NULL
      ELSE linear.times = 'is' AND linear.value IS NOT DISTINCT FROM terms.value
    END
  GROUP BY linear.class_no, terms.j
  UNION ALL
  SELECT class_no, 0, weight FROM linear WHERE times = '1'
  UNION ALL
  SELECT linear.class_no, 0, linear.weight
  FROM linear
  JOIN {{ terms }} AS terms ON terms.feature = linear.feature AND terms.kind = 'binary' AND linear.value = 'false'
),
centred AS (
  SELECT class_no, j, score FROM scores
  UNION ALL
  SELECT scores.class_no, 0, scores.score * terms.centre / terms.scale
  FROM scores
  JOIN {{ terms }} AS terms ON terms.j = scores.j
)
SELECT {{ nbsql.ordered_list(nbsql.word('v'), order) }} AS v
FROM (
  SELECT class_no, j, score - first_value(score) OVER (PARTITION BY j ORDER BY class_no ASC NULLS LAST) AS v
  FROM (
    SELECT classes.class_no, grid.j, coalesce(sum(centred.score), 0) AS score
    FROM {{ classes }} AS classes
    CROSS JOIN (
      SELECT {{ nbsql.whole_numbers(0, problem.width) }} AS j
    ) AS grid
    LEFT JOIN centred ON centred.class_no = classes.class_no AND centred.j = grid.j
    GROUP BY classes.class_no, grid.j
  ) AS scores
) AS unknowns
WHERE class_no > 1
{%- endmacro %}
