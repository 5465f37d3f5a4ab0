{#
  The slope and intercept of each class against the rest, by maximum likelihood with the targets (n1 + 1)/(n1 + 2) for its n1 rows and
  1/(n0 + 2) for the n0 others (Platt, Probabilistic outputs for support vector machines, 1999). The scores are scaled to mean 0 and
  standard deviation 1. The search is Newton's method with backtracking (Lin, Lin and Weng, A note on Platt's probabilistic outputs,
  Machine Learning 68, 2007).

  Every step evaluates a candidate. If its loss has fallen enough it is accepted and gets the next direction; otherwise half the step is
  tried. Classes that are done stay unchanged.
#}

{#
  One row per score of a class: class_no, x (scaled), hit, target (Platt's, not exactly 0 or 1), weight, centre, scale. The standard
  deviation of equal scores can be above 0 by rounding, and would be the unit of all other scores.
#}
{% macro platt_points(scores) -%}
{% set differ %}max(score) - min(score) > 1e-10 * greatest(max(abs(score)), 1){% endset -%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('scales')) }}
  scales.class_no,
  CASE WHEN differ THEN (score - centre) / scale ELSE 0 END AS x,
  hit,
  CASE WHEN hit THEN (hits + 1) / (hits + 2) ELSE 1 / (n - hits + 2) END AS target,
  weight,
  centre,
  scale
FROM {{ scores }} AS scores
JOIN (
  SELECT
    class_no,
    sum(weight) AS n,
    sum(CASE WHEN hit THEN weight ELSE 0 END) AS hits,
    avg(score) AS centre,
    CASE WHEN {{ differ }} THEN stddev_pop(score) ELSE 1 END AS scale,
    {{ differ }} AS differ
  FROM {{ scores }} AS scores
  GROUP BY class_no
) AS scales ON scales.class_no = scores.class_no
{%- endmacro %}

