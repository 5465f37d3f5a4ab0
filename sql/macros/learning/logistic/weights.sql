{#
  The fitted weights: class, feature, value, weight, mean. The score of a class is the sum over the features of weight (x - mean) for a
  number, which has a mean, of the weight of its value for a category, and of weight x for a count column. The bias is the row without a
  feature. With two classes, the score is that of the larger label against the smaller one.
#}
{% macro logistic_weights(problem, trial, classes, terms) -%}
{% set before %}(a - 1){% endset -%}
WITH unknowns AS (
  SELECT {{ nbsql.whole_quotient(before, problem.width) }} + 2 AS class_no, (a - 1) % {{ problem.width }} AS j, v
  FROM (
    SELECT {{ nbsql.unnested_with_places(nbsql.word('v'), 'a', 'v') }} FROM {{ trial }} AS tried
  ) AS unknowns
),
scores AS (
  SELECT
    classes.class,
    terms.j,
    terms.feature,
    terms.value,
    terms.kind,
    terms.centre,
    (coalesce(unknowns.v, 0) - means.v) / terms.scale AS weight
  FROM {{ classes }} AS classes
  CROSS JOIN (
    SELECT j, feature, value, kind, centre, scale FROM {{ terms }} AS terms
    UNION ALL
    SELECT 0, NULL, NULL, NULL, 0, 1
  ) AS terms
  LEFT JOIN unknowns ON unknowns.class_no = classes.class_no AND unknowns.j = terms.j
  {% if problem.classes == 2 %}
  JOIN (
    {% set larger %}(SELECT class_no FROM {{ classes }} AS classes ORDER BY class DESC NULLS LAST LIMIT 1){% endset %}
    SELECT j, coalesce(sum(CASE WHEN class_no <> {{ larger }} THEN v END), 0) AS v
    FROM unknowns
    GROUP BY j
  ) AS means ON means.j = terms.j
  WHERE classes.class = (SELECT {{ nbsql.maximum(nbsql.word('class')) }} FROM {{ classes }} AS classes)
  {% else %}
  JOIN (
    SELECT j, sum(v) / {{ problem.classes }} AS v FROM unknowns GROUP BY j
  ) AS means ON means.j = terms.j
  {% endif %}
)
SELECT
  class,
  feature,
  value,
  CASE
    WHEN j = 0 THEN weight - coalesce(sum(CASE WHEN kind IN ('missing', 'count') THEN weight * centre END) OVER (PARTITION BY class), 0)
    ELSE weight
  END AS weight,
  CASE WHEN kind IN ('number', 'binary') THEN centre END AS mean
FROM scores
ORDER BY class ASC NULLS LAST, j ASC NULLS LAST
{%- endmacro %}
