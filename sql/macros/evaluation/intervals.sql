{#
  Confidence intervals of the metrics of an evaluation, and of the difference of two models. Queries on `judged` (evaluate.sql), in which
  a weight w counts as w rows.

    accuracy, recall, precision, selection_rate, false_positive_rate, false_negative_rate
                                 a share of n rows: the score interval (Wilson, Journal of the American Statistical Association 22, 1927)
    log_loss, brier              a mean over n rows: the mean and z times its standard error
    roc_auc                      how often a row of the class has a higher posterior than another: the mean, over the rows of the class,
                                 of the share of the others that each beats. Its variance is that of this mean, plus that of the mean,
                                 over the others, of the share of the class that beats each (DeLong, DeLong and Clarke-Pearson,
                                 Biometrics 44, 1988)

  selection_rate is the share of all rows that are predicted to be of the class, false_positive_rate that of the rows of other classes,
  and false_negative_rate the share of the rows of the class that are not.

  z is the quantile of the normal distribution that leaves 2.5 % on each side, so 95 % of such intervals contain the value for infinitely
  many rows of the same kind. Rows are taken to be drawn independently.

  sliced: the number of columns by which `judged` is sliced (slices.sql); each slice then has its own metrics.
#}

{#
  One row per metric: class (NULL for all classes), metric, value, standard_error, low, high. These are NULL for a metric without an
  interval, because it is of one row (a weight of 1) or less. by: the columns that slice, which then come first, with one row per slice.
#}
{% macro intervals(judged, by=[]) -%}
WITH {{ judged }},
{{ nbsql.all_numbers(by | length) }},
{{ nbsql.interval_bounds() }}
SELECT
  {% if by %}
  {{ nbsql.named_slice_columns(by) | indent(2) }}
  {% endif %}
  class, metric, value, standard_error, low, high
FROM bounded
ORDER BY
  {% if by %}
  {{ nbsql.order_of_slices(by) | indent(2) }} ASC NULLS LAST,
  {% endif %}
  class ASC NULLS FIRST,
  position ASC NULLS LAST
{%- endmacro %}

{#
  numbers: one row per class (NULL for all classes) and metric: class, metric, position, value, standard_error, and of_rows, for a share the
  number of its rows.
#}
{% macro all_numbers(sliced=0) -%}
{% set by = nbsql.slice_columns(sliced) -%}
{{ nbsql.points(sliced) }},
{{ nbsql.row_losses() }},
{{ nbsql.counted_shares(sliced) }},
observations AS (
  SELECT
    {{ by }}class, 'roc_auc' AS metric, 4 AS position, 1 AS side, positives AS weight,
    (all_negatives - false_positives + negatives / 2) / all_negatives AS value
  FROM points
  WHERE positives > 0 AND all_negatives > 0
  UNION ALL
  SELECT {{ by }}class, 'roc_auc', 4, 2, negatives, (true_positives - positives / 2) / all_positives
  FROM points
  WHERE negatives > 0 AND all_positives > 0
  UNION ALL
  SELECT {{ by }}NULL, 'log_loss', 2, 1, weight, log_loss FROM row_losses
  UNION ALL
  SELECT {{ by }}NULL, 'brier', 3, 1, weight, brier / {{ nbsql.brier_divisor() }} FROM row_losses
),
{{ nbsql.means(['value'], sliced) }},
numbers AS (
  {{ nbsql.numbers_of_shares(sliced) | indent(2) }}
  UNION ALL
  SELECT {{ by }}class, metric, position, value, standard_error, NULL FROM means
)
{%- endmacro %}

{# The shares, as rows of `numbers`. #}
{% macro numbers_of_shares(sliced=0) -%}
SELECT
  {{ nbsql.slice_columns(sliced) }}class, metric, position,
  hits / n AS value, sqrt(hits / n * (1 - hits / n) / n) AS standard_error, n AS of_rows
FROM shares
{%- endmacro %}

{# bounded: `numbers` with low and high. #}
{% macro interval_bounds() -%}
{% set z = nbsql.normal_quantile() -%}
bounded AS (
  SELECT
    *,
    CASE WHEN middle - reach < 0 THEN 0 ELSE middle - reach END AS low,
    CASE WHEN metric NOT IN ('log_loss', 'brier') AND middle + reach > 1 THEN 1 ELSE middle + reach END AS high
  FROM (
    SELECT
      *,
      CASE
        WHEN of_rows IS NULL THEN value
        ELSE (value + {{ z }} * {{ z }} / (2 * of_rows)) / (1 + {{ z }} * {{ z }} / of_rows)
      END AS middle,
      {{ z }} * CASE
        WHEN of_rows IS NULL THEN standard_error
        ELSE sqrt(standard_error * standard_error + {{ z }} * {{ z }} / (4 * of_rows * of_rows)) / (1 + {{ z }} * {{ z }} / of_rows)
      END AS reach
    FROM numbers
  ) AS reached
)
{%- endmacro %}

{# The quantile of the normal distribution for intervals of 95 %. #}
{% macro normal_quantile() -%} {{ nbsql.number(1.959963984540054) }} {%- endmacro %}

{# The divisor of the sum over the classes: 2 with two classes, because both squares are then equal. #}
{% macro brier_divisor() -%} (SELECT CASE WHEN count(*) > 2 THEN 1 ELSE 2 END FROM {{ nbsql.all_classes() }}) {%- endmacro %}

{# One row per class of the model or of judged rows, as `metrics` counts them: class. #}
{% macro all_classes() -%} (SELECT class FROM known {{ nbsql.union_distinct() }} SELECT class FROM judged) AS all_classes {%- endmacro %}

{# shares: one row per class (NULL for all classes) and share: class, metric, position, hits of n rows. #}
{% macro counted_shares(sliced=0) -%}
{% set by = nbsql.slice_columns(sliced) -%}
{% set hits %}sum(CASE WHEN prediction = class THEN weight ELSE 0 END){% endset -%}
confused AS (
  SELECT {{ by }}class, prediction, sum(weight) AS n FROM judged GROUP BY {{ by }}class, prediction
),
shares AS (
  SELECT {{ by }}NULL AS class, 'accuracy' AS metric, 1 AS position, {{ hits }} AS hits, sum(weight) AS n
  FROM judged
  {% if sliced %}
  GROUP BY {{ nbsql.slice_columns(sliced, false) }}
  {% endif %}
  UNION ALL
  SELECT {{ by }}prediction, 'precision', 2, {{ hits }}, sum(weight)
  FROM judged
  WHERE prediction IS NOT NULL
  GROUP BY {{ by }}prediction
  UNION ALL
  SELECT {{ by }}class, 'recall', 3, {{ hits }}, sum(weight)
  FROM judged
  GROUP BY {{ by }}class
  {%- for metric in ['selection_rate', 'false_positive_rate', 'false_negative_rate'] +%}
  UNION ALL
  SELECT
    {{ by }}known.class, {{ nbsql.text(metric) }}, {{ loop.index + 4 }},
    sum(CASE WHEN prediction = known.class {% if loop.last %}THEN 0 ELSE n{% else %}THEN n ELSE 0{% endif %} END), sum(n)
  FROM confused
  JOIN known ON {% if loop.first %}TRUE{% elif loop.last %}known.class = confused.class{% else %}known.class <> confused.class{% endif +%}
  GROUP BY {{ by }}known.class
  {%- endfor +%}
)
{%- endmacro %}

{#
  means: one row per class (NULL for all classes) and metric: class, metric, position, the mean of each of the columns, and the standard
  error of the mean of the last one. From `observations`: class, metric, position, side, weight and the columns. The mean is that of side
  1; a second side only adds to its variance. With two classes the area of the larger label is also that of all classes.
#}
{% macro means(columns, sliced=0) -%}
{% set by = nbsql.slice_columns(sliced) -%}
{% set last = nbsql.word(columns | last) -%}
means_of_sides AS (
  SELECT
    {{ by }}class,
    metric,
    position,
    side,
    {% for column in columns %}
    max(mean_{{ nbsql.word(column) }}) AS {{ nbsql.word(column) }},
    {% endfor %}
    sum(weight * ({{ last }} - mean_{{ last }}) * ({{ last }} - mean_{{ last }}))
      / nullif(greatest(sum(weight) - 1, 0), 0) / sum(weight) AS variance
  FROM (
    SELECT
      *,
      {% for column in columns %}
      {% set parts %}OVER (PARTITION BY {{ by }}class, metric, side){% endset %}
      sum(weight * {{ nbsql.word(column) }}) {{ parts }} / sum(weight) {{ parts }} AS mean_{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
      {% endfor %}
    FROM observations
  ) AS centred
  GROUP BY {{ by }}class, metric, position, side
),
means_of_classes AS (
  SELECT
    {{ by }}class,
    metric,
    position,
    {% for column in columns %}
    max(CASE WHEN side = 1 THEN {{ nbsql.word(column) }} END) AS {{ nbsql.word(column) }},
    {% endfor %}
    CASE WHEN count(*) = count(variance) THEN sqrt(sum(variance)) END AS standard_error
  FROM means_of_sides
  GROUP BY {{ by }}class, metric, position
),
means AS (
  SELECT * FROM means_of_classes
  UNION ALL
  SELECT {{ by }}NULL, metric, position, {% for column in columns %}{{ nbsql.word(column) }}, {% endfor %}standard_error
  FROM means_of_classes
  WHERE class = (SELECT {{ nbsql.maximum(nbsql.word('class')) }} FROM {{ nbsql.all_classes() }} HAVING count(*) = 2)
)
{%- endmacro %}
