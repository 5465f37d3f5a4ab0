{#
  Leave-one-out: every row is scored by the model of all other rows, without a fit and without a model a row. The row is removed from the
  counts as it is scored:

    own      the row's class loses the row: its n, and for every feature the counts, or the mean and squares, of this one value
    shared   quantities over all classes change with it: N, the number of classes and of values, the variance over all classes

  Two relations hold the necessary numbers (left_out_tables.sql):

    classes  one row per class: class_no (in the order of the labels), class, n, and the counts and moments that the features need
    lookups  one row per value: feature, value, n, alpha, declared, and ns, the list of its counts in the classes

  Rows are joined with the cells of their own class, then with all classes. Features of one kind share a file (left_out_numbers.sql,
  ..._levels.sql), and the terms are those of families/. Names that begin with own_ are of the row's class without the row, those with
  all_ of all classes without it.

  parts: the features by kind: numbers, levels. Rows with other features are folds of their own (nbsql/evaluation/leave_one_out.py).
#}

{# The counted rows, with their class and weight. #}
{% macro left_out_rows(model, source, classes) -%}
SELECT
  {{ nbsql.row_id() }} AS nbsql_row,
  own.class_no AS nbsql_own,
  {{ nbsql.row_weight(model) }} AS nbsql_weight
  {%- for column in model.facts.features | map(attribute='columns') | sum(start=()) | unique %},
  source.{{ nbsql.ident(column) }}
  {%- endfor +%}
FROM {{ source }} AS source
JOIN {{ classes }} AS own ON own.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# The largest remainder that counts as rounding of a sum of weights without one of them. It is below 1, which whole weights may leave. #}
{% macro left_out_rounding(n) -%} least(1e-12 * {{ n }}, 0.5) {%- endmacro %}

{# The remainder of a count. A sum of weights that misses 0 only by its rounding is 0. #}
{% macro remaining_count(n, removed) -%}
CASE WHEN {{ n }} - {{ removed }} > {{ nbsql.left_out_rounding(n) }} THEN {{ n }} - {{ removed }} ELSE 0 END
{%- endmacro %}

{#
  The rows as scored by the models of all other rows: nbsql_own (the number of the row's class), nbsql_weight, nbsql_joints (by class
  number), nbsql_best (the number of the prediction), nbsql_probability, nbsql_highest, nbsql_relative_evidence.

  Of classes with equal joint log-likelihoods the one with the larger prior is predicted, then the smaller label, as everywhere; the
  priors are those without the row.
#}
{% macro left_out(model, source, parts, classes, lookups) -%}
WITH numbered AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.left_out_rows(model, source, classes)) }},
terms AS (
  {{ nbsql.left_out_block(model, parts, parts.levels[:20], classes, lookups, dense=true) | indent(2) }}
  {% for block in parts.levels[20:] | batch(20) %}
  UNION ALL
  {{ nbsql.left_out_block(model, parts, block, classes, lookups) | indent(2) }}
  {% endfor %}
),
joint AS {{ nbsql.materialized() }}(
  {% if parts.levels[20:] %}
  SELECT nbsql_row, class_no, sum(term) AS joint, max(prior) AS prior FROM terms GROUP BY nbsql_row, class_no
  {%- else %}
  SELECT nbsql_row, class_no, term AS joint, prior FROM terms
  {%- endif +%}
),
best AS (
  SELECT
    nbsql_row,
    max(joint) AS highest,
    {# An ordered list takes a sort a row. If there are only a few classes, it is faster to pick them out one by one. #}
    {% for column in ['joint', 'prior'] %}
    {% set column = nbsql.word(column) %}
    {% set of_classes -%}
    {% for k in parts.class_numbers %}max(CASE WHEN class_no = {{ k }} THEN {{ column }} END){{ nbsql.comma_blank(loop) }}{% endfor %}
    {%- endset %}
    {% set in_order = nbsql.ordered_list(column, nbsql.word('class_no')) %}
    {% set listed = nbsql.array_of(of_classes) if parts.class_numbers else in_order %}
    {{ listed }} AS {{ column }}s{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM joint
  GROUP BY nbsql_row
),
ranked AS (
  SELECT
    nbsql_row,
    highest,
    joints,
    {% set told %}CASE WHEN prior > 0 THEN {{ nbsql.element(nbsql.word('joints'), nbsql.word('place')) }} - ln(prior) END{% endset %}
    {{ nbsql.list_mapped(nbsql.word('priors'), told, 'prior', 'place') }} AS told,
    {% set prior %}CASE WHEN {{ nbsql.element(nbsql.word('joints'), nbsql.word('place')) }} = highest THEN prior ELSE -1 END{% endset %}
    {{ nbsql.list_mapped(nbsql.word('priors'), prior, 'prior', 'place') }} AS priors
  FROM best
  {{- nbsql.optimisation_fence() | indent(2) }}
),
evidence AS (
  {% set difference %}joint - highest{% endset %}
  SELECT *, {{ nbsql.list_total(nbsql.list_mapped(nbsql.word('joints'), nbsql.exp(difference), 'joint')) }} AS mass FROM ranked
  {{- nbsql.optimisation_fence() | indent(2) }}
)
{% set priors %}evidence.priors{% endset %}
{% set explained %}evidence.highest > -{{ nbsql.infinity() }}{% endset %}
SELECT
  source.nbsql_own,
  source.nbsql_weight,
  evidence.joints AS nbsql_joints,
  {% set told = nbsql.word('evidence.told') %}
  {{ nbsql.list_highest(told) }} - {{ nbsql.list_lowest(told) }} > {{ nbsql.number(1e-9) }} AS nbsql_known,
  CASE WHEN {{ explained }} THEN {{ nbsql.list_place(priors, nbsql.list_highest(priors)) }} END AS nbsql_best,
  CASE WHEN {{ explained }} THEN 1 / evidence.mass END AS nbsql_probability,
  evidence.highest AS nbsql_highest,
  evidence.mass AS nbsql_relative_evidence
FROM numbered AS source
JOIN evidence ON evidence.nbsql_row = source.nbsql_row
{%- endmacro %}

{#
  The terms of a block of features, one row per row and class: nbsql_row, class_no, prior, term. The first block, dense, also holds the
  prior and all terms that need no lookup.
#}
{% macro left_out_block(model, parts, levels, classes, lookups, dense=false) -%}
{% set numbers = parts.numbers if dense else [] -%}
{% set packed -%}
{% for feature in numbers %}{{ nbsql.left_out_number_parameters(feature) }}{{ nbsql.comma_line(loop) }}{% endfor %}
{%- endset -%}
SELECT
  number.nbsql_row,
  number.class_no,
  {% set prior %}CASE WHEN number.nbsql_left > 0 THEN number.nbsql_prior END{% endset %}
  {% set log_prior %}{% if model.has_prior %}{{ nbsql.safe_ln(nbsql.word('nbsql_prior')) }}{% else %}0{% endif %}{% endset %}
  {% set log_prior_left %}CASE WHEN number.nbsql_left > 0 THEN {{ log_prior }} ELSE -{{ nbsql.infinity() }} END{% endset %}
  {%+ if dense %}{{ prior }}{% else %}CAST(NULL AS {{ nbsql.double() }}){%+ endif %} AS prior,
  {%+ if dense %}{{ log_prior_left }}{% else %}0{%+ endif %}
  {%- if numbers +%}
    + {% call(feature) nbsql.sum_in_blocks(numbers) %}{{ nbsql.computed_term(feature, none) }}{% endcall %}
  {%- endif %}
  {%- for feature in levels +%}
    + {{ nbsql.left_out_level(feature) | indent(4) }}
  {%- endfor %} AS term
FROM {{ nbsql.subquery(nbsql.left_out_estimates(model, numbers, levels, classes, lookups, dense, packed)) }} AS number
{%- if numbers %}{{ nbsql.unpacked_parameters(packed) }}{% endif +%}
{%- endmacro %}

{# Rows by classes, with the parameters that the terms of numbers read. #}
{% macro left_out_estimates(model, numbers, levels, classes, lookups, dense, packed) -%}
{% set joined -%}
SELECT
  rows.*,
  classes.class_no,
  classes.class_no = rows.nbsql_own AS nbsql_is_own
  {%- if dense %},
  {{ nbsql.remaining_count(nbsql.word('classes.n'), nbsql.removed_from_own_class()) }} AS nbsql_left,
  classes.prior,
  classes.everything - rows.nbsql_weight AS nbsql_everything,
  classes.count - CASE WHEN own.n - rows.nbsql_weight > {{ nbsql.left_out_rounding(nbsql.word('own.n')) }} THEN 0 ELSE 1 END AS nbsql_count
  {%- endif %}
  {%- for feature in numbers %},
  {{ nbsql.left_out_cells(feature) | indent(2) }}
  {%- endfor %}
  {%- for feature in levels %},
  {{ nbsql.left_out_level_cells(feature) | indent(2) }}
  {%- endfor +%}
FROM {{ nbsql.subquery(nbsql.left_out_values(numbers, levels, classes, lookups)) }} AS rows
JOIN {{ classes }} AS own ON own.class_no = rows.nbsql_own
CROSS JOIN {{ classes }} AS classes
{%- endset -%}
{% set with_prior -%}
{% if dense -%}
SELECT
  number.*,
  {% if model.spec.prior.kind == 'given' %}
  number.prior
  {%- elif model.spec.prior.kind == 'uniform' %}
  {% set count %}CAST(number.nbsql_count AS {{ nbsql.double() }}){% endset %}
  1 / {{ nbsql.null_if_zero(count) }}
  {%- elif model.spec.prior.kind == 'smoothed' %}
  (number.nbsql_left + {{ nbsql.number(model.spec.prior.added_count) }})
    / (number.nbsql_everything + {{ nbsql.number(model.spec.prior.added_count) }} * number.nbsql_count)
  {%- else %}
  number.nbsql_left / {{ nbsql.null_if_zero(nbsql.word('number.nbsql_everything')) }}
  {%- endif %} AS nbsql_prior
  {%- for feature in numbers %}
  {{- nbsql.left_out_estimate(feature) | indent(2) }}
  {%- endfor +%}
FROM {{ nbsql.subquery(joined) }} AS number
{%- else -%}
{{ joined }}
{%- endif %}
{%- endset -%}
{% if numbers %}{{ nbsql.with_packed_parameters(with_prior, packed) }}{% else %}{{ with_prior }}{% endif %}
{%- endmacro %}

{# A relation with its packed parameters: in a column `parameters`, whose fields they are, or beside it. #}
{% macro with_packed_parameters(query, packed) -%}
SELECT
  number.*,
  {{ nbsql.pack_function() }}(
    {{ packed | indent(4) }}
  ) AS parameters
FROM {{ nbsql.subquery(query) }} AS number
{%- endmacro %}

{# An amount, or the row's weight, to remove from the row's own class, and from no other. #}
{% macro removed_from_own_class(amount=none) -%}
CASE WHEN classes.class_no = rows.nbsql_own THEN {% if amount is none %}rows.nbsql_weight{% else %}{{ amount }}{% endif %} ELSE 0 END
{%- endmacro %}

{# Rows with the values of the features, the lookups of categories, and the moments of their own class without them. #}
{% macro left_out_values(numbers, levels, classes, lookups) -%}
{% set values -%}
SELECT
  source.nbsql_row,
  source.nbsql_own,
  source.nbsql_weight
  {%- for feature in numbers %},
  {{ nbsql.inputs(feature, none, true, false) | indent(2) }}
  {%- endfor %}
  {%- for feature in levels %},
  {{ nbsql.left_out_level_columns(feature) | indent(2) }}
  {%- endfor +%}
FROM numbered AS source
{%- for feature in levels +%}
{{ nbsql.left_out_lookup(feature, lookups, nbsql.word('level')) }}
{%- endfor %}
{%- endset -%}
{% if numbers %}{{ nbsql.left_out_moments(numbers, nbsql.completed_inputs(values, numbers), classes) }}{% else %}{{ values }}{% endif %}
{%- endmacro %}

{# One row, how well all rows are predicted: fold, rows, weight, accuracy, log_loss, as in fold_scores. #}
{% macro left_out_scores(left_out) -%}
{% set joint = nbsql.element(nbsql.word('nbsql_joints'), nbsql.word('nbsql_own')) -%}
{% call nbsql.scores_by_fold() -%}
SELECT
  'loo' AS fold,
  nbsql_weight AS weight,
  nbsql_best = nbsql_own AS right_class,
  CASE WHEN nbsql_highest > -{{ nbsql.infinity() }} THEN {{ nbsql.posterior(none, joint) }} END AS posterior
FROM {{ left_out }} AS source
{%- endcall %}
{%- endmacro %}

{# The predicted rows, for the queries of evaluate.sql, as in out_of_fold. known: all classes, with the numbers to give them. #}
{% macro left_out_outcomes(model, left_out, classes, known) -%}
SELECT
  own.class AS {{ nbsql.ident(model.spec.target) }},
  {% if model.spec.weight %}
  left_out.nbsql_weight AS {{ nbsql.ident(model.spec.weight) }},
  {% endif %}
  best.class AS nbsql_prediction,
  left_out.nbsql_probability,
  left_out.nbsql_highest,
  left_out.nbsql_relative_evidence,
  left_out.nbsql_known,
  {% set joints %}left_out.nbsql_joints{% endset %}
  {{ nbsql.list_mapped(nbsql.word('numbers.class_nos'), nbsql.element(joints, nbsql.word('number')), 'number') }} AS nbsql_joints
FROM {{ left_out }} AS left_out
CROSS JOIN (
  SELECT {{ nbsql.ordered_list(nbsql.word('classes.class_no'), nbsql.word('known.class_no')) }} AS class_nos
  FROM {{ classes }} AS classes
  JOIN {{ known }} AS known ON known.class = classes.class
) AS numbers
JOIN {{ classes }} AS own ON own.class_no = left_out.nbsql_own
LEFT JOIN {{ classes }} AS best ON best.class_no = left_out.nbsql_best
{%- endmacro %}
