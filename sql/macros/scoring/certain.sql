{#
  Predictions of the rows that are certain enough, for as many of them to be right as asked for; the others have none, and the reason.

  A row is certain enough if the log-odds of its most probable class against the rest reach the lowest threshold that promises `certain`
  (evaluation/calibration/certain.sql). They are those of the model itself, and so is the most probable class. calibrated: whether `scored`
  is calibrated, and with it the probability. by_class: whether the promise holds for the rows of each predicted class.

  Columns: those of the source, prediction, probability (its posterior), reason. The first two are NULL if the row is not certain enough;
  the reason is NULL if it is, and else names the two most probable classes.
#}
{% macro predict_certain(model, scored, parameters, calibration, certain, by_class, calibrated=false) -%}
{% set rows = scored if calibrated else nbsql.with_logs(model, scored) -%}
{% set highest %}{{ nbsql.number(1e300) }}{% endset -%}
{% set promised %}probability >= {{ nbsql.number(certain) }}{% endset -%}
{% set winner = nbsql.word('source.nbsql_winner') -%}
{% set label = nbsql.element(nbsql.word('source.nbsql_labels'), winner) -%}
SELECT
  {{ nbsql.passed_columns(model) }}CASE WHEN source.nbsql_certain THEN {{
    nbsql.plain_label(label, model.spec.target_type) }} END AS prediction,
  CASE WHEN source.nbsql_certain THEN {{ nbsql.posterior_at('nbsql_winner') }} END AS probability,
  CASE
    WHEN source.nbsql_certain THEN NULL
    WHEN source.nbsql_log_evidence > -{{ nbsql.infinity() }} THEN {{ nbsql.two_most_probable() }}
    ELSE 'no class explains it'
  END AS reason
FROM (
  SELECT
    *,
    nbsql_log_evidence > -{{ nbsql.infinity() }} AND nbsql_certainty >= {{
      nbsql.element(nbsql.word('nbsql_lowest'), nbsql.word('nbsql_winner')) }} AS nbsql_certain
  FROM (
    {% set certainties %}(SELECT * FROM {{ nbsql.with_certainty(rows) }}){% endset %}
    {{ nbsql.with_posteriors(model, certainties, parameters) | indent(4) }}
  ) AS posteriors
  CROSS JOIN (
    {{ nbsql.scores_to_reach(model, parameters, calibration, 'certain', promised, by_class, highest) | indent(4) }}
  ) AS scores
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS source{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}

{#
  The relation of rows with nbsql_logs, the log-posteriors up to a constant per row, and nbsql_winner and nbsql_runner_up, the numbers of
  the two most probable classes, and nbsql_certainty, the log-odds of the first against all others, to nine digits, so that equal rows are
  equal in every query, and at most a thousand million, where no other class is possible.
#}
{% macro with_certainty(rows) -%}
{% set rivals = nbsql.word('nbsql_rivals') -%}
{% set second = nbsql.element(nbsql.word('nbsql_logs'), nbsql.word('nbsql_runner_up')) -%}
{% set below_second %}x - {{ second }}{% endset -%}
{% set odds -%}
({{ nbsql.element(nbsql.word('nbsql_logs'), nbsql.word('nbsql_winner')) }} - {{ second }}
      - ln({{ nbsql.list_total(nbsql.list_mapped(rivals, nbsql.exp(below_second), 'x')) }}))
{%- endset -%}
{% set certainty -%}
CASE WHEN {{ second }} > -{{ nbsql.infinity() }}
  THEN least({{ nbsql.measure_sort_key(odds) }} / {{ nbsql.number(1e9) }}, {{ nbsql.number(1e9) }})
  ELSE {{ nbsql.number(1e9) }}
END
{%- endset -%}
{% set source %}{{ rows }} AS source{% endset -%}
{% set lowest %}-{{ nbsql.infinity() }}{% endset -%}
{{ nbsql.with_columns(nbsql.with_two_best(source, nbsql.word('nbsql_logs'), lowest), [('nbsql_certainty', certainty)]) }}
{%- endmacro %}

{#
  The relation of rows with the numbers of their two most probable classes, nbsql_winner and nbsql_runner_up. scores: a list by class
  number, which nbsql_rivals has with `lowest` in the place of the winner.
#}
{% macro with_two_best(rows, scores, lowest) -%}
{% set rivals = nbsql.word('nbsql_rivals') -%}
{% set rival %}CASE WHEN place = nbsql_winner THEN {{ lowest }} ELSE x END{% endset -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_winner', nbsql.list_place(scores, nbsql.list_highest(scores)))]) -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_rivals', nbsql.list_mapped(scores, rival, 'x', 'place'))]) -%}
{{ nbsql.with_columns(rows, [('nbsql_runner_up', nbsql.list_place(rivals, nbsql.list_highest(rivals)))], 'source') }}
{%- endmacro %}
