{#
  Scoring in the wide form: each row with one joint log-likelihood per class, in one pass, without one row per feature or class.

    ln p(x, c) = ln P(c) + sum over the features of ln p(x_f | c)

  The part that all classes share is left out of these and kept in nbsql_common. It does not distinguish classes, and DuckDB does not
  compute it unless a verb asks for a likelihood.

  Numbers meet their parameters in a cross join with one row. Categories meet theirs in a star of left joins, one small lookup a feature.
  Tokens are unnested, joined with their lookup and summed by row. All columns of the source are qualified with the alias `source`, so
  that no column of a user's can collide with nbsql's.

  The steps are nested sub-selects, each of which adds columns named nbsql_...: lateral joins would read better, but the time DuckDB takes
  to plan them grows with the square of the columns they read (20 numbers and 5 classes: 0.7 s against 0.02 s).

  Ordered: the rows come back in the order of the source, which takes a row number; tokens need one anyway.
#}
{% macro scored_wide(model, source, parameters, lookups, checked=none) -%}
{% set checked = checked or parameters -%}
{% set parameters = checked if nbsql.labels_in_rows() else parameters -%}
{% set relation -%}
{% if model.has_row_numbers %}numbered{% elif model.facts.has_segments %}(
  {{ nbsql.with_segments(source, parameters) | indent(2) }}
){% else %}{{ source }}{% endif %}
{%- endset -%}
{% if model.has_row_numbers -%}
WITH {{ nbsql.numbered_source(model, source, parameters, lookups) }}
{%- if model.form.category_blocks %},
{{ nbsql.block_sums(model.component_model, parameters, lookups) }}
{%- endif %}
{%- for feature in model.facts.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model.component_model, feature, lookups, parameters) }}
{%- endfor +%}
{% endif -%}
{% set scores -%}
{% if model.facts.has_components -%}
{{ nbsql.class_scores(model, relation, parameters, lookups) }}
{%- else -%}
{{ nbsql.joint_scores(model, relation, parameters, lookups) }}
{%- endif %}
{%- endset -%}
{% set explained %}evidence.nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
SELECT
  evidence.*,
  CASE WHEN {{ explained }} THEN CASE evidence.nbsql_highest
    {%- for k in model.form.class_numbers %} WHEN evidence.nbsql_joint_{{ k }} THEN {{ nbsql.label_of_class(model, k) }}{% endfor +%}
  END END AS nbsql_prediction,
  CASE WHEN {{ explained }} THEN 1 / evidence.nbsql_relative_evidence END AS nbsql_probability,
  {{ nbsql.log_sum(nbsql.word('evidence.nbsql_highest'), nbsql.word('evidence.nbsql_relative_evidence')) }} AS nbsql_log_evidence