{# One row per class, the first step, with slope 0: the columns of platt_step. #}
{% macro platt_start(points) -%}
{% set hits %}sum(CASE WHEN hit THEN weight ELSE 0 END){% endset -%}
SELECT
  class_no,
  0 AS step,
  CAST(0 AS {{ nbsql.double() }}) AS slope,
  ln(({{ hits }} + 1) / (sum(weight) - {{ hits }} + 1)) AS intercept,
  CAST(0 AS {{ nbsql.double() }}) AS slope_by,
  CAST(0 AS {{ nbsql.double() }}) AS intercept_by,
  CAST(1 AS {{ nbsql.double() }}) AS size,
  CAST(0 AS {{ nbsql.double() }}) AS fall,
  {{ nbsql.infinity() }} AS loss,
  FALSE AS done,
  {{ nbsql.common_value(nbsql.word('centre')) }} AS centre,
  {{ nbsql.common_value(nbsql.word('scale')) }} AS scale
FROM {{ points }} AS points
GROUP BY class_no
{%- endmacro %}

{# One row per class: the next step of the search, or the last one again if the class is done. #}
{% macro platt_step(steps, points) -%}
SELECT class_no, step, slope, intercept, slope_by, intercept_by, size, fall, loss, done, centre, scale
FROM {{ steps }} AS steps
WHERE done
UNION ALL
SELECT
  class_no,
  step + 1 AS step,
  CASE WHEN NOT better THEN slope WHEN near THEN tried_slope + newton_slope ELSE tried_slope END AS slope,
  CASE WHEN NOT better THEN intercept WHEN near THEN tried_intercept + newton_intercept ELSE tried_intercept END AS intercept,
  CASE WHEN better THEN newton_slope ELSE slope_by END AS slope_by,
  CASE WHEN better THEN newton_intercept ELSE intercept_by END AS intercept_by,
  CASE WHEN better THEN 1 ELSE size / 2 END AS size,
  CASE WHEN better THEN newton_fall ELSE fall END AS fall,
  CASE WHEN better THEN tried_loss ELSE loss END AS loss,
  (better AND near) OR size < 1e-12 OR step >= 200 AS done,
  centre,
  scale
FROM (
  SELECT
    *,
    tried_loss <= loss - 1e-4 * size * fall + 1e-12 * abs(tried_loss) AS better,
    newton_fall <= 1e-12 * n AS near
  FROM (
    SELECT *, -(gradient_slope * newton_slope + gradient_intercept * newton_intercept) AS newton_fall
    FROM (
      SELECT
        *,
        (curvature_both * gradient_intercept - curvature_intercept * gradient_slope) / determinant AS newton_slope,
        (curvature_both * gradient_slope - curvature_slope * gradient_intercept) / determinant AS newton_intercept
      FROM (
        SELECT *, curvature_slope * curvature_intercept - curvature_both * curvature_both AS determinant
        FROM {{ nbsql.subquery(nbsql.platt_sums(steps, points)) | indent(8) }} AS sums
      ) AS determinants
    ) AS directions
  ) AS falls
) AS judged
{%- endmacro %}

{# One row per class that is not done: its step, and the loss, gradient and Hessian of the candidate. #}
{% macro platt_sums(steps, points) -%}
{% set low %}-abs(z){% endset -%}
SELECT
  class_no,
  {% for column in [
    'step', 'slope', 'intercept', 'slope_by', 'intercept_by', 'size', 'fall', 'loss', 'centre', 'scale', 'tried_slope', 'tried_intercept'
  ] %}
  {{ nbsql.common_value(nbsql.word(column)) }} AS {{ nbsql.word(column) }},
  {% endfor %}
  sum(weight) AS n,
  sum(weight * (greatest(z, 0) + ln(1 + {{ nbsql.exp(low) }}) - target * z)) AS tried_loss,
  sum(weight * (p - target) * x) AS gradient_slope,
  sum(weight * (p - target)) AS gradient_intercept,
  sum(weight * p * (1 - p) * x * x) + 1e-12 AS curvature_slope,
  sum(weight * p * (1 - p) * x) AS curvature_both,
  sum(weight * p * (1 - p)) + 1e-12 AS curvature_intercept
FROM (
  SELECT *, {{ nbsql.logistic(nbsql.word('z')) }} AS p
  FROM (
    SELECT{{ nbsql.broadcast_hint(nbsql.word('tried')) }}
      tried.*, points.x, points.target, points.weight, tried_slope * x + tried_intercept AS z
    FROM (
      SELECT *, slope + size * slope_by AS tried_slope, intercept + size * intercept_by AS tried_intercept
      FROM {{ steps }} AS steps
      WHERE NOT done
    ) AS tried
    JOIN {{ points }} AS points ON points.class_no = tried.class_no
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS linear
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS predicted
GROUP BY class_no
{%- endmacro %}

{# One row per class, the slope and intercept for unscaled scores: class_no, slope, intercept. #}
{% macro platt_result(steps) -%}
SELECT class_no, slope / scale AS slope, intercept - slope * centre / scale AS intercept FROM {{ steps }} AS steps
{%- endmacro %}

{#
  One row per class, a line that draws posteriors toward the priors: class_no, slope, intercept. The log-odds of a class are those of the
  model at a temperature, of which a share is kept, and for the rest those of its prior. Without a share the posteriors are the priors.
#}
{% macro platt_toward_priors(model, parameters, priors, kept, temperature) -%}
{% set rest %}(1 - {{ nbsql.number(kept) }}){% endset -%}
SELECT
  classes.class_no,
  {{ nbsql.number(kept / temperature) }} AS slope,
  CASE WHEN priors.prior > 0 AND priors.prior < 1 THEN {{ rest }} * ln(priors.prior / (1 - priors.prior)) ELSE 0 END AS intercept
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
JOIN {{ priors }} AS priors ON priors.class = classes.class
{%- endmacro %}
