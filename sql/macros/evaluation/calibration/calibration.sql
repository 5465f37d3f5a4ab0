{#
  Calibration, fitted on scores of rows whose class is known. All of it reads two relations:

    rows    one row per row: class_no (the true class), weight, nbsql_logs (the list of ln p_k, by class_no)
    scores  one row per row and class: class_no, hit (whether it is the true class), score (the log-odds, finite), weight

  It makes one relation, `calibration`: method, class_no, class, temperature, slope, intercept, score, probability. temperature has one
  row, platt one row per class, isotonic one row per knot, conformal and certain one row per score. Columns that a method does not use are
  NULL.

  A method is a search in steps, each a table made from the one before (nbsql/evaluation/calibration.py). {method}_points is the input of
  every step (isotonic has none), {method}_start the first step, {method}_step the next one, and {method}_result the result of the last
  one. conformal has conformal_result alone, which reads `rows`. Those of certain have nbsql_known, too (with_knowledge).
#}

{#
  One row per judged row: class_no (of its class), weight, nbsql_logs (the list of the log-posteriors); and, if its relation has
  nbsql_known (with_knowledge), that. The rows are scored before they are filtered, or DuckDB would score them once more for the filter.
#}
{% macro calibration_rows(model, scored, parameters, weight, as_text, has_known=false) -%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('known')) }}
  known.class_no,
  judged.weight,
  {% if has_known %}
  judged.nbsql_known,
  {% endif %}
  judged.nbsql_logs
FROM (
  WITH outcomes AS {{ nbsql.materialized() }}(
    SELECT
      {{ nbsql.true_label(model, as_text) }} AS class,
      {% set size %}{% if weight is none %}1{% else %}source.{{ nbsql.ident(weight) }}{% endif %}{% endset %}
      CAST({{ size }} AS {{ nbsql.double() }}) AS weight,
      source.nbsql_highest,
      {% if has_known %}
      source.nbsql_known,
      {% endif %}
      source.nbsql_logs
    FROM {{ nbsql.with_logs(model, scored) | indent(4) }} AS source
  )
  SELECT * FROM outcomes
) AS judged
JOIN {{ nbsql.subquery(nbsql.known_classes(model, parameters, as_text)) }} AS known ON known.class = judged.class
WHERE judged.weight > 0 AND judged.nbsql_highest > -{{ nbsql.infinity() }}
{%- endmacro %}

{# One row per judged row and class: class_no, hit (whether it is the row's class), score (the log-odds), weight. #}
{% macro calibration_scores(rows) -%}
SELECT class_no, class_no = actual AS hit, score, weight
FROM (
  SELECT class_no AS actual, weight, {{ nbsql.unnested_with_places(nbsql.word('nbsql_odds'), 'class_no', 'score') }}
  FROM {{ nbsql.log_odds(rows) | indent(2) }}
) AS scores
WHERE abs(score) < {{ nbsql.infinity() }}
{%- endmacro %}

{# The columns of `calibration`, for the classes in the result of a method, or for none. kept: a relation with rows of it that stay. #}
{% macro calibration_table(model, parameters, method, result, kept=none) -%}
SELECT
  {{ nbsql.text(method) }} AS method,
  classes.class_no,
  classes.class,
  {%+ if method == 'temperature' %}1 / found.slope{% else %}CAST(NULL AS {{ nbsql.double() }}){%+ endif %} AS temperature,
  {% if method == 'platt' %}
  coalesce(found.slope, 1) AS slope,
  coalesce(found.intercept, 0) AS intercept,
  {% else %}
  {{ nbsql.null_columns(['slope', 'intercept']) | indent(2) }},
  {% endif %}
  {% if method in ['isotonic', 'conformal', 'certain'] %}
  found.score,
  found.probability
  {% else %}
  {{ nbsql.null_columns(['score', 'probability']) | indent(2) }}
  {% endif %}
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
{% if method == 'temperature' %}
RIGHT JOIN {{ result }} AS found ON FALSE
{%- elif method in ['conformal', 'certain'] %}
RIGHT JOIN {{ result }} AS found ON found.class_no = classes.class_no
{%- else %}
LEFT JOIN {{ result }} AS found ON found.class_no = classes.class_no
{%- endif %}
{%- if kept is not none +%}
UNION ALL
SELECT * FROM {{ kept }} AS kept
{%- endif +%}
ORDER BY class_no ASC NULLS LAST, score ASC NULLS LAST
{%- endmacro %}

{#
  The rows of a calibration that another one by this method leaves: one of posteriors, one of sets of classes, and one of certain
  predictions go side by side.
#}
{% macro calibration_beside(calibration, method) -%}
SELECT *
FROM {{ calibration }} AS calibration
WHERE method {% if method in ['conformal', 'certain'] %}<> {{ nbsql.text(method) }}{% else %}IN ('conformal', 'certain'){% endif +%}
{%- endmacro %}

{# The rows of a calibration by one method, as a relation. #}
{% macro calibration_by(calibration, method) -%}
(
  SELECT * FROM {{ calibration }} AS calibration WHERE method = {{ nbsql.text(method) }}
)
{%- endmacro %}

{# One row, the quality of the posteriors before and after calibration: rows, weight, log_loss, calibrated_log_loss (as in evaluate.sql). #}
{% macro calibration_losses(rows, calibration, method) -%}
{% set class_no = nbsql.word('class_no') -%}
{% set log = nbsql.element(nbsql.word('nbsql_logs'), class_no) -%}
{% set calibrated = nbsql.element(nbsql.word('nbsql_calibrated'), class_no) -%}
SELECT
  count(*) AS rows,
  sum(weight) AS weight,
  sum(weight * {{ nbsql.log_loss_of(nbsql.exp(log)) }}) / sum(weight) AS log_loss,
  sum(weight * {{ nbsql.log_loss_of(calibrated) }}) / sum(weight) AS calibrated_log_loss
FROM {{ nbsql.calibrated_posteriors(rows, calibration, method) }}
{%- endmacro %}
