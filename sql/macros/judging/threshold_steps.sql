{#
  The outcome at one threshold after another, one row a class and step: class, threshold (step / steps, from 0 to 1), the four counts,
  flagged (the share of the rows whose posterior reaches it), precision (NULL if none does), recall, false_positive_rate. The queries read
  `judged` (evaluate.sql), like those of curves.sql, which have one row a posterior instead. A slider needs a fixed number of steps,
  however many rows there are.
#}
{% macro threshold_steps(judged, steps) -%}
{% set posterior = nbsql.word('posterior') -%}
WITH {{ judged }},
{{ nbsql.one_against_rest() }},
reached AS (
  SELECT class_no, {{ nbsql.step_reached(posterior, steps) }} AS step, sum(positive) AS positives, sum(weight - positive) AS negatives
  FROM one_against_rest
  GROUP BY class_no, {{ nbsql.step_reached(posterior, steps) }}
),
places AS (
  SELECT {{ nbsql.whole_numbers(0, steps + 1) | indent(2) }} AS step
),
stepped AS (
  SELECT
    known.class,
    known.class_no,
    places.step,
    coalesce(reached.positives, 0) AS positives,
    coalesce(reached.negatives, 0) AS negatives
  FROM known
  JOIN places ON TRUE
  LEFT JOIN reached ON reached.class_no = known.class_no AND reached.step = places.step
),
cumulated AS (
  SELECT
    *,
    sum(positives) OVER (PARTITION BY class_no ORDER BY step DESC NULLS LAST ROWS UNBOUNDED PRECEDING) AS true_positives,
    sum(negatives) OVER (PARTITION BY class_no ORDER BY step DESC NULLS LAST ROWS UNBOUNDED PRECEDING) AS false_positives,
    sum(positives) OVER (PARTITION BY class_no) AS all_positives,
    sum(negatives) OVER (PARTITION BY class_no) AS all_negatives
  FROM stepped
)
SELECT
  class,
  CAST(step AS {{ nbsql.double() }}) / {{ steps }} AS threshold,
  true_positives,
  false_positives,
  all_negatives - false_positives AS true_negatives,
  all_positives - true_positives AS false_negatives,
  (true_positives + false_positives) / nullif(all_positives + all_negatives, 0) AS flagged,
  true_positives / nullif(true_positives + false_positives, 0) AS precision,
  true_positives / nullif(all_positives, 0) AS recall,
  false_positives / nullif(all_negatives, 0) AS false_positive_rate
FROM cumulated
ORDER BY class ASC NULLS LAST, threshold ASC NULLS LAST
{%- endmacro %}

{#
  The number of the last of the steps i / steps that p reaches. The product may round across a step, so the steps on both sides are
  compared.
#}
{% macro step_reached(p, steps) -%}
{% set at %}floor({{ p }} * {{ steps }}){% endset -%}
{% set width %}{{ nbsql.as_double(steps) }}{% endset -%}
CAST(CASE
    WHEN ({{ at }} + 1) / {{ width }} <= {{ p }} THEN {{ at }} + 1
    WHEN {{ at }} / {{ width }} <= {{ p }} THEN {{ at }}
    ELSE {{ at }} - 1
  END AS INTEGER)
{%- endmacro %}

{#
  The curves of one class against the rest with no more points than a picture shows, one row a class and point, as in curves.sql: class,
  threshold, false_positive_rate, recall, precision. Of the points in one cell of a grid of `cells` x `cells` the last is kept.
#}
{% macro outlined_curves(judged, cells) -%}
WITH {{ judged }},
{{ nbsql.points() }},
placed AS (
  SELECT
    class,
    class_no,
    threshold,
    false_positives / nullif(all_negatives, 0) AS false_positive_rate,
    true_positives / nullif(all_positives, 0) AS recall,
    true_positives / (true_positives + false_positives) AS precision
  FROM points
),
numbered AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY class_no, floor(false_positive_rate * {{ cells }}), floor(recall * {{ cells }})
      ORDER BY threshold ASC NULLS LAST
    ) AS place
  FROM placed
)
SELECT class, threshold, false_positive_rate, recall, precision
FROM numbered
WHERE place = 1
ORDER BY class ASC NULLS LAST, threshold DESC NULLS LAST
{%- endmacro %}
