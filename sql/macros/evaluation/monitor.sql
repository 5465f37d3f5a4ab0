{#
  A model watched over time: the rows of each period compared with a reference, and the quality of the model on them. One row per period,
  feature (NULL for all features), class (NULL except for shares of the classes) and metric:

    period, feature, class, metric, value
    reference  the same metric of the reference rows; without such rows, of the model's counts, or NULL if they do not determine it
    moved      of a psi: the value that adds most to it
    by_chance  of a psi: its expected value for as many rows if nothing has moved (drift.sql)

  Metrics of a feature:

    psi      the population stability index of its values against those of the reference, as in drift.sql: for categories, tokens and
             bins by their counts; for numbers against the counts of the model by the distributions of their family with the moments
             of the two sides, and against reference rows by counts of bins, each with a tenth of these rows; for columns that share a
             covariance matrix that of the column that moved most, by its moments; NULL for a feature that is the period itself
    nulls    the share of the rows in which it is missing
    unseen   the share of its values, or of the words of a text, that the model has never seen

  Metrics of all features together:

    rows           the number of rows, whatever their weight
    log_evidence   the mean of ln p(x) over the rows that some class explains; NULL if the model has no evidence
    unexplained    the share of the rows that no class explains
    expected_accuracy  the mean probability of the predictions, 0 where there is none: the accuracy if posteriors are as right as they say,
                   for which no label is needed
    psi            that of the score: counts of predictions with the bin of their probability, by tenths of the reference rows. NULL
                   without such rows, because the counts of a model do not determine how its probabilities are distributed
    posterior_psi  that of the mean posteriors: against the priors, which are their mean if rows are distributed as the model
                   believes, or against those of the reference rows; by chance it is at most by_chance
    label_psi      that of the labels, against the classes of the model, or the labels of the reference rows
    labelled       the share of the rows whose class is known; among these
    unknown        the share whose class the model does not know
    accuracy, log_loss  as in evaluate.sql

  Metrics of a class: predicted, posterior and actual, the share of the rows with that prediction, the mean posterior, and the share of
  the labels.

  All shares and means are weighted. A row whose weight is not a number above 0 counts for nothing.
#}

{#
  The rows to compare: columns of the sources, nbsql_period, and nbsql_weight, the weight of each row. A period is 'p' followed by its
  text, 'n' if it is NULL, and 'r' for reference rows.

  sides: for each one (relation, columns, the expression of the period or none, whether it is the reference). names: the columns of the
  result. The label, whose type is given, is not among the columns of a side without labels.
#}
{% macro monitored_rows(sides, names, type_of_label, weight) -%}
{% for relation, columns, by, is_reference in sides -%}
SELECT
  {% for column in columns %}
  {% set label %}CAST(NULL AS {{ type_of_label }}){% endset %}
  {%+ if column is none %}{{ label }}{% else %}source.{{ nbsql.ident(column) }}{%+ endif %} AS {{ nbsql.ident(names[loop.index0]) }},
  {% endfor %}
  {% if is_reference %}
  CAST('r' AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_period,
  {% elif by is none %}
  CAST('n' AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_period,
  {% else %}
  CASE WHEN source.nbsql_slice IS NULL THEN 'n' ELSE 'p' || source.nbsql_slice END{{ nbsql.binary() }} AS nbsql_period,
  {% endif %}
  {% set size %}{% if weight is none %}{{ nbsql.unit_weight() }}{% else %}source.{{ nbsql.ident(weight) }}{% endif %}{% endset %}
  CAST({{ size }} AS {{ nbsql.double() }}) AS nbsql_weight
FROM {% if by is none %}{{ relation }}{% else %}{{ nbsql.with_slices(relation, by) }}{% endif %} AS source
{%- if weight is not none +%}
WHERE NOT {{ nbsql.breaks_weight(weight) }} AND source.{{ nbsql.ident(weight) }} > 0
{%- endif %}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  The monitored rows as they are counted: of one class and sliced by period. columns: those of the rows. bounded: features, whose numbers
  outside of their distribution are missing here, because they are compared apart.
#}
{% macro rows_by_period(rows, columns=none, bounded=[]) -%}
(
  SELECT
    {% if bounded %}
    {% for column in columns + ['nbsql_period', 'nbsql_weight'] %}
    {% set of_column = bounded | selectattr('column', 'equalto', column) | list %}
    {% set x %}source.{{ nbsql.ident(column) }}{% endset %}
    {% if of_column %}
    CASE WHEN {{ nbsql.is_outside(of_column[0]) }} THEN NULL ELSE {{ x }} END AS {{ nbsql.ident(column) }},
    {% else %}
    {{ x }},
    {% endif %}
    {% endfor %}
    {% else %}
    source.*,
    {% endif %}
    source.nbsql_period AS nbsql_slice,
    1 AS nbsql_all
  FROM {{ rows }} AS source
)
{%- endmacro %}

{# `scored` (predict.sql) with the complete evidence of each row, nbsql_evidence. #}
{% macro with_evidence(model, scored) -%}
(
  SELECT
    source.*,
    {% set evidence %}source.nbsql_log_evidence{{ nbsql.plus_common(model) }}{% endset %}
    {%+ if model.facts.has_weights %}{{ nbsql.nullable_double(none) }}{% else %}{{ evidence }}{%+ endif %} AS nbsql_evidence
  FROM {{ scored }} AS source
)
{%- endmacro %}

{#
  model: the model as it counts monitored rows: sliced by nbsql_slice, and with the single class nbsql_all. rows: a query of those rows;
  columns: the columns of the source in it.
  judged: the common table expressions that judge them (evaluate.sql), under the name of `monitored`. statistics, priors: of the model.
  as_text: whether its labels are compared as text. period_feature: the feature that is the period itself, if any. score: with reference
  rows, the edges and labels of the bins of a probability.
#}
{% macro default__monitor(model, rows, columns, judged, statistics, priors, as_text, period_feature=none, score=none) -%}
{% set features, monitored = model.facts.features, nbsql.inline_name('monitored') -%}
{% set value_features = features | selectattr('family.level') | list + features | selectattr('family.bag') | list -%}
{% set value_features = value_features | rejectattr('family.cell', 'in', ['bin', 'place']) | list -%}
{% set together = features | selectattr('family.kind', 'equalto', 'matrix') | list -%}
{% set bounded = features | selectattr('family.kind', 'equalto', 'density') | selectattr('family.rules') | list -%}
{% set no_text %}CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
WITH {{ monitored }} AS {{ nbsql.materialized() }}{{ nbsql.subquery(rows) }},
{{ judged }},
counted AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.cells(model, nbsql.rows_by_period(monitored, columns, bounded))) }},
learnt AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.folded_cells(statistics, '1')) }},
{% if bounded %}
outside AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.numbers_outside(bounded, monitored)) }},
{% endif %}
slices AS {{ nbsql.materialized() }}(
  SELECT DISTINCT nbsql_period AS slice FROM {{ monitored }} AS monitored
),
{{ nbsql.monitored_totals() }},
{{ nbsql.compared_counts(features, bounded, priors, score) }},
measured AS {{ nbsql.materialized() }}(
  SELECT slice, {{ no_text }} AS feature, class, metric{{ nbsql.binary() }} AS metric, value
  FROM (
    SELECT slice, class, {{ nbsql.metric_rows(['predicted', 'posterior', 'actual']) | indent(4) }}
    FROM shares_of_classes
  ) AS of_classes
  UNION ALL
  SELECT slice, NULL, NULL, metric{{ nbsql.binary() }}, value
  FROM (
    SELECT
      slice,
      {{ nbsql.metric_rows(
        ['rows', 'log_evidence', 'unexplained', 'expected_accuracy', 'labelled', 'unknown', 'accuracy', 'log_loss']) | indent(6) }}
    FROM overall
  ) AS of_rows
  {% if features %}
  UNION ALL
  SELECT slice, feature{{ nbsql.binary() }}, NULL, 'nulls', value
  FROM {{ nbsql.subquery(nbsql.missing_shares(features, monitored)) | indent(2) }} AS missing
  {% endif %}
  {% if value_features %}
  UNION ALL
  {% set values %}sum(b){% endset %}
  SELECT slice, feature, NULL, 'unseen', sum(CASE WHEN seen > 0 THEN 0 ELSE b END) / {{ nbsql.null_if_zero(values) }}
  FROM compared
  WHERE feature IN ({{ nbsql.feature_names(value_features) }})
  GROUP BY slice, feature
  {% endif %}
),
found AS (
  SELECT slice, feature, class, metric, value, {{ nbsql.nullable_double(none) }} AS reference, {{ no_text }} AS moved,
    {{ nbsql.nullable_double(none) }} AS by_chance
  FROM measured
  UNION ALL
  SELECT slices.slice, feature, class, metric, NULL, value, NULL, NULL
  FROM {{ nbsql.subquery(nbsql.reference_values(features, value_features, priors, as_text, score)) | indent(2) }} AS of_reference
  CROSS JOIN slices
  UNION ALL
  {% set keys, compared = ['metric', 'slice', 'feature'], nbsql.word('compared') %}
  {% set expected %}{% if score %}(SELECT * FROM counted WHERE slice = 'r'){% else %}learnt{% endif %}{% endset %}
  {% set metric %}CAST('psi' AS {{ nbsql.string() }}){{ nbsql.binary() }} AS metric{% endset %}
  {% set sliced %}(SELECT cells.*, {{ metric }} FROM counted AS cells){% endset %}
  SELECT slice, feature, NULL, metric, psi, NULL, value, by_chance
  FROM {{ nbsql.subquery(nbsql.divergences(features, compared, expected, sliced, keys, together, bounded)) | indent(2) }} AS divergences
  WHERE n_a > 0 AND n_b > 0
  {%- if period_feature is not none %} AND (feature IS NULL OR feature <> {{ nbsql.text(period_feature) }}){% endif +%}
  -- where nothing can be compared, too
  UNION ALL
  SELECT slice, NULL, NULL, 'psi', NULL, NULL, NULL, NULL FROM slices
  UNION ALL
  {% for feature in features %}
  SELECT slice, {{ nbsql.text(feature.name) }}, NULL, 'psi', NULL, NULL, NULL, NULL FROM slices
  UNION ALL
  {% endfor %}
  SELECT slice, NULL, NULL, 'label_psi', NULL, NULL, NULL, NULL FROM slices
  UNION ALL
  SELECT slice, NULL, NULL, 'posterior_psi', NULL, NULL, NULL, NULL FROM slices
)
SELECT period, feature, class, metric, value, reference, moved, by_chance
FROM (
  SELECT
    {% set period %}CASE WHEN slice <> 'n' THEN substr(slice, 2) END{% endset %}
    {{ nbsql.as_label(period, 'text') }} AS period,
    {{ nbsql.as_label(nbsql.word('feature'), 'text') }} AS feature,
    class,
    {{ nbsql.as_label(nbsql.word('metric'), 'text') }} AS metric,
    max(value) AS value,
    max(reference) AS reference,
    max(moved) AS moved,
    max(by_chance) AS by_chance
  FROM found
  WHERE slice <> 'r'
  GROUP BY slice, feature, class, metric
) AS monitored
{{ nbsql.order_by_period() }}
{%- endmacro %}

