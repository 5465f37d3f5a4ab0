{#
  The smallest set of classes that contains the true class as often as asked for: the classes whose posterior reaches the score that the
  true class reached in so many rows (evaluation/calibration/conformal.sql).

  The scores are of the posteriors of the model itself. calibrated: whether `scored` is calibrated, and with it the prediction and its
  probability.

  share: the share of rows, in thousandths, whose set may miss the true class. by_class: whether this holds for each class, not only for
  all rows together; a class that the calibration has not seen is then in every set.

  Columns: those of the source, prediction, probability, prediction_set (a list of classes, in the order of the model; empty if no class
  reaches its score, which means "none of the known classes").
#}
{% macro predict_sets(model, scored, parameters, calibration, share, by_class, calibrated=false) -%}
{% set rows = scored if calibrated else nbsql.with_logs(model, scored) -%}
{% set k = nbsql.word('k') -%}
{% set label = nbsql.element(nbsql.word('nbsql_labels'), k) -%}
{% set reached = nbsql.element(nbsql.word('nbsql_lowest'), k) -%}
{% set held %}round(1000 * probability) >= {{ share }}{% endset -%}
{% set member -%}
CASE
      WHEN nbsql_highest > -{{ nbsql.infinity() }} AND greatest(x, {{ nbsql.lowest_score() }}) >= {{ reached }}
        THEN {{ nbsql.plain_label(label, model.spec.target_type) }}
    END
{%- endset -%}
SELECT
  {{ nbsql.passed_columns(model) }}{{ nbsql.plain_label(nbsql.word('source.nbsql_prediction'), model.spec.target_type) }} AS prediction,
  source.nbsql_probability AS probability,
  source.nbsql_set AS prediction_set
FROM (
  SELECT *, {{ nbsql.without_nulls(nbsql.list_mapped(nbsql.word('nbsql_logs'), member, 'x', 'k')) }} AS nbsql_set
  FROM {{ nbsql.subquery(nbsql.with_posteriors(model, rows, parameters)) | indent(2) }} AS posteriors
  CROSS JOIN (
    {{ nbsql.scores_to_reach(model, parameters, calibration, 'conformal', held, by_class, nbsql.lowest_score()) | indent(4) }}
  ) AS scores
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS source{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}
