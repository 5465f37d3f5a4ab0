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
    psi            that of the score: counts of predictions with the bin of their probability, by tenths of the reference rows. The counts of
                   a model do not say how its probabilities are distributed, so that it is NULL without reference rows
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
  The rows to compare: columns of the sources, nbsql_period and the weight of each row, nbsql_weight. A period is 'p' and its text, 'n' where
  it is NULL, and 'r' for rows of the reference.

  sides: of each (relation, columns, the expression of the period or none, whether they are the reference). names: of the columns in the
  result; the label, whose type is given, is none of the columns of a side without labels.
#}
{% macro monitored_rows(sides, names, type_of_label, weight) -%}
{% for relation, columns, by, is_reference in sides -%}
SELECT
  {% for column in columns %}
  {%+ if column is none %}CAST(NULL AS {{ type_of_label }}){% else %}source.{{ nbsql.ident(column) }}{%+ endif %} AS {{ nbsql.ident(names[loop.index0]) }},
  {% endfor %}
  {% if is_reference %}
  CAST('r' AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_period,
  {% elif by is none %}
  CAST('n' AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_period,
  {% else %}
  CASE WHEN source.nbsql_slice IS NULL THEN 'n' ELSE 'p' || source.nbsql_slice END{{ nbsql.binary() }} AS nbsql_period,
  {% endif %}
  {%+ if weight is none %}{{ nbsql.unit_weight() }}{% else %}CAST(source.{{ nbsql.ident(weight) }} AS {{ nbsql.double() }}){%+ endif %} AS nbsql_weight
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
    {%+ if model.learnt %}{{ nbsql.nullable_double(none) }}{% else %}source.nbsql_log_evidence{{ nbsql.and_common(model) }}{%+ endif %} AS nbsql_evidence
  FROM {{ scored }} AS source
)
{%- endmacro %}

{#
  counted: the model as it counts monitored rows: by nbsql_slice, and all of one class, nbsql_all. rows: those rows, a query. judged: what
  judges them (evaluate.sql), under the name that `monitored` has. statistics, priors: of the model. as_text: of its labels.
  tied: the feature that is the period itself, if one is. score: where there are reference rows, the edges and labels of the bins of a probability.
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
    {{ nbsql.reference_values(features, priors, as_text, score) | indent(4) }}
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
  SELECT slice, feature, NULL, 'psi', NULL, NULL, NULL, NULL FROM measured WHERE metric IN ('nulls', 'rows')
  UNION ALL
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
  The rows of what is monitored that are outside of limits, pairs of a metric and a number: its columns, outermost (the limit), and side ("over" or "under").
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
  Common table expressions: slices; overall, a row a slice: the numbers of the whole; of_classes, a row a slice and class, those that the model
  does not know too: predicted, posterior and actual, by weight; and shares_of_classes, the same as shares.
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
slices AS (
  SELECT slice FROM totals
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

{#
  Common table expressions, the last being compared, a row a value of what is compared by counts: metric, slice, feature, value, a (its count in
  the reference), b (in the slice) and seen (in what the model has learnt).
#}
{% macro compared_counts(features, priors, score) -%}
{% set text %}{{ nbsql.string() }}{% endset -%}
{% set of_feature %}CAST('psi' AS {{ text }}){{ nbsql.binary() }} AS metric{% endset -%}
values_learnt AS {{ nbsql.materialized() }}(
  {{ nbsql.summed_values(nbsql.word('learnt'), features, false) | indent(2) }}
),
values_of_slices AS {{ nbsql.materialized() }}(
  {{ nbsql.summed_values(nbsql.word('counted'), features, true) | indent(2) }}
),
mixes AS {{ nbsql.materialized() }}(
  SELECT CAST('posterior_psi' AS {{ text }}){{ nbsql.binary() }} AS metric, slice, CAST(class AS {{ text }}){{ nbsql.binary() }} AS value, posterior AS n
  FROM of_classes
  UNION ALL
  SELECT 'label_psi', slice, CAST(class AS {{ text }}){{ nbsql.binary() }}, actual
  FROM of_classes
  {%- if score %}

  UNION ALL
  SELECT 'psi', nbsql_period, value, sum(weight)
  FROM (
    SELECT
      nbsql_period,
      CAST(prediction AS {{ text }}) || ' ' || {{ nbsql.bin_of('probability', nbsql.word('outcomes'), score[0], score[1]) }} AS value,
      weight
    FROM outcomes
  ) AS scores
  GROUP BY nbsql_period, value
  {%- endif %}

),
compared AS {{ nbsql.materialized() }}(
  SELECT metric, slice, feature, value, sum(a) AS a, sum(b) AS b, sum(seen) AS seen
  FROM (
    SELECT {{ of_feature }}, slice, feature, value, {{ nbsql.number(0) }} AS a, n AS b, {{ nbsql.number(0) }} AS seen FROM values_of_slices
    UNION ALL
    SELECT 'psi', slices.slice, feature, value, {% if score %}0{% else %}n{% endif %}, 0, n FROM values_learnt CROSS JOIN slices
    UNION ALL
    SELECT metric, slice, NULL, value, 0, n, 0 FROM mixes
    UNION ALL
    {% if score %}
    SELECT 'psi', slices.slice, feature, value, n, 0, 0 FROM values_of_slices CROSS JOIN slices WHERE values_of_slices.slice = 'r'
    UNION ALL
    SELECT metric, slices.slice, NULL, value, n, 0, 0 FROM mixes CROSS JOIN slices WHERE mixes.slice = 'r'
    {% else %}
    SELECT metric, slices.slice, NULL, value, n, 0, 0
    FROM (
      SELECT 'posterior_psi' AS metric, CAST(class AS {{ text }}){{ nbsql.binary() }} AS value, prior * sum(n) OVER () AS n
      FROM {{ priors }} AS priors
      UNION ALL
      SELECT 'label_psi', CAST(class AS {{ text }}), n
      FROM {{ priors }} AS priors
    ) AS expected
    CROSS JOIN slices
    {% endif %}
  ) AS sides
  GROUP BY metric, slice, feature, value
  HAVING sum(a) > 0 OR sum(b) > 0
)
{%- endmacro %}

{# The counts of values in cells, over the classes: a row a feature, value and, if asked, slice: slice, feature, value, n. #}
{% macro summed_values(cells, features, by_slice) -%}
{% set bags = features | selectattr('family.bag') | list -%}
{% set slice %}{% if by_slice %}slice, {% endif %}{% endset -%}
SELECT {{ slice }}feature, value, sum(n * coalesce(mean, 1)) AS n
FROM {{ cells }} AS cells
WHERE feature IS NOT NULL AND (mean IS NULL OR (value IS NOT NULL AND m2 IS NULL))
{%- if bags %} AND (value IS NOT NULL OR feature NOT IN ({{ nbsql.feature_names(bags) }})){% endif %}

GROUP BY {{ slice }}feature, value
{%- endmacro %}

{# A row a slice and feature: slice, feature, value: the share of rows in which it, or a column of it, is missing. #}
{% macro missing_shares(features, monitored) -%}
{% set names %}{% for feature in features %}{{ nbsql.text(feature.name) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set shares %}{% for feature in features %}missing_{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set lists = [nbsql.list_of(names, nbsql.string()), nbsql.list_of(shares, nbsql.double())] -%}
SELECT slice, {{ nbsql.unnested(lists, ['feature', 'value']) | indent(2) }}
FROM (
  SELECT
    nbsql_period AS slice
    {%- for feature in features %},
    sum(CASE WHEN {% for column in feature.columns -%}
    {% set x %}source.{{ nbsql.ident(column) }}{% endset -%}
    {%+ if feature.floating and (feature.family.number or feature.family.name in ['binned', 'kernel']) %}{{ nbsql.finite(x) }}{% else %}{{ x }}{%+ endif %} IS NULL
    {%- if not loop.last %} OR {% endif %}{% endfor %} THEN nbsql_weight ELSE 0 END) / sum(nbsql_weight) AS missing_{{ feature.index }}
    {%- endfor %}

  FROM {{ monitored }} AS source
  GROUP BY nbsql_period
) AS shares
{%- endmacro %}

{# What is measured of the reference: feature, class, metric, value; without reference rows, as the model's counts have it. #}
{% macro reference_values(features, priors, as_text, score) -%}
{% if score -%}
SELECT feature, class, metric, value FROM measured WHERE slice = 'r'
{%- else -%}
{% set columns = features | rejectattr('family.bag') | rejectattr('family.over_columns') | list -%}
SELECT CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS feature, class, metric{{ nbsql.binary() }} AS metric, value
FROM (
  SELECT class, {{ nbsql.metric_rows(['posterior', 'actual']) | indent(2) }}
  FROM (
    SELECT {{ nbsql.label(nbsql.word('class'), as_text) }} AS class, prior AS posterior, n / sum(n) OVER () AS actual
    FROM {{ priors }} AS priors
  ) AS shares
) AS of_classes
UNION ALL
SELECT DISTINCT feature, NULL, 'unseen', {{ nbsql.number(0) }} FROM measured WHERE metric = 'unseen'
{%- if columns %}

UNION ALL
SELECT cells.feature, NULL, 'nulls', greatest(1 - sum(cells.n) / max(everything.n), 0)
FROM learnt AS cells
CROSS JOIN (
  SELECT sum(n) AS n FROM learnt WHERE feature IS NULL
) AS everything
WHERE cells.feature IN ({{ nbsql.feature_names(columns) }}) AND (cells.value IS NOT NULL OR cells.mean IS NOT NULL)
GROUP BY cells.feature
{%- endif %}
{%- endif %}
{%- endmacro %}

{#
  How far slices are from the reference, a row a metric, slice and feature: metric, slice, feature, psi, moved, by_chance; that of numbers has
  by chance as many times 1 / n_a + 1 / n_b as the distribution has parameters.
#}
{% macro monitored_divergences(features) -%}
{% set together = features | selectattr('family.centred') | rejectattr('family.by_column') | list -%}
{% set counts %}compared{% endset -%}
{% set a, b = nbsql.word('a'), nbsql.word('b') -%}
{% set of_one = features | rejectattr('family.divergence', 'equalto', 'normal') | list -%}
SELECT metric, slice, feature, CASE WHEN n_a > 0 AND n_b > 0 THEN psi END AS psi, value AS moved, by_chance
FROM (
  {{ nbsql.divergence_of_values(counts, ['metric', 'slice', 'feature']) | indent(2) }}
) AS of_values
{%- if features | selectattr('family.number') | list %}

UNION ALL
SELECT
  'psi',
  slice,
  feature,
  max(psi),
  {{ nbsql.value_at_maximum(nbsql.word('value'), nbsql.word('psi'), nbsql.word('value')) }},
  max(by_chance)
FROM (
  SELECT
    slice,
    feature,
    value,
    {{ nbsql.divergence(a, b, features) }} + {{ nbsql.divergence(b, a, features) }} AS psi,
    {% if of_one %}CASE WHEN feature IN ({{ nbsql.feature_names(of_one) }}) THEN 1 ELSE 2 END{% else %}2{% endif %} * (1 / n_a + 1 / n_b) AS by_chance
  FROM (
    SELECT
      b.slice,
      b.feature,
      b.value,
      a.mean AS a,
      b.mean AS b,
      {{ nbsql.variance_of_side(a) }} AS variance_a,
      {{ nbsql.variance_of_side(b) }} AS variance_b,
      a.n AS n_a,
      b.n AS n_b
    FROM (
      {{ nbsql.pooled(nbsql.cells_of_moments(nbsql.word('learnt'), together), ['feature', 'value']) | indent(6) }}
    ) AS a
    JOIN (
      {{ nbsql.pooled(nbsql.cells_of_moments(nbsql.word('counted'), together), ['slice', 'feature', 'value']) | indent(6) }}
    ) AS b ON b.feature = a.feature AND {{ nbsql.same_value(a, b) }}
  ) AS moments
) AS of_numbers
GROUP BY slice, feature
{%- endif %}
{%- endmacro %}

{# The cells of numbers, and those of the columns, without the pairs, of features that have a covariance matrix. #}
{% macro cells_of_moments(cells, together) -%}
(
  SELECT * FROM {{ cells }} AS cells
  WHERE mean IS NOT NULL AND (value IS NULL
  {%- for feature in together %} OR (feature = {{ nbsql.text(feature.name) }} AND value IN (
    {%- for column in feature.columns %}{{ nbsql.text(column) }}{{ nbsql.comma(loop) }}{% endfor %}))
  {%- endfor %})
)
{%- endmacro %}