{#
  Sorts by period, as numbers if they are numbers. Within a period the metrics of all features come before those of single features and
  classes.
#}
{% macro order_by_period(columns=none) -%}
ORDER BY
  {% if columns is none or 'period' in columns %}
  {{ nbsql.as_number(nbsql.word('period')) }} ASC NULLS LAST,
  period ASC NULLS LAST,
  {% endif %}
  {% for name in ['feature', 'class'] if columns is none or name in columns %}
  {{ nbsql.word(name) }} ASC NULLS FIRST,
  {% endfor %}
  metric ASC NULLS LAST
{%- endmacro %}

{# The rows of a monitoring in order. #}
{% macro sorted_monitoring(monitored) -%}
SELECT * FROM {{ monitored }} AS monitored
{{ nbsql.order_by_period() }}
{%- endmacro %}

{#
  The rows of a monitoring that violate limits, which are pairs of a metric and a number: its columns, outermost (the limit), and side
  ("over" or "under"). A figure that could not be computed violates its limit, except for those of labels in a period without labels, and
  the psi of the features `excused`, of which none is the score. strict: whether a limit of a metric without any value is a row, too, whose
  other columns are NULL. columns: those of the relation, which an evaluation has fewer of; none means those of a monitoring.
#}
{% macro outside_limits(monitored, over, under, excused=[none], strict=false, columns=none) -%}
{% set of_labels = ['accuracy', 'log_loss', 'unknown', 'label_psi', 'actual'] -%}
{% set limits = namespace(of_sides=[]) -%}
{% for metric, limit in over %}{% set limits.of_sides = limits.of_sides + [(metric, limit, 'over')] %}{% endfor -%}
{% for metric, limit in under %}{% set limits.of_sides = limits.of_sides + [(metric, limit, 'under')] %}{% endfor -%}
SELECT *
FROM (
  {% for metric, limit, side in limits.of_sides %}
  SELECT monitored.*, {{ nbsql.number(limit) }} AS outermost, {{ nbsql.text(side) }} AS side
  FROM {{ monitored }} AS monitored
  WHERE metric = {{ nbsql.text(metric) }} AND (value {% if side == 'over' %}>{% else %}<{% endif %} {{ nbsql.number(limit) }}
  {%- if metric not in of_labels %} OR value IS NULL
    {%- for feature in excused if metric == 'psi' %} AND feature IS {% if feature is none %}NOT NULL
    {%- else %}DISTINCT FROM {{ nbsql.text(feature) }}{% endif %}{% endfor %}
  {%- endif %})
  {% if strict %}
  UNION ALL
  SELECT monitored.*, {{ nbsql.number(limit) }}, {{ nbsql.text(side) }}
  FROM (SELECT 1 AS one) AS alone
  LEFT JOIN {{ monitored }} AS monitored ON FALSE
  WHERE NOT EXISTS (SELECT 1 FROM {{ monitored }} AS monitored WHERE metric = {{ nbsql.text(metric) }} AND value IS NOT NULL)
  {% endif %}
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor +%}
) AS outside
{{ nbsql.order_by_period(columns) }}
{%- endmacro %}

{#
  Common table expressions. overall: one row per slice, the metrics of all features together. of_classes: one row per slice and class,
  including classes that the model does not know: predicted, posterior and actual, by weight. shares_of_classes: the same as shares.
#}
{% macro monitored_totals() -%}
{% set explained %}CASE WHEN nbsql_evidence > -{{ nbsql.infinity() }} THEN{% endset -%}
{% set of_evidence %}sum({{ explained }} weight END){% endset -%}
totals AS {{ nbsql.materialized() }}(
  SELECT
    nbsql_period AS slice,
    count(*) AS rows,
    sum(weight) AS weight,
    sum(CASE WHEN class IS NOT NULL THEN weight ELSE 0 END) AS labelled,
    sum(CASE WHEN prediction IS NOT NULL THEN weight ELSE 0 END) AS explained,
    sum(weight * probability) AS expected,
    sum({{ explained }} weight * nbsql_evidence END) / {{ nbsql.null_if_zero(of_evidence) }} AS log_evidence
  FROM outcomes
  GROUP BY nbsql_period
),
{{ nbsql.row_losses() }},
of_labels AS (
  SELECT
    nbsql_period AS slice,
    sum(CASE WHEN class_no IS NULL THEN weight ELSE 0 END) / sum(weight) AS unknown,
    sum(CASE WHEN prediction = class THEN weight ELSE 0 END) / sum(weight) AS accuracy,
    sum(weight * log_loss) / sum(weight) AS log_loss
  FROM row_losses
  GROUP BY nbsql_period
),
overall AS (
  SELECT
    totals.slice,
    CAST(totals.rows AS {{ nbsql.double() }}) AS row_count,
    totals.log_evidence,
    1 - totals.explained / totals.weight AS unexplained,
    totals.expected / totals.weight AS expected_accuracy,
    totals.labelled / totals.weight AS labelled,
    of_labels.unknown,
    of_labels.accuracy,
    of_labels.log_loss
  FROM totals
  LEFT JOIN of_labels ON of_labels.slice = totals.slice
),
classes AS (
  SELECT class, class_no FROM known
  UNION ALL
  SELECT DISTINCT class, class_no FROM judged WHERE class_no IS NULL
),
of_classes AS {{ nbsql.materialized() }}(
  SELECT
    outcomes.nbsql_period AS slice,
    classes.class,
    sum(CASE WHEN outcomes.prediction = classes.class THEN outcomes.weight ELSE 0 END) AS predicted,
    sum(outcomes.weight * coalesce({{ nbsql.element(nbsql.word('outcomes.posteriors'), nbsql.word('classes.class_no')) }}, 0)) AS posterior,
    sum(CASE WHEN outcomes.class = classes.class THEN outcomes.weight ELSE 0 END) AS actual
  FROM outcomes
  CROSS JOIN classes
  GROUP BY outcomes.nbsql_period, classes.class
),
shares_of_classes AS (
  SELECT
    totals.slice,
    of_classes.class,
    of_classes.predicted / totals.weight AS predicted,
    of_classes.posterior / {{ nbsql.null_if_zero(nbsql.word('totals.explained')) }} AS posterior,
    of_classes.actual / {{ nbsql.null_if_zero(nbsql.word('totals.labelled')) }} AS actual
  FROM of_classes
  JOIN totals ON totals.slice = of_classes.slice
)
{%- endmacro %}
