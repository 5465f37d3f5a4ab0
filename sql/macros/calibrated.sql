{#
  The posteriors of a calibrated model: what nbsql/calibration.py has fitted, applied.

    temperature  q_k = p_k^(1/T) / sum over j of p_j^(1/T)                            (Guo et al. 2017)
    platt        q_k in proportion to 1 / (1 + exp(-(slope_k x_k + intercept_k)))      (Platt 1999)
    isotonic     q_k in proportion to a rising function of x_k, linear between knots   (Zadrozny and Elkan 2002)

  with x_k = ln(p_k / (1 - p_k)), the log-odds of class k against the rest. The last two are made to sum to 1; where all of them
  are 0, all classes are as probable, as in scikit-learn. What the model rules out (p_k = 0) stays out, what alone it leaves
  stays certain.
#}

{#
  `scored` (predict.sql) with calibrated posteriors: its joint log-likelihoods are then ln q_k, and its log evidence is 0. A row
  that no class can explain stays as it is. Ties go to the larger prior, then to the smaller label.
#}
{% macro calibrated(model, scored, parameters, calibration, method) -%}
SELECT
  source.* REPLACE (
    {% if model.class_numbers %}
    {% for k in model.class_numbers %}
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN nbsql_replaced[{{ k }}] ELSE nbsql_joint_{{ k }} END AS nbsql_joint_{{ k }},
    {% endfor %}
    {% else %}
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN nbsql_replaced ELSE nbsql_joints END AS nbsql_joints,
    {% endif %}
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN nbsql_labels[list_position(nbsql_calibrated, list_max(nbsql_calibrated))] END AS nbsql_prediction,
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN list_max(nbsql_calibrated) END AS nbsql_probability,
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN 0 ELSE nbsql_log_evidence END AS nbsql_log_evidence
  )
FROM (
  SELECT *, list_transform(nbsql_calibrated, lambda q: {{ nbsql.log(nbsql.word('q')) }}) AS nbsql_replaced
  FROM (
    {{ nbsql.calibrated_posteriors(nbsql.with_logs(model, scored), calibration, method) | indent(4) }}
  ) AS posteriors
) AS source
CROSS JOIN (
  SELECT list(class ORDER BY class_no) AS nbsql_labels
  FROM (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS classes
) AS labels
{%- endmacro %}

{# The rows of `scored` with nbsql_logs, a list of the joint log-likelihoods by the number of the class. #}
{% macro with_logs(model, scored) -%}
(
  SELECT
    source.*,
    {%+ if model.class_numbers %}[{% for k in model.class_numbers %}nbsql_joint_{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}]{% else %}nbsql_joints{%+ endif %} AS nbsql_logs
  FROM {{ scored }} AS source
)
{%- endmacro %}

{# Rows with nbsql_logs, the logarithms of the posteriors but for a constant a row, and nbsql_calibrated, the list of the q_k. #}
{% macro calibrated_posteriors(rows, calibration, method) -%}
SELECT
  *,
  list_transform(nbsql_shares, lambda share: CASE WHEN nbsql_total > 0 THEN share / nbsql_total ELSE 1 / len(nbsql_shares) END) AS nbsql_calibrated
FROM (
  SELECT *, list_sum(nbsql_shares) AS nbsql_total
  FROM (
    {{ nbsql[method ~ '_shares'](rows, calibration) | indent(4) }}
  ) AS shares
) AS totals
{%- endmacro %}

{% macro temperature_shares(rows, calibration) -%}
SELECT *, list_transform(nbsql_logs, lambda x: exp((x - nbsql_top) / nbsql_temperature)) AS nbsql_shares
FROM (
  SELECT *, list_max(nbsql_logs) AS nbsql_top FROM {{ rows }} AS source
) AS highest
CROSS JOIN (
  SELECT temperature AS nbsql_temperature FROM {{ calibration }} AS calibration
) AS calibration
{%- endmacro %}

{% macro platt_shares(rows, calibration) -%}
SELECT
  *,
  list_transform(nbsql_odds, lambda x, k: CASE
    WHEN isinf(x) THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    ELSE 1 / (1 + exp(-(nbsql_slopes[k] * x + nbsql_intercepts[k])))
  END) AS nbsql_shares
FROM (
  {{ nbsql.log_odds(rows) | indent(2) }}
) AS odds
CROSS JOIN (
  SELECT list(slope ORDER BY class_no) AS nbsql_slopes, list(intercept ORDER BY class_no) AS nbsql_intercepts
  FROM {{ calibration }} AS calibration
) AS calibration
{%- endmacro %}

{#
  The last knot at or before x is found by bisection, in jumps of falling powers of 2. A class without knots, none of whose
  scores were finite, keeps its posterior.
#}
{% macro isotonic_shares(rows, calibration) -%}
SELECT
  *,
  list_transform(nbsql_odds, lambda x, k: CASE
    WHEN isinf(x) THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    WHEN nbsql_xs[k] IS NULL THEN 1 / (1 + exp(-x))
    WHEN nbsql_last[k] = 0 THEN nbsql_ys[k][1]
    WHEN nbsql_last[k] = len(nbsql_xs[k]) THEN nbsql_ys[k][-1]
    ELSE nbsql_ys[k][nbsql_last[k]] + (nbsql_ys[k][nbsql_last[k] + 1] - nbsql_ys[k][nbsql_last[k]])
      * ((x - nbsql_xs[k][nbsql_last[k]]) / (nbsql_xs[k][nbsql_last[k] + 1] - nbsql_xs[k][nbsql_last[k]]))
  END) AS nbsql_shares
FROM (
  SELECT
    *,
    list_transform(nbsql_odds, lambda x, k: list_reduce(
      nbsql_jumps, lambda last, jump: last + CASE WHEN nbsql_xs[k][last + jump] <= x THEN jump ELSE 0 END, 0
    )) AS nbsql_last
  FROM (
    {{ nbsql.log_odds(rows) | indent(4) }}
  ) AS odds
  CROSS JOIN (
    SELECT
      list(xs ORDER BY class_no) AS nbsql_xs,
      list(ys ORDER BY class_no) AS nbsql_ys,
      list_reverse(list_transform(range(CAST(ceil(log2(max(len(xs)) + 1)) AS BIGINT)), lambda i: 1 << i)) AS nbsql_jumps
    FROM (
      SELECT
        class_no,
        list(score ORDER BY score) FILTER (WHERE score IS NOT NULL) AS xs,
        list(probability ORDER BY score) FILTER (WHERE score IS NOT NULL) AS ys
      FROM {{ calibration }} AS calibration
      GROUP BY class_no
    ) AS knots
  ) AS calibration
) AS found
{%- endmacro %}

{#
  Rows with nbsql_logs and nbsql_odds, the list of ln(p_k / (1 - p_k)), without cancellation: 1 - p_k of the most probable class
  is summed over the others.
#}
{% macro log_odds(rows) -%}
SELECT
  *,
  list_transform(nbsql_logs, lambda x, k: CASE
    WHEN x = -{{ nbsql.infinity() }} THEN x
    WHEN k <> nbsql_best THEN x - nbsql_top - ln(nbsql_mass - exp(x - nbsql_top))
    WHEN nbsql_second > -{{ nbsql.infinity() }} THEN x - nbsql_second - ln(nbsql_rest)
    ELSE {{ nbsql.infinity() }}
  END) AS nbsql_odds
FROM (
  SELECT
    *,
    list_sum(list_transform(nbsql_logs, lambda x: exp(x - nbsql_top))) AS nbsql_mass,
    list_sum(list_transform(nbsql_logs, lambda x, k: CASE WHEN k = nbsql_best THEN 0 ELSE exp(x - nbsql_second) END)) AS nbsql_rest
  FROM (
    SELECT *, list_max(list_transform(nbsql_logs, lambda x, k: CASE WHEN k = nbsql_best THEN -{{ nbsql.infinity() }} ELSE x END)) AS nbsql_second
    FROM (
      SELECT *, list_position(nbsql_logs, nbsql_top) AS nbsql_best
      FROM (
        SELECT *, list_max(nbsql_logs) AS nbsql_top FROM {{ rows }} AS source
      ) AS highest
    ) AS best
  ) AS second
) AS masses
{%- endmacro %}
