{#
  Scoring, wide: each row with one joint log-likelihood a class, in one pass, without a row a feature or a class.

    ln p(x, c) = ln P(c) + sum over the features of ln p(x_f | c)

  What all classes add alike stays out of these, in nbsql_common: it tells no class from another, and no verb that does not ask
  for a likelihood has DuckDB compute it.

  Numbers meet their parameters in a one-row cross join. Categories meet theirs in a star of left joins, one small lookup a
  feature. Tokens are unnested, joined with their lookup and summed by row. All names of the source stay behind the alias
  `source`, so that no column of a user's can collide with one of ours.

  Step by step in nested sub-selects, each adding columns named nbsql_...: lateral joins would read better, but DuckDB plans
  them in a time that grows with the square of the columns they read (20 numbers and 5 classes: 0.7 s against 0.02 s).

  Ordered: the rows come back in the source's order, which takes a row number; tokens need one anyway.
#}
{% macro scored_wide(model, source, parameters, lookups) -%}
{% set relation -%}
{% if model.has_row_numbers %}numbered{% elif model.has_segments %}(
  {{ nbsql.in_segments(source, parameters) | indent(2) }}
){% else %}{{ source }}{% endif %}
{%- endset -%}
{% if model.has_row_numbers -%}
WITH {{ nbsql.numbered_source(model, source, parameters, lookups) }}
{%- if model.category_blocks %},
{{ nbsql.block_sums(model.component_model, parameters, lookups) }}
{%- endif %}
{%- for feature in model.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model.component_model, feature, lookups, parameters) }}
{%- endfor %}

{% endif -%}
{% set scores -%}
{% if model.has_components -%}
{{ nbsql.class_scores(model, relation, parameters, lookups) }}
{%- else -%}
{{ nbsql.joint_scores(model, relation, parameters, lookups) }}
{%- endif %}
{%- endset -%}
{% set explained %}evidence.nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
SELECT
  evidence.*,
  CASE WHEN {{ explained }} THEN CASE evidence.nbsql_highest
    {%- for k in model.class_numbers %} WHEN evidence.nbsql_joint_{{ k }} THEN {{ nbsql.class_label(k) }}{% endfor %}

  END END AS nbsql_prediction,
  CASE WHEN {{ explained }} THEN 1 / evidence.nbsql_mass END AS nbsql_probability,
  {{ nbsql.log_sum(nbsql.word('evidence') ~ '.nbsql_highest', nbsql.word('evidence') ~ '.nbsql_mass') }} AS nbsql_log_evidence
