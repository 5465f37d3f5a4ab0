{#
  A model watched over time: what the rows of each period are like beside a reference, and how well the model does on them. A row a period,
  feature (NULL for the whole), class (NULL but for shares of the classes) and metric:

    period, feature, class, metric, value
    reference  the same of the reference rows; without any, what the model's counts say of it, or NULL where they cannot
    moved      of a psi: the value that adds most to it
    by_chance  of a psi: what as many rows would show if nothing had moved (drift.sql)

  Of a feature:

    psi      the population stability index of its values against those of the reference, as drift.sql has it: of categories, tokens and
             bins by their counts; of numbers against the counts of the model by the distributions of their family that have the moments
             of the two sides, and against reference rows by counts of bins, each with a tenth of these rows; of columns that share a
             covariance matrix that of the column that moved most; NULL of a feature that is the period itself
    nulls    the share of the rows in which it is missing
    unseen   the share of its values, of a text of its words, that the model has never met

  Of the whole:

    rows           how many, whatever they weigh
    log_evidence   the mean of ln p(x) over the rows that some class explains; NULL of a model that has none
    unexplained    the share of the rows that no class explains
    psi            that of the score: counts of predictions with the bin of their probability, by tenths of the reference rows. The
                   counts of a model do not say how its probabilities are distributed, so that it is NULL without such rows
    posterior_psi  that of the mean posteriors: against the priors, of which they are the mean where rows are distributed as the model
                   believes, or against those of the reference rows; what it shows by chance is at most by_chance
    label_psi      that of the labels, against the classes of the model, or the labels of the reference rows
    labelled       the share of the rows whose class is known; of these
    unknown        the share whose class the model does not know
    accuracy, log_loss  as in evaluate.sql

  Of a class: predicted, posterior and actual, the share of the rows with that prediction, the mean posterior, and the share of the labels.

  All shares and means are by weight. A row whose weight is no number above 0 counts for nothing.
#}

{#
  The rows to compare: columns of the sources, nbsql_period and the weight of each row, nbsql_weight. A period is 'p' and its text, 'n'
  where it is NULL, and 'r' for rows of the reference.

  sides: of each (relation, columns, the expression of the period or none, whether they are the reference). names: of the columns in the
  result; the label, whose type is given, is none of the columns of a side without labels.
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
{%- if weight is not none %}

WHERE NOT {{ nbsql.breaks_weight(weight) }} AND source.{{ nbsql.ident(weight) }} > 0
{%- endif %}
{%- if not loop.last %}

UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}

{# Of monitored rows: as they are counted, of one class and by period. #}
{% macro rows_of_one_class(rows) -%}
(
  SELECT source.*, source.nbsql_period AS nbsql_slice, 1 AS nbsql_all FROM {{ rows }} AS source
)
{%- endmacro %}

{# `scored` (predict.sql) with the whole evidence of each row, nbsql_evidence. #}
{% macro with_evidence(model, scored) -%}
(
  SELECT
    source.*,
    {% set evidence %}source.nbsql_log_evidence{{ nbsql.and_common(model) }}{% endset %}
    {%+ if model.is_logistic %}{{ nbsql.nullable_double(none) }}{% else %}{{ evidence }}{%+ endif %} AS nbsql_evidence
  FROM {{ scored }} AS source
)
{%- endmacro %}

{#
  counted: the model as it counts monitored rows: by nbsql_slice, and all of one class, nbsql_all. rows: those rows, a query. judged: what
  judges them (evaluate.sql), under the name that `monitored` has. statistics, priors: of the model. as_text: of its labels.
  tied: the feature that is the period itself, if one is. score: where there are reference rows, the edges and labels of the bins of a
  probability.
#}
{% macro monitor(counted, rows, judged, statistics, priors, as_text, tied=none, score=none) -%}
{% set features, monitored = counted.features, nbsql.inline_name('monitored') -%}
{% set valued = features | selectattr('family.level') | list + features | selectattr('family.bag') | list -%}
{% set valued = valued | rejectattr('family.name', 'in', ['binned', 'kernel']) | list -%}
{% set no_text %}CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
WITH {{ monitored }} AS {{ nbsql.materialized() }}(
  {{ rows | indent(2) }}
),
{{ judged }},
counted AS {{ nbsql.materialized() }}(
  {{ nbsql.cells(counted, nbsql.rows_of_one_class(monitored)) | indent(2) }}
),
learnt AS {{ nbsql.materialized() }}(
  {{ nbsql.folded_cells(statistics, '1') | indent(2) }}
),
slices AS {{ nbsql.materialized() }}(
  SELECT DISTINCT nbsql_period AS slice FROM {{ monitored }} AS monitored
),
{{ nbsql.monitored_totals() }},
{{ nbsql.compared_counts(features, priors, score) }},
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
        ['rows', 'log_evidence', 'unexplained', 'labelled', 'unknown', 'accuracy', 'log_loss']) | indent(6) }}
    FROM overall
  ) AS of_rows
  {%- if features %}

  UNION ALL
  SELECT slice, feature{{ nbsql.binary() }}, NULL, 'nulls', value
  FROM (
    {{ nbsql.missing_shares(features, monitored) | indent(4) }}
  ) AS missing
  {%- endif %}
  {%- if valued %}

  UNION ALL
  {% set values %}sum(b){% endset %}
  SELECT slice, feature, NULL, 'unseen', sum(CASE WHEN seen > 0 THEN 0 ELSE b END) / {{ nbsql.divisor(values) }}
  FROM compared
  WHERE feature IN ({{ nbsql.feature_names(valued) }})
  GROUP BY slice, feature
  {%- endif %}

),
found AS (
  SELECT slice, feature, class, metric, value, {{ nbsql.nullable_double(none) }} AS reference, {{ no_text }} AS moved,
    {{ nbsql.nullable_double(none) }} AS by_chance
  FROM measured
  UNION ALL
  SELECT slices.slice, feature, class, metric, NULL, value, NULL, NULL
  FROM (
    {{ nbsql.reference_values(features, valued, priors, as_text, score) | indent(4) }}
  ) AS of_reference
  CROSS JOIN slices
  UNION ALL
  SELECT slice, feature, NULL, metric, psi, NULL, CASE WHEN psi IS NOT NULL THEN moved END, by_chance
  FROM (
    {{ nbsql.monitored_divergences(features) | indent(4) }}
  ) AS divergences
  {%- if tied is not none %}

  WHERE feature IS NULL OR feature <> {{ nbsql.text(tied) }}
  {%- endif %}

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
{{ nbsql.in_order_of_periods() }}
{%- endmacro %}

{# Sorted by period, as numbers where they are, then the whole before its features and classes. #}
{% macro in_order_of_periods() -%}
ORDER BY
  {{ nbsql.as_number(nbsql.word('period')) }} ASC NULLS LAST,
  period ASC NULLS LAST,
  feature ASC NULLS FIRST,
  class ASC NULLS FIRST,
  metric ASC NULLS LAST
{%- endmacro %}

{% macro monitored_in_order(monitored) -%}
SELECT * FROM {{ monitored }} AS monitored
{{ nbsql.in_order_of_periods() }}
{%- endmacro %}

{#
  The rows of what is monitored that are outside of limits, pairs of a metric and a number: its columns, outermost (the limit), and side
  ("over" or "under").
#}
{% macro outside_limits(monitored, over, under) -%}
{% set limits = namespace(of_sides=[]) -%}
{% for metric, limit in over %}{% set limits.of_sides = limits.of_sides + [(metric, limit, 'over')] %}{% endfor -%}
{% for metric, limit in under %}{% set limits.of_sides = limits.of_sides + [(metric, limit, 'under')] %}{% endfor -%}
SELECT *
FROM (
  {% for metric, limit, side in limits.of_sides %}
  SELECT monitored.*, {{ nbsql.number(limit) }} AS outermost, {{ nbsql.text(side) }} AS side
  FROM {{ monitored }} AS monitored
  WHERE metric = {{ nbsql.text(metric) }} AND value {% if side == 'over' %}>{% else %}<{% endif %} {{ nbsql.number(limit) }}
  {%- if not loop.last %}

  UNION ALL
  {% endif %}

  {% endfor %}
) AS outside
{{ nbsql.in_order_of_periods() }}
{%- endmacro %}

{#
  Common table expressions: overall, a row a slice: the numbers of the whole; of_classes, a row a slice and class, those that the
  model does not know too: predicted, posterior and actual, by weight; and shares_of_classes, the same as shares.
#}
{% macro monitored_totals() -%}
{% set explained %}CASE WHEN nbsql_evidence > -{{ nbsql.infinity() }} THEN{% endset -%}
{% set of_evidence %}sum({{ explained }} weight END){% endset -%}
{% set place %}classes.class_no{% endset -%}
{% set posteriors %}outcomes.posteriors{% endset -%}
totals AS {{ nbsql.materialized() }}(
  SELECT
    nbsql_period AS slice,
    count(*) AS rows,
    sum(weight) AS weight,
    sum(CASE WHEN class IS NOT NULL THEN weight ELSE 0 END) AS labelled,
    sum(CASE WHEN prediction IS NOT NULL THEN weight ELSE 0 END) AS explained,
    sum({{ explained }} weight * nbsql_evidence END) / {{ nbsql.divisor(of_evidence) }} AS log_evidence
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
    CAST(totals.rows AS {{ nbsql.double() }}) AS rows,
    totals.log_evidence,
    1 - totals.explained / totals.weight AS unexplained,
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
    sum(outcomes.weight * coalesce({{ nbsql.element(posteriors, place) }}, 0)) AS posterior,
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
    {% set explained %}totals.explained{% endset %}
    {% set labelled %}totals.labelled{% endset %}
    of_classes.posterior / {{ nbsql.divisor(explained) }} AS posterior,
    of_classes.actual / {{ nbsql.divisor(labelled) }} AS actual
  FROM of_classes
  JOIN totals ON totals.slice = of_classes.slice
)
{%- endmacro %}
