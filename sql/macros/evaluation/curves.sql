{#
  One class against the rest, at every threshold of its posterior. The queries read `judged` (evaluate.sql) and have one row per class and
  distinct posterior, so that rows with equal posteriors stay together and no order among them is invented. With two classes, a posterior
  of nearly 1 is ranked by that of the other class, which still differs where the first has become 1: both rank alike, as by log-odds.

    true_positives(t)   sum of the weights of the rows of the class whose posterior is at least t
    false_positives(t)  the same of the rows of other classes

  ROC, its area (trapezoids, in which a tie counts half) and average precision (the sum of the steps in recall times the precision there,
  without interpolation) are those of Fawcett, Pattern Recognition Letters 27 (2006), and of scikit-learn.

  sliced: the number of columns by which `judged` is sliced (slices.sql); each slice then has its own classes.
#}

{#
  One row per judged row and class of the model: class_no, posterior, rank (rank_of), weight, and positive, the weight if it is the row's
  class.
#}
{% macro default__one_against_rest(sliced=0) -%}
one_against_rest AS (
  SELECT
    {{ nbsql.slice_columns(sliced) }}class_no,
    posterior,
    {{ nbsql.rank_of(nbsql.word('posterior'), nbsql.word('other')) | indent(4) }} AS rank,
    weight,
    CASE WHEN class_no = true_no THEN weight ELSE 0 END AS positive
  FROM (
    SELECT
      {{ nbsql.slice_columns(sliced) }}class_no,
      true_no,
      weight,
      posterior,
      {{ nbsql.other_posterior(nbsql.word('posteriors'), nbsql.word('class_no')) }} AS other
    FROM (
      SELECT
        {{ nbsql.slice_columns(sliced) }}judged.class_no AS true_no,
        judged.weight,
        judged.posteriors,
        {{ nbsql.unnested_with_places(nbsql.word('judged.posteriors'), 'class_no', 'posterior') }}
      FROM judged
    ) AS posteriors
  ) AS posteriors
)
{%- endmacro %}

{# With two classes, the posterior of the other class, else NULL. #}
{% macro other_posterior(posteriors, class_no, known='known') -%}
{% set other %}greatest(3 - {{ class_no }}, 1){% endset -%}
CASE WHEN (SELECT count(*) FROM {{ nbsql.word(known) }}) = 2 THEN {{ nbsql.element(posteriors, other) }} END
{%- endmacro %}

{#
  A number by which rows are ranked, the lowest first; rows with equal ones are in a tie. The larger posterior p of two hides how the
  smaller, q, was rounded, so q ranks: by its reciprocal below 1e-8, where digits of it would be lost beside 1. One number is sorted in
  two thirds of the time of two.
#}
{% macro rank_of(p, q) -%}
CASE
  WHEN {{ q }} < 1e-8 AND {{ p }} > 0.5 THEN -1 / greatest({{ q }}, 1e-300)
  WHEN {{ q }} >= 0.5 AND {{ p }} >= 1e-8 THEN {{ q }} - 1
  ELSE -{{ p }}
END
{%- endmacro %}

{#
  cumulated: class_no, threshold, the weights in the tie (positives, negatives), and the weights in and above it (true_positives,
  false_positives). ranked: whether rows of one posterior of nearly 1 are told apart. steps: if given, thresholds are the last of these
  equal steps that a posterior reaches, and all of them are there.
#}
{% macro cumulated(sliced=0, steps=none, ranked=true) -%}
{{ nbsql.one_against_rest(sliced) }},
ties AS (
  {% if steps is not none %}
  SELECT
    class_no,
    step AS threshold,
    sum(positive) AS positives,
    sum(weight - positive) AS negatives,
    -step AS rank
  FROM (
    SELECT class_no, {{ nbsql.step_reached(nbsql.word('posterior'), steps) | indent(4) }} AS step, positive, weight FROM one_against_rest
    UNION ALL
    SELECT class_no, {{ nbsql.whole_numbers(0, steps + 1) | indent(4) }} AS step, 0, 0 FROM known
  ) AS reached
  GROUP BY class_no, step
  {%- else %}
  SELECT
    {{ nbsql.slice_columns(sliced) }}class_no,
    min(posterior) AS threshold,
    sum(positive) AS positives,
    sum(weight - positive) AS negatives,
    {%+ if not ranked %}-posterior AS {%+ endif %}rank
  FROM one_against_rest
  GROUP BY {{ nbsql.slice_columns(sliced) }}class_no, {% if ranked %}rank{% else %}posterior{% endif +%}
  {%- endif +%}
),
cumulated AS (
  SELECT
    *,
    {% set above -%}
    OVER (
      PARTITION BY {{ nbsql.slice_columns(sliced) }}class_no ORDER BY rank ASC NULLS LAST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
    {%- endset %}
    sum(positives) {{ above }} AS true_positives,
    sum(negatives) {{ above }} AS false_positives
  FROM ties
)
{%- endmacro %}

{#
  areas: class_no, roc_auc, average_precision and ks; NULL if no row, or except for average_precision every row, is of the class.

  Of the pairs of a row of the class and another, weighted, `won` have the row of the class above or in a tie, and `lost` the other one;
  a tie is in both. With half of the ties, roc_auc is the share that is won: (won - lost + pairs) / (2 pairs), without counting ties.
  A table of points, if `counted`, takes the place of the rows.
  ks is the largest distance between the shares of both that are above a threshold, the statistic of Kolmogorov and Smirnov.
#}
{% macro areas(counted=none) -%}
{% if counted is not none %}
ranked AS (
  SELECT class_no, positives AS positive, negatives AS negative, true_positives, false_positives FROM {{ counted }} AS counted
),
{%- else %}
{{ nbsql.one_against_rest() }},
ranked AS (
  SELECT
    class_no,
    positive,
    weight - positive AS negative,
    {% set above %}OVER (PARTITION BY class_no ORDER BY rank ASC NULLS LAST){% endset %}
    sum(positive) {{ above }} AS true_positives,
    sum(weight - positive) {{ above }} AS false_positives
  FROM one_against_rest
),
{%- endif +%}
pairs AS (
  SELECT
    class_no,
    sum(negative * true_positives) AS won,
    sum(positive * false_positives) AS lost,
    max(true_positives) * max(false_positives) AS all_pairs,
    sum(positive * true_positives / (true_positives + false_positives)) / nullif(max(true_positives), 0) AS average_precision,
    max(abs(true_positives / of_class.n - false_positives / nullif(of_all.n - of_class.n, 0))) AS ks
  FROM ranked
  LEFT JOIN (SELECT class_no AS k, nullif(sum(weight), 0) AS n FROM judged GROUP BY class_no) AS of_class ON of_class.k = class_no
  CROSS JOIN (SELECT sum(weight) AS n FROM judged) AS of_all
  GROUP BY class_no
),
areas AS (
  SELECT
    class_no,
    (won - lost + all_pairs) / nullif(2 * all_pairs, 0) AS roc_auc,
    average_precision,
    CASE WHEN all_pairs > 0 THEN ks END AS ks
  FROM pairs
)
{%- endmacro %}

{# points: the columns of cumulated with class, all_positives and all_negatives; or `counted`, a table of them (counted_points). #}
{% macro points(sliced=0, steps=none, ranked=true, counted=none) -%}
{% if counted is not none %}
points AS (
  SELECT * FROM {{ counted }} AS counted
)
{%- else %}
{{ nbsql.cumulated(sliced, steps, ranked) }},
points AS (
  SELECT
    cumulated.*,
    known.class,
    max(true_positives) OVER (PARTITION BY {{ nbsql.slice_columns(sliced) }}cumulated.class_no) AS all_positives,
    max(false_positives) OVER (PARTITION BY {{ nbsql.slice_columns(sliced) }}cumulated.class_no) AS all_negatives
  FROM cumulated
  JOIN known ON known.class_no = cumulated.class_no
)
{%- endif %}
{%- endmacro %}

{# The points themselves, for a table that several queries read. #}
{% macro counted_points(judged) -%}
WITH {{ judged }},
{{ nbsql.points() }}
SELECT * FROM points
{%- endmacro %}

{# The ROC curve: class, threshold, false_positive_rate, true_positive_rate. It begins in the corner, at threshold infinity. #}
{% macro roc(judged) -%}
WITH {{ judged }},
{{ nbsql.points() }}
SELECT
  class,
  threshold,
  false_positives / nullif(all_negatives, 0) AS false_positive_rate,
  true_positives / nullif(all_positives, 0) AS true_positive_rate
FROM points
UNION ALL
SELECT DISTINCT class, {{ nbsql.infinity() }}, 0, 0 FROM points
ORDER BY class ASC NULLS LAST, threshold DESC NULLS LAST
{%- endmacro %}

{# The precision-recall curve: class, threshold, precision, recall. #}
{% macro precision_recall(judged) -%}
WITH {{ judged }},
{{ nbsql.points() }}
SELECT
  class,
  threshold,
  true_positives / (true_positives + false_positives) AS precision,
  true_positives / nullif(all_positives, 0) AS recall
FROM points
ORDER BY class ASC NULLS LAST, threshold DESC NULLS LAST
{%- endmacro %}

{#
  The result of predicting the class for rows with a posterior of at least `threshold`: class, threshold, the four counts, precision,
  recall, specificity, f1, accuracy.
#}
{% macro thresholds(judged) -%}
WITH {{ judged }},
{{ nbsql.points(ranked=false) }}
SELECT
  class,
  threshold,
  true_positives,
  false_positives,
  all_negatives - false_positives AS true_negatives,
  all_positives - true_positives AS false_negatives,
  true_positives / (true_positives + false_positives) AS precision,
  true_positives / nullif(all_positives, 0) AS recall,
  1 - false_positives / nullif(all_negatives, 0) AS specificity,
  2 * true_positives / (all_positives + true_positives + false_positives) AS f1,
  (true_positives + all_negatives - false_positives) / (all_positives + all_negatives) AS accuracy
FROM points
ORDER BY class ASC NULLS LAST, threshold DESC NULLS LAST
{%- endmacro %}

{#
  The gain from looking first at the rows most likely to be of a class: class, depth (the share of the rows looked at), gain (the share of
  the class found there) and lift = gain / depth. Rows with equal posteriors are spread evenly over their depth.
#}
{% macro lift(judged, bins, counted=none) -%}
WITH {{ judged }},
{{ nbsql.points(counted=counted) }},
ends AS (
  SELECT
    *,
    true_positives + false_positives - positives - negatives AS above,
    {% set share %}(true_positives + false_positives) * {{ bins }} / everything{% endset %}
    CAST(CASE WHEN true_positives + false_positives < everything THEN floor({{ share }}) ELSE {{ bins }} END AS BIGINT) AS last_step
  FROM (
    SELECT *, all_positives + all_negatives AS everything FROM points
  ) AS points
),
steps AS (
  SELECT
    *,
    coalesce(lag(last_step) OVER (PARTITION BY class_no ORDER BY rank ASC NULLS LAST), 0) AS step_before,
    positives + negatives AS tied
  FROM ends
  WHERE last_step > floor(above * {{ bins }} / everything - 0.001) {#- few ties reach a step; the sums of weights are rounded #}

),
depths AS (
  {% set first %}step_before + 1{% endset %}
  {% set end %}last_step + 1{% endset %}
  SELECT *, {{ nbsql.whole_numbers(first, end) | indent(2) }} AS step FROM steps
),
gains AS (
  SELECT
    class,
    CAST(step AS {{ nbsql.double() }}) / {{ bins }} AS depth,
    (true_positives - positives + positives * (everything * step / {{ bins }} - above) / tied) / nullif(all_positives, 0) AS gain
  FROM depths
)
SELECT class, depth, gain, gain / depth AS lift
FROM gains
ORDER BY class ASC NULLS LAST, depth ASC NULLS LAST
{%- endmacro %}

{#
  How reliable the posteriors are: class, bin (from 1), lower, upper, n (the weight of the rows in it), probability (their mean
  posterior), frequency (the share that are of the class). Rows with class NULL are about the prediction, whatever its class, and how
  often it is right. Bins have equal width and include their upper end, as in scikit-learn's calibration_curve.
#}
{% macro calibration(judged, bins) -%}
WITH {{ judged }},
{{ nbsql.one_against_rest() }},
binned AS (
  SELECT class_no, {{ nbsql.bin(nbsql.word('posterior'), bins) }} AS bin, posterior, weight, positive FROM one_against_rest
  UNION ALL
  SELECT NULL, {{ nbsql.bin(nbsql.word('probability'), bins) }}, probability, weight, CASE WHEN prediction = class THEN weight ELSE 0 END
  FROM judged
)
SELECT
  known.class,
  binned.bin + 1 AS bin,
  CAST(binned.bin AS {{ nbsql.double() }}) / {{ bins }} AS lower,
  CAST(binned.bin + 1 AS {{ nbsql.double() }}) / {{ bins }} AS upper,
  sum(binned.weight) AS n,
  sum(binned.weight * binned.posterior) / sum(binned.weight) AS probability,
  sum(binned.positive) / sum(binned.weight) AS frequency
FROM binned
LEFT JOIN known ON known.class_no = binned.class_no
GROUP BY known.class, binned.class_no, binned.bin
ORDER BY known.class ASC NULLS FIRST, binned.bin ASC NULLS LAST
{%- endmacro %}

{#
  The number of edges below p, among the edges i / bins between the bins. An edge is i times the width, as numpy computes it. The product
  p * bins may round across an edge, so the edges on both sides are compared.
#}
{% macro bin(p, bins) -%}
{% set at %}floor({{ p }} * {{ bins }}){% endset -%}
{% set width %}{{ nbsql.as_double(1) }} / {{ bins }}{% endset -%}
{% set correction -%}
CASE WHEN ({{ at }} + 1) * ({{ width }}) < {{ p }} THEN 1 WHEN {{ at }} * ({{ width }}) < {{ p }} THEN 0 ELSE -1 END
{%- endset -%}
CAST(least(greatest({{ at }} + {{ correction }}, 0), {{ bins - 1 }}) AS INTEGER)
{%- endmacro %}

{% macro as_double(n) -%} CAST({{ n }} AS {{ nbsql.double() }}) {%- endmacro %}
