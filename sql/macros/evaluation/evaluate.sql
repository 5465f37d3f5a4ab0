{#
  How well a model predicts rows whose class is known. Everything is a query on two relations:

    known   one row per class of the model: class, class_no
    judged  one row per row of the source with a class: class, class_no (NULL for a class that the model does not know), prediction,
            probability, posteriors (a list, by class_no), weight

  A row of weight 0 counts for nothing. A row that no class explains has a NULL prediction, which counts as wrong, and a posterior of 0 in
  every class. A class that the model does not know has a posterior of 0 in every row.

  Text labels are compared as text, so that an ENUM and a VARCHAR agree; the caller makes other types comparable. The curves of one class
  against the rest are in curves.sql.
#}

{#
  The common table expressions that begin all these queries, from the relation `scored` (predict.sql). `outcomes` holds every row of the
  source and is the only one to read it. It comes first, because a table of the user's may have the name of a later one. extra_columns:
  further columns of `scored` to keep. by: the columns of the source by which rows are sliced, as nbsql_by_1, ...
#}
{% macro judged_rows(model, scored, parameters, weight, as_text, extra_columns=(), by=()) -%}
outcomes AS {{ nbsql.materialized() }}(
  SELECT
    {{ nbsql.true_label(model, as_text) }} AS class,
    {{ nbsql.as_text_if(nbsql.word('nbsql_prediction'), as_text) }} AS prediction,
    coalesce(source.nbsql_probability, 0) AS probability,
    {{ nbsql.posterior_columns(model) | indent(4) }},
    {% set size %}{% if weight is none %}1{% else %}source.{{ nbsql.ident(weight) }}{% endif %}{% endset %}
    CAST({{ size }} AS {{ nbsql.double() }}) AS weight,
    {%+ if weight is none %}FALSE{% else %}{{ nbsql.breaks_weight(weight) }}{%+ endif %} AS broken
    {%- for name in extra_columns %},
    source.{{ nbsql.word(name) }}
    {%- endfor %}
    {%- for name in by %},
    source.{{ nbsql.ident(name) }} AS nbsql_by_{{ loop.index }}
    {%- endfor +%}
  FROM {{ scored }} AS source{{ nbsql.run_once() }}
),
known AS {{ nbsql.subquery(nbsql.known_classes(model, parameters, as_text)) }},
judged AS (
  SELECT outcomes.*, known.class_no
  FROM outcomes
  LEFT JOIN known ON known.class = outcomes.class
  WHERE outcomes.class IS NOT NULL AND outcomes.weight > 0 AND NOT outcomes.broken
){{ nbsql.posteriors_of_judged(model) }}
{%- endmacro %}

{# The posteriors of a row of `scored`, a list by class_no; 0 if no class explains the row. #}
{% macro default__posteriors(model) -%}
{% set explained %}source.nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
{% if model.form.class_numbers -%}
{% set posteriors +%}
  {% for k in model.form.class_numbers %}
  CASE WHEN {{ explained }} THEN {{ nbsql.posterior(model, nbsql.joint(model, k)) }} ELSE 0 END{{ nbsql.comma(loop) }}
  {% endfor %}
{% endset -%}
{{ nbsql.array_of(posteriors) }}
{%- else -%}
{% set posterior %}CASE WHEN {{ explained }} THEN {{ nbsql.posterior(model, nbsql.word('joint')) }} ELSE 0 END{% endset -%}
{{ nbsql.list_mapped(nbsql.word('source.nbsql_joints'), posterior, 'joint') }}
{%- endif %}
{%- endmacro %}

{# The list of the columns of a relation that have the number of a class at the end of their name, or of the numbers alone. #}
{% macro list_by_class(model, column=none) -%}
{% call(k) nbsql.array_of_each(model.form.class_numbers) %}{% if column %}{{ nbsql.word(column) }}_{% endif %}{{ k }}{% endcall %}
{%- endmacro %}

{# The joint log-likelihoods of a row of `scored`, a list by class number. #}
{% macro list_of_joints(model) -%}
{% if model.form.class_numbers %}{{ nbsql.list_by_class(model, 'source.nbsql_joint') }}{% else %}source.nbsql_joints{% endif %}
{%- endmacro %}

{# One row per class: class, class_no. #}
{% macro default__numbered_classes(model, parameters) -%}
{% if model.form.class_numbers -%}
SELECT
  {{ nbsql.unnested([nbsql.list_by_class(model, 'class'), nbsql.list_by_class(model)], ['class', 'class_no']) | indent(2) }}
FROM {{ parameters }} AS parameters
{%- else -%}
SELECT class, class_no FROM {{ parameters }} AS parameters
{%- if model.facts.has_components %} WHERE class_no = of_class{% endif %}
{%- endif %}
{%- if model.facts.has_segments +%}
WHERE parameters.nbsql_segment = 0
{%- endif %}
{%- endmacro %}

{# The same with the labels as they are compared with those of judged rows. #}
{% macro known_classes(model, parameters, as_text) -%}
SELECT {{ nbsql.as_text_if(nbsql.word('class'), as_text) }} AS class, class_no
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
{%- endmacro %}

{# An expression, cast to text if labels are compared as texts. #}
{% macro as_text_if(x, as_text) -%}
{% if as_text %}CAST({{ x }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% else %}{{ x }}{% endif %}
{%- endmacro %}

{# The label of a judged row. #}
{% macro true_label(model, as_text) -%}
{% set x %}source.{{ nbsql.ident(model.spec.target) }}{% endset -%}
{% if as_text %}{{ nbsql.as_text_if(x, as_text) }}{% else %}{{ nbsql.target(model) }}{% endif %}
{%- endmacro %}

{# One row per true class and prediction: class, prediction, n (the weight of the rows). #}
{% macro confusion(judged) -%}
WITH {{ judged }}
SELECT class, prediction, sum(weight) AS n
FROM judged
GROUP BY class, prediction
ORDER BY class ASC NULLS LAST, prediction ASC NULLS LAST
{%- endmacro %}

{#
  One row per metric: class (NULL for all classes), metric, value.

    log_loss           mean of -ln p of the true class, p kept between 2^-52 and 1 - 2^-52, as in scikit-learn
    brier              mean over the rows of the sum over the classes of (p - 1 or 0)^2; with two classes half of it, which is
                       then (p - 1 or 0)^2 of either of them (Brier, Monthly Weather Review 78, 1950)
    calibration_error  mean over the bins of |how often the prediction is right - its mean probability|, by weight (Guo et al., 2017)
    f1                 2 hits / (rows of the class + rows predicted to be)
    ..._macro          mean over the classes for which it is defined; ..._weighted the same by support
    roc_auc            with two classes that of the larger label, otherwise the macro mean; average_precision and ks likewise

  A class that neither occurs nor is predicted has no precision, recall and f1. A class that either never occurs or is never predicted has
  0, as in scikit-learn. roc_auc and ks need rows of the class and of others, average_precision rows of the class.
#}
{% macro metrics(judged, bins, counted=none) -%}
{% set rates = ['precision', 'recall', 'f1', 'roc_auc', 'average_precision', 'ks'] -%}
{% set overall = [
  'rows', 'weight', 'left_out', 'unknown', 'unexplained', 'broken_weights', 'accuracy', 'majority', 'balanced_accuracy', 'log_loss',
  'brier',
  'calibration_error', 'roc_auc', 'average_precision', 'ks', 'precision_macro', 'recall_macro', 'f1_macro', 'roc_auc_macro',
  'average_precision_macro', 'ks_macro', 'precision_weighted', 'recall_weighted', 'f1_weighted', 'roc_auc_weighted',
  'average_precision_weighted', 'ks_weighted'] -%}
WITH {{ judged }},
{{ nbsql.areas(counted) }},
confusion AS (
  SELECT class, prediction, sum(weight) AS n FROM judged GROUP BY class, prediction
),
classes AS (
  SELECT class, class_no FROM known
  UNION ALL
  SELECT DISTINCT class, class_no FROM judged WHERE class_no IS NULL
),
counts AS (
  SELECT
    classes.class,
    classes.class_no,
    coalesce(actual.n, 0) AS support,
    coalesce(actual.hits, 0) AS hits,
    coalesce(predicted.n, 0) AS predicted
  FROM classes
  LEFT JOIN (
    SELECT class, sum(n) AS n, sum(CASE WHEN prediction = class THEN n ELSE 0 END) AS hits FROM confusion GROUP BY class
  ) AS actual ON actual.class = classes.class
  LEFT JOIN (
    SELECT prediction, sum(n) AS n FROM confusion GROUP BY prediction
  ) AS predicted ON predicted.prediction = classes.class
),
by_class AS (
  SELECT
    counts.*,
    CASE WHEN predicted > 0 THEN hits / predicted WHEN support > 0 THEN 0 END AS precision,
    CASE WHEN support > 0 THEN hits / support WHEN predicted > 0 THEN 0 END AS recall,
    2 * hits / nullif(support + predicted, 0) AS f1,
    {# The posteriors of a class that the model does not know are a single tie, at 0. #}
    CASE WHEN counts.class_no IS NOT NULL THEN areas.roc_auc WHEN support < weight THEN 0.5 END AS roc_auc,
    CASE WHEN counts.class_no IS NOT NULL THEN areas.average_precision ELSE support / weight END AS average_precision,
    CASE WHEN counts.class_no IS NOT NULL THEN areas.ks WHEN support < weight THEN 0 END AS ks
  FROM (
    SELECT
      *,
      nullif(sum(support) OVER (), 0) AS weight,
      first_value(class) OVER (ORDER BY class DESC NULLS LAST) AS larger
    FROM counts
  ) AS counts
  LEFT JOIN areas ON areas.class_no = counts.class_no
),
averages AS (
  SELECT
    {% for rate in rates %}
    avg({{ nbsql.word(rate) }}) AS {{ nbsql.word(rate) }}_macro,
    sum(support * {{ nbsql.word(rate) }})
      / nullif(sum(CASE WHEN {{ nbsql.word(rate) }} IS NOT NULL THEN support END), 0) AS {{ nbsql.word(rate) }}_weighted,
    {% endfor %}
    {% for area in rates[3:] %}
    max(CASE WHEN class = larger THEN {{ nbsql.word(area) }} END) AS {{ nbsql.word(area) }}_of_larger,
    {% endfor %}
    avg(CASE WHEN support > 0 THEN recall END) AS balanced_accuracy,
    max(weight) AS weight,
    sum(hits) AS hits,
    max(support) AS largest,
    count(*) AS classes
  FROM by_class
),
read AS (
  SELECT
    sum(CASE WHEN class IS NULL THEN 1 ELSE 0 END) AS left_out,
    sum(CASE WHEN broken AND class IS NOT NULL THEN 1 ELSE 0 END) AS broken_weights
  FROM outcomes
),
{{ nbsql.row_losses() }},
losses AS (
  SELECT
    count(*) AS row_count,
    sum(CASE WHEN class_no IS NULL THEN 1 ELSE 0 END) AS unknown,
    sum(CASE WHEN prediction IS NULL THEN 1 ELSE 0 END) AS unexplained,
    sum(weight * log_loss) AS log_loss,
    sum(weight * brier) AS brier
  FROM row_losses
),
gaps AS (
  SELECT abs(sum(CASE WHEN prediction = class THEN weight ELSE 0 END) - sum(weight * probability)) AS gap
  FROM judged
  GROUP BY {{ nbsql.bin(nbsql.word('probability'), bins) }}
),
gap AS (
  SELECT sum(gap) AS gap FROM gaps
),
overall AS (
  SELECT
    losses.row_count,
    read.left_out,
    losses.unknown,
    losses.unexplained,
    read.broken_weights,
    averages.hits / averages.weight AS accuracy,
    averages.largest / averages.weight AS majority,
    losses.log_loss / averages.weight AS log_loss,
    losses.brier / averages.weight / CASE WHEN averages.classes > 2 THEN 1 ELSE 2 END AS brier,
    gap.gap / averages.weight AS calibration_error,
    averages.*,
    {% for auc in rates[3:] %}
    {% set auc = nbsql.word(auc) %}
    CASE WHEN averages.classes = 2 THEN averages.{{ auc }}_of_larger ELSE averages.{{ auc }}_macro END AS {{ auc }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM averages
  CROSS JOIN read
  CROSS JOIN losses
  CROSS JOIN gap
)
{{ nbsql.listed_metrics(overall, rates) }}
{%- endmacro %}

{# row_losses: one row per judged row, with its log_loss and brier, the sum over the classes of (p - 1 or 0)^2. #}
{% macro default__row_losses() -%}
row_losses AS (
  SELECT
    *,
    {{ nbsql.log_loss_of(nbsql.word('posterior')) }} AS log_loss,
    {{ nbsql.brier_of(nbsql.word('posterior'), nbsql.word('squares')) }} AS brier
  FROM (
    SELECT
      *,
      coalesce({{ nbsql.element(nbsql.word('posteriors'), nbsql.word('class_no')) }}, 0) AS posterior,
      {{ nbsql.sum_of_squares(nbsql.word('posteriors')) }} AS squares
    FROM judged
  ) AS posteriors
)
{%- endmacro %}

{# The log loss from the posterior of a row's true class, which is kept away from 0 and 1. #}
{% macro log_loss_of(p) -%}
{% set above = nbsql.largest([p, nbsql.epsilon()]) -%}
{% set below %}1 - {{ nbsql.epsilon() }}{% endset -%}
-ln({{ nbsql.smallest([above, below]) }})
{%- endmacro %}

{# The Brier score from the posterior of a row's true class and the sum of the squares of all posteriors. #}
{% macro brier_of(p, squares) -%} {{ squares }} - {{ nbsql.square(p) }} + (1 - {{ p }}) * (1 - {{ p }}) {%- endmacro %}

{# One row per metric of all classes and of each class, from `overall` and `by_class`. #}
{% macro default__listed_metrics(overall, rates) -%}
SELECT class, metric, value
FROM (
  SELECT
    0 AS part,
    NULL AS class,
    {{ nbsql.metric_rows(overall) | indent(4) }}
  FROM overall
  UNION ALL
  SELECT
    1 AS part,
    class,
    {{ nbsql.metric_rows(['support'] + rates) | indent(4) }}
  FROM by_class
) AS metrics
ORDER BY part ASC NULLS LAST, class ASC NULLS LAST, position ASC NULLS LAST
{%- endmacro %}

{# To stand in a SELECT: one row per numeric column, by name: position, metric, value. #}
{% macro metric_rows(metrics) -%}
{% set positions %}{% for _ in metrics %}{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set names %}{% for metric in metrics %}{{ nbsql.text(metric) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set values %}{% for metric in metrics %}{{ nbsql.metric_column(metric) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set lists = [nbsql.array_of(positions), nbsql.array_of(names), nbsql.list_of(values, nbsql.double())] -%}
{{ nbsql.unnested(lists, ['position', 'metric', 'value']) }}
{%- endmacro %}

{# The column of a metric; `rows` is a word of SQL. #}
{% macro metric_column(metric) -%} {{ nbsql.word('row_count' if metric == 'rows' else metric) }} {%- endmacro %}

{# The machine epsilon of doubles, 2^-52. #}
{% macro epsilon() -%} {{ nbsql.number(2.220446049250313e-16) }} {%- endmacro %}
