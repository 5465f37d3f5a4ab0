{#
  How sure the numbers of an evaluation are: queries on `judged` (evaluate.sql). A weight w counts as w rows.

    accuracy, recall, precision  a share of n rows: the score interval (Wilson, Journal of the American Statistical Association 22, 1927)
    log_loss, brier              a mean over n rows: the mean and z times its standard error
    roc_auc                      how often a row of the class has a higher posterior than another: the standard error by the shares
                                 of the other side that each row beats (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988)

  z is the quantile of the normal distribution that leaves 2.5 % on each side, so that an interval holds the number of endless
  many such rows 95 times in 100. Rows are taken as drawn independently.
#}

{#
  A row a number: class (NULL for the whole), metric, value, standard_error, low, high. Those without an interval, since it is
  of one row or of none, have NULLs.
#}
{% macro intervals(judged) -%}
{% set z = nbsql.number(1.959963984540054) -%}
WITH {{ judged }},
{{ nbsql.points() }},
{{ nbsql.row_losses() }},
{{ nbsql.counted_shares() }},
{{ nbsql.mean_losses() }},
{{ nbsql.area_errors() }},
numbers AS (
  SELECT class, metric, position, hits / n AS value, sqrt(hits / n * (1 - hits / n) / n) AS standard_error, n AS of_rows FROM shares
  UNION ALL
  SELECT NULL, metric, position, value, standard_error, NULL FROM mean_losses
  UNION ALL
  SELECT class, 'roc_auc', 4, roc_auc, standard_error, NULL FROM area_errors
  UNION ALL
  SELECT NULL, 'roc_auc', 4, roc_auc, standard_error, NULL
  FROM area_errors
  WHERE class = (SELECT {{ nbsql.maximum(nbsql.word('class')) }} FROM known HAVING count(*) = 2)
),
bounded AS (
  SELECT
    *,
    CASE WHEN of_rows IS NULL THEN value ELSE (value + {{ z }} * {{ z }} / (2 * of_rows)) / (1 + {{ z }} * {{ z }} / of_rows) END AS middle,
    {{ z }} * CASE
      WHEN of_rows IS NULL THEN standard_error
      ELSE sqrt(standard_error * standard_error + {{ z }} * {{ z }} / (4 * of_rows * of_rows)) / (1 + {{ z }} * {{ z }} / of_rows)
    END AS reach
  FROM numbers
)
SELECT
  class,
  metric,
  value,
  standard_error,
  CASE WHEN middle - reach < 0 THEN 0 ELSE middle - reach END AS low,
  CASE WHEN metric NOT IN ('log_loss', 'brier') AND middle + reach > 1 THEN 1 ELSE middle + reach END AS high
FROM bounded
ORDER BY class ASC NULLS FIRST, position ASC NULLS LAST
{%- endmacro %}

{# shares: a row a class (NULL for the whole) and share: class, metric, position, hits of n rows. #}
{% macro counted_shares() -%}
shares AS (
  SELECT
    NULL AS class, 'accuracy' AS metric, 1 AS position, sum(CASE WHEN prediction = class THEN weight ELSE 0 END) AS hits, sum(weight) AS n
  FROM judged
  UNION ALL
  SELECT prediction, 'precision', 2, sum(CASE WHEN prediction = class THEN weight ELSE 0 END), sum(weight)
  FROM judged
  WHERE prediction IS NOT NULL
  GROUP BY prediction
  UNION ALL
  SELECT class, 'recall', 3, sum(CASE WHEN prediction = class THEN weight ELSE 0 END), sum(weight)
  FROM judged
  GROUP BY class
)
{%- endmacro %}

{# mean_losses: a row a loss: metric, position, value, and the standard error of this mean. #}
{% macro mean_losses() -%}
mean_losses AS (
  SELECT
    metric,
    position,
    max(mean) AS value,
    sqrt(sum(weight * (loss - mean) * (loss - mean)) / nullif(sum(weight) - 1, 0) / sum(weight)) AS standard_error
  FROM (
    SELECT *, sum(weight * loss) OVER (PARTITION BY metric) / sum(weight) OVER (PARTITION BY metric) AS mean
    FROM (
      SELECT 'log_loss' AS metric, 2 AS position, weight, log_loss AS loss FROM row_losses
      UNION ALL
      SELECT 'brier', 3, weight, brier / (SELECT CASE WHEN count(*) > 2 THEN 1 ELSE 2 END FROM known) FROM row_losses
    ) AS losses
  ) AS centred
  GROUP BY metric, position
)
{%- endmacro %}

{# area_errors: a row a class with rows on both sides: class, roc_auc and its standard error, from `points` (curves.sql). #}
{% macro area_errors() -%}
area_errors AS (
  SELECT
    class,
    max(roc_auc) AS roc_auc,
    sqrt(
      sum(positives * (beaten - roc_auc) * (beaten - roc_auc)) / nullif(max(all_positives) - 1, 0) / max(all_positives)
      + sum(negatives * (losing - roc_auc) * (losing - roc_auc)) / nullif(max(all_negatives) - 1, 0) / max(all_negatives)
    ) AS standard_error
  FROM (
    SELECT *, sum(positives * beaten) OVER (PARTITION BY class) / all_positives AS roc_auc
    FROM (
      SELECT
        *,
        (all_negatives - false_positives + negatives / 2) / all_negatives AS beaten,
        (true_positives - positives / 2) / all_positives AS losing
      FROM points
      WHERE all_positives > 0 AND all_negatives > 0
    ) AS placed
  ) AS areas
  GROUP BY class
)
{%- endmacro %}
