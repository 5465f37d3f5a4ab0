{#
  The outcome at one threshold after another, one row per class and step: class, threshold (step / steps, from 0 to 1), the four counts,
  flagged (the share of the rows whose posterior reaches it), precision (NULL if none does), recall, false_positive_rate. The queries read
  `judged` (evaluate.sql), like those of curves.sql, which have one row per posterior instead. A slider needs a fixed number of steps,
  however many rows there are.
#}
{% macro threshold_steps(judged, steps) -%}
WITH {{ judged }},
{{ nbsql.points(steps=steps) }}
SELECT
  class,
  CAST(threshold AS {{ nbsql.double() }}) / {{ steps }} AS threshold,
  true_positives,
  false_positives,
  all_negatives - false_positives AS true_negatives,
  all_positives - true_positives AS false_negatives,
  (true_positives + false_positives) / nullif(all_positives + all_negatives, 0) AS flagged,
  true_positives / nullif(true_positives + false_positives, 0) AS precision,
  true_positives / nullif(all_positives, 0) AS recall,
  false_positives / nullif(all_negatives, 0) AS false_positive_rate
FROM points
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
  The curves of one class against the rest with no more points than a picture shows, one row per class and point, as in curves.sql: class,
  threshold, false_positive_rate, recall, precision. Of the points in one cell of a grid of `cells` x `cells` the last is kept, which
  has the lowest threshold and the highest counts.
#}
{% macro outlined_curves(judged, cells, counted=none) -%}
WITH {{ judged }},
{{ nbsql.points(counted=counted) }},
kept AS (
  SELECT
    class,
    min(threshold) AS threshold,
    max(true_positives) AS true_positives,
    max(false_positives) AS false_positives,
    max(all_positives) AS all_positives,
    max(all_negatives) AS all_negatives
  FROM points
  GROUP BY
    class,
    class_no,
    floor(false_positives / nullif(all_negatives, 0) * {{ cells }}),
    floor(true_positives / nullif(all_positives, 0) * {{ cells }})
)
SELECT
  class,
  threshold,
  false_positives / nullif(all_negatives, 0) AS false_positive_rate,
  true_positives / nullif(all_positives, 0) AS recall,
  true_positives / (true_positives + false_positives) AS precision
FROM kept
ORDER BY class ASC NULLS LAST, threshold DESC NULLS LAST
{%- endmacro %}