FROM (
  SELECT best.*, {{ nbsql.relative_evidence(model) }} AS nbsql_mass
  FROM (
    SELECT
      joint.*,
      {{ nbsql.highest_joint(model) }} AS nbsql_highest
    FROM (
      {{ scores | indent(6) }}
      {{- nbsql.optimisation_fence() | indent(6) }}
    ) AS joint
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS best
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS evidence
{%- if not nbsql.labels_in_rows() %}

{{ nbsql.join_parameters(model, parameters, nbsql.word('evidence')) }}
{%- endif %}
{%- endmacro %}

{#
  Whether rows have the labels of the classes, nbsql_class_k, for an engine to which a join of the parameters costs more than columns that
  every row has: it joins them once, last.
#}
{% macro default__labels_in_rows() %}{% endmacro %}

{% macro class_label(k) -%}
{% if nbsql.labels_in_rows() %}evidence.nbsql_class_{{ k }}{% else %}parameters.class_{{ k }}{% endif %}
{%- endmacro %}

{# The highest joint log-likelihood of a row; the greatest of one is an error to some engines. #}
{% macro highest_joint(model) -%}
{% set joints -%}
{% for k in model.class_numbers %}joint.nbsql_joint_{{ k }}{% if not loop.last %}, {% endif %}{% endfor %}
{%- endset -%}
{% if model.class_numbers | length > 1 %}greatest({{ joints }}){% else %}{{ joints }}{% endif %}
{%- endmacro %}

{#
  The parameters that a row meets: the one row that there is, or, where a row has a model of its own, by its segment or its fold,
  those of that model: `own` is the column of rows, parameters and lookups that says which. Lookups likewise.
#}
{% macro default__join_parameters(model, parameters, relation) -%}
{% if model.part_column -%}
JOIN {{ parameters }} AS parameters ON parameters.{{ nbsql.word(model.part_column) }} = {{ relation }}.{{ nbsql.word(model.part_column) }}
{%- else -%}
JOIN {{ parameters }} AS parameters ON TRUE
{%- endif %}
{%- endmacro %}

{# The hint that relations joined with many rows are small: the parameters, unless they are one row, and these lookups. #}
{% macro small_relations(model, lookups=[]) -%}
{% set names = (['parameters'] if model.part_column else []) + lookups -%}
{% set joined %}{% for name in names %}{{ nbsql.word(name) }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
{% if names %}{{ nbsql.broadcast_hint(joined) }}{% endif %}
{%- endmacro %}

{% macro same_part(model, relation, other) -%}
{% if model.part_column %}{% set own = nbsql.word(model.part_column) %} AND {{ relation }}.{{ own }} = {{ other }}.{{ own }}{% endif %}
{%- endmacro %}

{#
  Each row with nbsql_joint_k, the joint log-likelihood of class k, and its label nbsql_class_k if rows have these. A class that is in
  other slices only explains no row of this one.
#}
{% macro joint_scores(model, relation, parameters, lookups) -%}
{% set inputs = model.computed_features + (model.star_categories + model.categories_in_lists) | selectattr('family.parameters') | list -%}
{% if model.categories_in_lists -%}
{% set relation -%}
(
  {{ nbsql.with_places(model, relation, lookups) | indent(2) }}
)
{%- endset -%}
{%- endif -%}
{% set levels = namespace(names=[]) -%}
{% for feature in model.star_categories %}{% set levels.names = levels.names + ['level' ~ nbsql.feature_suffix(feature)] %}{% endfor -%}
SELECT{{ nbsql.small_relations(model, levels.names) }}
  number.*
  {%- for k in model.class_numbers %},
  {% if nbsql.labels_in_rows() %}
  parameters.class_{{ k }} AS nbsql_class_{{ k }},
  {% endif %}
  {%+ if model.by_slice %}coalesce({%+ endif %}{% if model.without_prior %}0{% else %}parameters.log_prior_{{ k }}{% endif %}
  {%- for dimension in model.joins if dimension.scored_model %}

    + coalesce(number.nbsql_said_{{ dimension.place }}_{{ k }}, 0)
  {%- endfor %}
  {%- if model.category_blocks %}

    + blocks.class_{{ k }}
  {%- endif %}
  {%- if model.has_category_scores %}

    + number.nbsql_levels_{{ k }}
  {%- endif %}
  {%- if model.categories_in_lists %}

    + {{ nbsql.listed_terms(model, k) | indent(4) }}
  {%- endif %}
  {%- if model.numbers_in_lists %}

    + {{ nbsql.near_terms(model, k) | indent(4) }}
  {%- endif %}
  {%- if model.unguarded_numbers %}

    + {{ nbsql.far_terms(model, k) | indent(4) }}
  {%- endif %}
  {%- for block in model.joint_features | batch(50) %}

    + {{ nbsql.terms_of(block, k) | indent(4) }}
  {%- endfor %}
  {%- for block in model.star_categories | batch(model.added_first) %}

    + {{ nbsql.found_first(block, k) | indent(4) }}
  {%- endfor %}
  {%- if loop.first %}{{ nbsql.compiled_apart(model) | indent(4) }}{% endif %}
  {%- set score_of = 'member' if model.has_components else 'joint' %}
  {%- if model.by_slice %}, -{{ nbsql.infinity() }}){% endif %} AS nbsql_{{ nbsql.word(score_of) }}_{{ k }}
  {%- endfor %}
  {%- if model.features_with_common_term %},
  {% for feature in model.features_with_common_term %}
{{ nbsql[feature.family.name ~ '_common'](feature, 1) | indent(4) }}{% if not loop.last %} + {% endif %}
  {%- endfor %} AS nbsql_common
  {%- endif %}

FROM {{ nbsql.with_terms(model, relation, inputs, parameters, lookups) }}
{%- endmacro %}

{# After the terms of a row: what keeps an engine from compiling all of them into one method, where there are many. #}
{% macro default__compiled_apart(model) %}{% endmacro %}

{# Rows joined with all that their terms are made of: `number`, parameters, and the lookups and sums of each feature. #}
{% macro with_terms(model, relation, inputs, parameters, lookups) -%}
{% set rows = nbsql.with_powers(model, relation, parameters) if model.numbers_in_lists else relation -%}
{{ nbsql.with_steps(model, rows, inputs, parameters) }}
{%- if not nbsql.labels_in_rows() %}

{{ nbsql.join_parameters(model, parameters, nbsql.word('number')) }}
{%- endif %}
{%- if model.category_blocks %}

JOIN blocks ON blocks.nbsql_row = number.nbsql_row
{%- endif %}
{%- for feature in model.star_categories %}

{{ nbsql.star(model, feature, lookups) }}
{%- endfor %}
{%- for feature in model.features | selectattr('family.bag') %}

LEFT JOIN bag{{ nbsql.feature_suffix(feature) }} ON bag{{ nbsql.feature_suffix(feature) }}.nbsql_row = number.nbsql_row
{%- endfor %}
{%- if nbsql.labels_in_rows() %}

{{ nbsql.join_parameters(model, parameters, nbsql.word('number')) }}
{%- endif %}
{%- endmacro %}

{#
  The logarithm of a sum of likelihoods: the highest logarithm, and the sum as a share of the likelihood that it is of, so that nothing
  is below every double. It is minus infinity where all are.
#}
{% macro log_sum(highest, mass) -%}
CASE WHEN {{ highest }} > -{{ nbsql.infinity() }} THEN {{ highest }} + ln({{ mass }}) ELSE {{ highest }} END
{%- endmacro %}

{# The evidence, as a share of the highest joint likelihood. #}
{% macro relative_evidence(model) -%}
{% for block in model.class_numbers | batch(50) -%}
(
{%- for k in block -%}
{% set difference %}best.nbsql_joint_{{ k }} - best.nbsql_highest{% endset -%}
{{ nbsql.exp(difference) }}{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# The lookup of a categorical feature; not in a sub-select, which DuckDB would take apart again in the time of all joins, for each one. #}
{% macro default__star(model, feature, lookups) -%}
{% set level %}level{{ nbsql.feature_suffix(feature) }}{% endset -%}
LEFT JOIN {{ lookups }} AS {{ level }}
  ON {{ level }}.feature = {{ nbsql.text(feature.name) }}
  AND {{ level }}.value = {{ nbsql[feature.family.name ~ '_value'](feature, nbsql.word('number')) }}
  {{- nbsql.same_part(model, level, nbsql.word('number')) }}
{%- endmacro %}