FROM (
  {% set relative_evidence -%}
  {% call(k) nbsql.sum_in_blocks(model.form.class_numbers) -%}
  {% set difference %}best.nbsql_joint_{{ k }} - best.nbsql_highest{% endset -%}
  {{ nbsql.relative_likelihood(model, difference) }}
  {%- endcall %}
  {%- endset %}
  SELECT best.*, {{ relative_evidence }} AS nbsql_relative_evidence
  FROM (
    SELECT
      joint.*,
      {%+ call(k) nbsql.greatest_of(model.form.class_numbers) %}joint.nbsql_joint_{{ k }}{% endcall %} AS nbsql_highest
    FROM (
      {{ scores | indent(6) }}
      {{- nbsql.optimisation_fence() | indent(6) }}
    ) AS joint
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS best
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS evidence
{%- if not nbsql.labels_in_rows() %}{{ nbsql.join_parameters(model, checked, nbsql.word('evidence')) }}{% endif %}
{%- endmacro %}

{#
  To follow FROM: the join of rows with their parameters: the single row of parameters, or, if a row has a model of its own by its segment
  or its fold, the parameters of that model. The column of rows, parameters and lookups that identifies the model is model.part_column.
  Lookups are joined likewise.
#}
{% macro default__join_parameters(model, parameters, relation) %}

{% if model.part_column -%}
JOIN {{ parameters }} AS parameters ON parameters.{{ nbsql.word(model.part_column) }} = {{ relation }}.{{ nbsql.word(model.part_column) }}
{%- else -%}
JOIN {{ parameters }} AS parameters ON TRUE
{%- endif %}
{%- endmacro %}

{# The hint that the relations joined with many rows are small: the parameters, unless they are a single row, and lookups of categories. #}
{% macro small_relations_hint(model, categories=[]) -%}
{% set small = namespace(names=['parameters'] if model.part_column else []) -%}
{% for feature in categories %}{% set small.names = small.names + ['level' ~ nbsql.feature_suffix(feature)] %}{% endfor -%}
{% set joined %}{% for name in small.names %}{{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% if small.names %}{{ nbsql.broadcast_hint(joined) }}{% endif %}
{%- endmacro %}

{# An additional join condition: both relations belong to the same model, if rows have models of their own. #}
{% macro same_part(model, relation, other) -%}
{% if model.part_column %}{% set part = nbsql.word(model.part_column) %} AND {{ relation }}.{{ part }} = {{ other }}.{{ part }}{% endif %}
{%- endmacro %}

{#
  Each row with nbsql_joint_k, the joint log-likelihood of class k, and its label nbsql_class_k if rows carry labels. It is the sum of
  model.terms (nbsql/plan/context.py), pairs of a macro and its first argument. A class that occurs only in other slices explains no row
  of this one.
#}
{% macro joint_scores(model, relation, parameters, lookups) -%}
{% set relation %}{% if model.form.categories_in_lists %}(
  {{ nbsql.with_places(model, relation, lookups) | indent(2) }}
){% elif model.form.bins_in_lists %}(
  {{ nbsql.with_scores_of_bins(model, relation, lookups, model.form.first_places) | indent(2) }}
){% else %}{{ relation }}{% endif %}{% endset -%}
{% if model.form.pairs_in_lists -%}
{% set relation %}(
  {{ nbsql.with_scores_of_pairs(model, relation, lookups) | indent(2) }}
){% endset -%}
WITH {{ nbsql.codes_of_pairs(model, lookups) }}
{% endif -%}
SELECT{{ nbsql.small_relations_hint(model, model.form.star_categories) }}
  number.*
  {%- for k in model.form.class_numbers %},
  {% if nbsql.labels_in_rows() %}
  parameters.class_{{ k }} AS nbsql_class_{{ k }},
  {% endif %}
  {%+ if model.options.by_slice %}coalesce({%+ endif %}
  {%- for name, argument in model.terms %}{% if not loop.first +%}
    + {% endif %}{{ nbsql[name](argument, k) | indent(4) }}{% endfor %}
  {%- if loop.first %}{{ nbsql.compiled_apart(model) | indent(4) }}{% endif %}
  {%- if model.options.by_slice %}, -{{ nbsql.infinity() }}){% endif %} AS nbsql_
  {%- if model.facts.has_components %}member{% else %}joint{% endif %}_{{ k }}
  {%- endfor %}
  {%- if model.form.features_with_common_term %},
  {% for feature in model.form.features_with_common_term %}
{% if feature in model.form.matrices_in_lists %}{{ nbsql.matrix_common(feature) }}
    {%- elif feature in model.form.numbers_in_lists %}{{ nbsql.expanded_common() }}
    {%- else %}{{ nbsql.common_term(feature) | indent(4) }}{% endif %}{% if not loop.last %} + {% endif %}
  {%- endfor %} AS nbsql_common
  {%- endif %}
  {{- nbsql.further_scores(model) }}
FROM {{ nbsql.with_terms(model, relation, model.form.inputs, parameters, lookups) }}
{%- endmacro %}

{# What a standalone scorer says otherwise (engines/standalone/): the label of class k of a row of evidence. #}
{% macro label_of_class(model, k) -%}
{% if nbsql.labels_in_rows() %}evidence.nbsql_class{% else %}parameters.class{% endif %}_{{ k }}
{%- endmacro %}

{# The likelihood of a class relative to the highest, from the difference of their logarithms. #}
{% macro relative_likelihood(model, difference) -%} {{ nbsql.exp(difference) }} {%- endmacro %}

{# The part of the term of a feature that all classes share. #}
{% macro common_term(feature) -%} {{ nbsql[feature.family.macros.common](feature, 1) }} {%- endmacro %}

{# To end the columns of scores: what else a query asks of the terms of a row. #}
{% macro further_scores(model) -%} {{ nbsql.enough_known(model) }} {%- endmacro %}

{# Rows joined with all inputs of their terms: `number`, parameters, and the lookups and sums of each feature. #}
{% macro with_terms(model, relation, inputs, parameters, lookups) -%}
{% set rows = nbsql.with_powers(model, relation, parameters) if model.form.numbers_in_lists else relation -%}
{% set rows = nbsql.with_deviations(model, rows, parameters) if model.form.matrices_in_lists else rows -%}
{{ nbsql.with_steps(model, rows, inputs, parameters) }}
{%- if not nbsql.labels_in_rows() %}{{ nbsql.join_parameters(model, parameters, nbsql.word('number')) }}{% endif %}
{%- if model.form.category_blocks +%}
JOIN blocks ON blocks.nbsql_row = number.nbsql_row
{%- endif %}
{%- for feature in model.form.star_categories +%}
{{ nbsql.lookup_join(model, feature, lookups) }}
{%- endfor %}
{%- for feature in model.facts.features | selectattr('family.bag') +%}
LEFT JOIN bag{{ nbsql.feature_suffix(feature) }} ON bag{{ nbsql.feature_suffix(feature) }}.nbsql_row = number.nbsql_row
{%- endfor %}
{%- if nbsql.labels_in_rows() %}{{ nbsql.join_parameters(model, parameters, nbsql.word('number')) }}{% endif %}
{%- endmacro %}

{#
  The logarithm of a sum of likelihoods, from the highest logarithm and the sum relative to its likelihood, so that nothing falls below
  the range of a double. It is minus infinity if all logarithms are.
#}
{% macro log_sum(highest, relative_sum) -%}
CASE WHEN {{ highest }} > -{{ nbsql.infinity() }} THEN {{ highest }} + {{ nbsql.natural_log(relative_sum) }} ELSE {{ highest }} END
{%- endmacro %}

{# The lookup of a categorical feature. It is not a sub-select, because DuckDB would flatten each of them in the time of all the joins. #}
{% macro default__lookup_join(model, feature, lookups) -%}
{% set level %}level{{ nbsql.feature_suffix(feature) }}{% endset -%}
LEFT JOIN {{ lookups }} AS {{ level }}
  ON {{ level }}.feature = {{ nbsql.text(feature.name) }}
  AND {{ level }}.value = {{ nbsql[feature.family.macros.value](feature, nbsql.word('number')) }}
  {{- nbsql.same_part(model, level, nbsql.word('number')) }}
{%- endmacro %}
