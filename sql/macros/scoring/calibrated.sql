{#
  The posteriors of a calibrated model, from the calibration that nbsql/evaluation/calibration.py has fitted.

    temperature  q_k = p_k^(1/T) / sum over j of p_j^(1/T)                            (Guo et al. 2017)
    platt        q_k in proportion to 1 / (1 + exp(-(slope_k x_k + intercept_k)))      (Platt 1999)
    isotonic     q_k in proportion to a rising function of x_k, linear between knots   (Zadrozny and Elkan 2002)
    conformal    q_k = p_k: it determines the classes of a set (sets.sql) and leaves the posteriors as they are
    certain      q_k = p_k: it determines which predictions are certain (certain.sql)

  x_k = ln(p_k / (1 - p_k)) is the log-odds of class k against the rest. platt and isotonic are normalised to sum to 1; if all of them are
  0, all classes are equally probable, as in scikit-learn. A class that the model rules out (p_k = 0) stays ruled out, and one that is
  certain stays certain.
#}

{#
  `scored` (predict.sql) with calibrated posteriors: its joint log-likelihoods are then ln q_k, relative to a highest one of 0. A row that
  no class explains is unchanged. In a tie the smaller label wins. nbsql_logs and nbsql_log_evidence are those of the model itself.
#}
{% macro calibrated_scores(model, scored, parameters, calibration, method) -%}
{% set explained %}CASE WHEN nbsql_highest > -{{ nbsql.infinity() }} THEN{% endset -%}
{% set posteriors = nbsql.word('nbsql_calibrated') -%}
{% set best = nbsql.list_place(posteriors, nbsql.list_highest(posteriors)) -%}
{% set prediction %}{{ explained }} {{ nbsql.element(nbsql.word('nbsql_labels'), best) }} END{% endset -%}
{% set probability %}{{ explained }} {{ nbsql.list_highest(posteriors) }} END{% endset -%}
{% set highest %}{{ explained }} 0 ELSE nbsql_highest END{% endset -%}
{% set found = namespace(joints=[]) -%}
{% for k in model.form.class_numbers -%}
{% set name %}nbsql_joint_{{ k }}{% endset -%}
{% set joint %}{{ explained }} {{ nbsql.element(nbsql.word('nbsql_replaced'), k) }} ELSE {{ name }} END{% endset -%}
{% set found.joints = found.joints + [(name, joint)] -%}
{% else -%}
{% set joints %}{{ explained }} nbsql_replaced ELSE nbsql_joints END{% endset -%}
{% set found.joints = [(nbsql.word('nbsql_joints'), joints)] -%}
{% endfor -%}
SELECT
  {{ nbsql.replace_columns(model, found.joints + [
    (nbsql.word('nbsql_prediction'), prediction),
    (nbsql.word('nbsql_probability'), probability),
    (nbsql.word('nbsql_highest'), highest),
    (nbsql.word('nbsql_relative_evidence'), nbsql.unit_weight())
  ], ['nbsql_logs']) | indent(2) }}
FROM {{ nbsql.with_columns(
  nbsql.calibrated_posteriors(nbsql.with_logs(model, scored), calibration, method),
  [('nbsql_replaced', nbsql.list_mapped(posteriors, nbsql.safe_ln(nbsql.word('q')), 'q'))], 'source') }}
CROSS JOIN {{ nbsql.subquery(nbsql.labels_by_number(model, parameters)) }} AS labels
{%- endmacro %}

{# The rows of `scored` with nbsql_logs, the list of the log-posteriors by class number. #}
{% macro with_logs(model, scored) -%}
{% set log %}CASE WHEN x > -{{ nbsql.infinity() }} THEN {{ nbsql.log_posterior(nbsql.word('x')) }} ELSE x END{% endset -%}
(
  SELECT source.*, {{ nbsql.list_mapped(nbsql.list_of_joints(model), log) }} AS nbsql_logs FROM {{ scored }} AS source
)
{%- endmacro %}

{# The relation of rows with nbsql_logs, the log-posteriors, and nbsql_calibrated, the list of the q_k. #}
{% macro calibrated_posteriors(rows, calibration, method) -%}
{% set shares = nbsql.word('nbsql_shares') -%}
{% set equal %}{{ nbsql.unit_weight() }} / {{ nbsql.list_size(shares) }}{% endset -%}
{% set calibrated %}CASE WHEN nbsql_total > 0 THEN share / nbsql_total ELSE {{ equal }} END{% endset -%}
{% set rows = nbsql[method ~ '_shares'](rows, nbsql.current_calibration(calibration, method)) -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_total', nbsql.list_total(shares))]) -%}
{{ nbsql.with_columns(rows, [('nbsql_calibrated', nbsql.list_mapped(shares, calibrated, 'share'))]) }}
{%- endmacro %}

{#
  The rows of a calibration by a method, as a relation; an error if the model has another one by now. Only a query that somebody has kept
  can be out of date: a view, a script, or a statement that is prepared.
#}
{% macro current_calibration(calibration, method) -%}
{% set message = 'the calibration of the model has changed since this query was made; make it again' -%}
(
  SELECT calibration.*
  FROM {{ calibration }} AS calibration
  CROSS JOIN (
    SELECT count(*) AS found FROM {{ calibration }} AS calibration WHERE method = {{ nbsql.text(method) }}
  ) AS known
  WHERE CASE WHEN known.found > 0 THEN calibration.method = {{ nbsql.text(method) }}
    ELSE {{ nbsql.raise_error(message, nbsql.word('calibration.method')) }} END
)
{%- endmacro %}

{# The rows with nbsql_top, the highest of nbsql_logs, as a relation. #}
{% macro with_top(rows) -%}
{% set source %}{{ rows }} AS source{% endset -%}
{{ nbsql.with_columns(source, [('nbsql_top', nbsql.list_highest(nbsql.word('nbsql_logs')))]) }}
{%- endmacro %}

{#
  The relation of `rows` with nbsql_shares, the probabilities of the classes at the temperature, before normalisation. Those of the other
  methods follow. An engine may check the temperature before it asks for the method, and the others have none.
#}
{% macro temperature_shares(rows, calibration) -%}
{% set power %}(x - nbsql_top) / nbsql_temperature{% endset -%}
{% set message = 'the temperature of the model is not a number above 0; calibrate it again' -%}
{% set refusal = nbsql.raise_error(message, nbsql.word('method')) -%}
{% set cooled -%}
{{ nbsql.with_top(rows) }}
CROSS JOIN (
  SELECT temperature AS nbsql_temperature
  FROM {{ calibration | indent(2) }} AS calibration
  WHERE CASE
    WHEN method <> 'temperature' OR (temperature > 0 AND temperature < {{ nbsql.infinity() }}) THEN TRUE
    ELSE {{ refusal }}
  END
) AS calibration
{%- endset -%}
{{ nbsql.with_columns(cooled, [('nbsql_shares', nbsql.list_mapped(nbsql.word('nbsql_logs'), nbsql.exp(power)))]) }}
{%- endmacro %}

{# The probability of each class against the rest by Platt's line. #}
{% macro platt_shares(rows, calibration) -%}
{% set k = nbsql.word('k') -%}
{% set z %}({{ nbsql.element(nbsql.word('nbsql_slopes'), k) }} * x + {{ nbsql.element(nbsql.word('nbsql_intercepts'), k) }}){% endset -%}
{% set share -%}
CASE
    WHEN abs(x) = {{ nbsql.infinity() }} THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    ELSE {{ nbsql.logistic(z) }}
  END
{%- endset -%}
{% set lines -%}
{{ nbsql.log_odds(rows) }}
CROSS JOIN (
  SELECT
    {{ nbsql.ordered_list(nbsql.word('slope'), nbsql.word('class_no')) }} AS nbsql_slopes,
    {{ nbsql.ordered_list(nbsql.word('intercept'), nbsql.word('class_no')) }} AS nbsql_intercepts
  FROM {{ calibration | indent(2) }} AS calibration
) AS calibration
{%- endset -%}
{{ nbsql.with_columns(lines, [('nbsql_shares', nbsql.list_mapped(nbsql.word('nbsql_odds'), share, 'x', 'k'))]) }}
{%- endmacro %}

{# The posteriors. #}
{% macro conformal_shares(rows, calibration) -%}
{% set source %}{{ rows }} AS source{% endset -%}
{{ nbsql.with_columns(source, [('nbsql_shares', nbsql.list_mapped(nbsql.word('nbsql_logs'), nbsql.exp(nbsql.word('x'))))]) }}
{%- endmacro %}

{# The same. #}
{% macro certain_shares(rows, calibration) -%} {{ nbsql.conformal_shares(rows, calibration) }} {%- endmacro %}

{#
  The rising function of the odds, from nbsql_xs, nbsql_ys and nbsql_last, the knots of each class and the last one at or before its odds.
  A class without knots, none of whose scores were finite, keeps its posterior.
#}
{% macro default__isotonic_shares(rows, calibration) -%}
{% set k = nbsql.word('k') -%}
{% set xs, ys = nbsql.element(nbsql.word('nbsql_xs'), k), nbsql.element(nbsql.word('nbsql_ys'), k) -%}
{% set last_knot = nbsql.element(nbsql.word('nbsql_last'), k) -%}
{% set next_knot = last_knot ~ ' + 1' -%}
{% set share -%}
CASE
    WHEN abs(x) = {{ nbsql.infinity() }} THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    WHEN {{ xs }} IS NULL THEN {{ nbsql.logistic(nbsql.word('x')) }}
    WHEN {{ last_knot }} = 0 THEN {{ nbsql.element(ys, 1) }}
    WHEN {{ last_knot }} = {{ nbsql.list_size(xs) }} THEN {{ nbsql.element(ys, last_knot) }}
    ELSE {{ nbsql.element(ys, last_knot) }} + ({{ nbsql.element(ys, next_knot) }} - {{ nbsql.element(ys, last_knot) }})
      * ((x - {{ nbsql.element(xs, last_knot) }}) / ({{ nbsql.element(xs, next_knot) }} - {{ nbsql.element(xs, last_knot) }}))
  END
{%- endset -%}
{% set knots -%}
{{ nbsql.log_odds(rows) }}
CROSS JOIN (
  SELECT
    {{ nbsql.ordered_list(nbsql.word('xs'), nbsql.word('class_no')) }} AS nbsql_xs,
    {{ nbsql.ordered_list(nbsql.word('ys'), nbsql.word('class_no')) }} AS nbsql_ys,
    {{ nbsql.falling_powers() }} AS nbsql_jumps
  FROM (
    SELECT
      class_no,
      CASE WHEN count(score) > 0 THEN {{ nbsql.ordered_list(nbsql.word('score'), nbsql.word('score')) }} END AS xs,
      {{ nbsql.ordered_list(nbsql.word('probability'), nbsql.word('score')) }} AS ys
    FROM {{ calibration | indent(4) }} AS calibration
    GROUP BY class_no
  ) AS knots
) AS calibration
{%- endset -%}
{% set odds = nbsql.word('nbsql_odds') -%}
{% set rows = nbsql.with_columns(knots, [('nbsql_last', nbsql.list_mapped(odds, nbsql.last_knot(xs), 'x', 'k'))]) -%}
{{ nbsql.with_columns(rows, [('nbsql_shares', nbsql.list_mapped(odds, share, 'x', 'k'))]) }}
{%- endmacro %}

{#
  The relation of rows with nbsql_logs and nbsql_odds, the list of ln(p_k / (1 - p_k)), without cancellation: for the most probable class,
  1 - p_k is the sum over the others.
#}
{% macro log_odds(rows) -%}
{% set logs = nbsql.word('nbsql_logs') -%}
{% set below_top %}x - nbsql_top{% endset -%}
{% set below_second %}x - nbsql_second{% endset -%}
{% set odds -%}
CASE
    WHEN x = -{{ nbsql.infinity() }} THEN x
    WHEN k <> nbsql_best THEN x - nbsql_top - ln(nbsql_sum - {{ nbsql.exp(below_top) }})
    WHEN nbsql_second > -{{ nbsql.infinity() }} THEN x - nbsql_second - ln(nbsql_rest)
    ELSE {{ nbsql.infinity() }}
  END
{%- endset -%}
{% set rest %}CASE WHEN k = nbsql_best THEN 0 ELSE {{ nbsql.exp(below_second) }} END{% endset -%}
{% set others %}CASE WHEN k = nbsql_best THEN -{{ nbsql.infinity() }} ELSE x END{% endset -%}
{% set rows = nbsql.with_columns(nbsql.with_top(rows), [('nbsql_best', nbsql.list_place(logs, nbsql.word('nbsql_top')))]) -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_second', nbsql.list_highest(nbsql.list_mapped(logs, others, 'x', 'k')))]) -%}
{% set rows = nbsql.with_columns(rows, [
  ('nbsql_sum', nbsql.list_total(nbsql.list_mapped(logs, nbsql.exp(below_top)))),
  ('nbsql_rest', nbsql.list_total(nbsql.list_mapped(logs, rest, 'x', 'k')))
]) -%}
{{ nbsql.with_columns(rows, [('nbsql_odds', nbsql.list_mapped(logs, odds, 'x', 'k'))], 'odds') }}
{%- endmacro %}
