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
{% if model.numbered %}numbered{% elif model.segmented %}(
  {{ nbsql.in_segments(source, parameters) | indent(2) }}
){% else %}{{ source }}{% endif %}
{%- endset -%}
{% if model.numbered -%}
WITH {{ nbsql.numbered(model, source, parameters, lookups) }}
{%- if model.blocks %},
{{ nbsql.block_sums(model.parts, parameters, lookups) }}
{%- endif %}
{%- for feature in model.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model.parts, feature, lookups, parameters) }}
{%- endfor %}

{% endif -%}
{% set explained %}evidence.nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
SELECT
  evidence.*,
  CASE WHEN {{ explained }} THEN CASE evidence.nbsql_highest
    {%- for k in model.class_numbers %} WHEN evidence.nbsql_joint_{{ k }} THEN parameters.class_{{ k }}{% endfor %} END END AS nbsql_prediction,
  CASE WHEN {{ explained }} THEN 1 / evidence.nbsql_mass END AS nbsql_probability,
  CASE WHEN {{ explained }} THEN evidence.nbsql_highest + ln(evidence.nbsql_mass) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
FROM (
  SELECT best.*, {{ nbsql.mass(model) }} AS nbsql_mass
  FROM (
    SELECT
      joint.*,
      greatest({% for k in model.class_numbers %}joint.nbsql_joint_{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}) AS nbsql_highest
    FROM (
      {{ nbsql.class_scores(model, relation, parameters, lookups) | indent(6) }}
      {{- nbsql.once() | indent(6) }}
    ) AS joint
    {{- nbsql.once() | indent(4) }}
  ) AS best
  {{- nbsql.once() | indent(2) }}
) AS evidence
{{ nbsql.met(model, parameters, nbsql.word('evidence')) }}
{%- endmacro %}

{#
  The parameters that a row meets: the one row that there is, or, where a row has a model of its own, by its segment or its fold,
  those of that model: `own` is the column of rows, parameters and lookups that says which. Lookups likewise.
#}
{% macro met(model, parameters, relation) -%}
{% if model.own -%}
JOIN {{ parameters }} AS parameters ON parameters.{{ nbsql.word(model.own) }} = {{ relation }}.{{ nbsql.word(model.own) }}
{%- else -%}
CROSS JOIN {{ parameters }} AS parameters
{%- endif %}
{%- endmacro %}

{% macro of_own(model, relation, other) -%}
{% if model.own %} AND {{ relation }}.{{ nbsql.word(model.own) }} = {{ other }}.{{ nbsql.word(model.own) }}{% endif %}
{%- endmacro %}

{# Each row with nbsql_joint_k, the joint log-likelihood of class k. A class that is in other slices only explains no row of this one. #}
{% macro joint_scores(model, relation, parameters, lookups) -%}
{% set computed = model.features | selectattr('family.parametrised_term') | list -%}
{% set inputs = computed + (model.star + model.listed) | selectattr('family.parameters') | list -%}
{% if model.listed -%}
{% set relation -%}
(
  {{ nbsql.with_places(model, relation, lookups) | indent(2) }}
)
{%- endset -%}
{%- endif -%}
SELECT
  number.*
  {%- for k in model.class_numbers %},
  {%+ if model.by_slice %}coalesce({%+ endif %}{% if model.bare %}0{% else %}parameters.log_prior_{{ k }}{% endif %}
  {%- for dimension in model.joins if dimension.scored %}

    + coalesce(number.nbsql_said_{{ dimension.place }}_{{ k }}, 0)
  {%- endfor %}
  {%- if model.blocks %}

    + blocks.class_{{ k }}
  {%- endif %}
  {%- if model.coded %}

    + number.nbsql_levels_{{ k }}
  {%- endif %}
  {%- for block in model.listed | batch(50) %}

    + ({{ nbsql.listed_terms(model, block, k) | indent(4) }})
  {%- endfor %}
  {%- if model.complete %}

    + {{ nbsql.complete_terms(model, k) | indent(4) }}
  {%- endif %}
  {%- for block in model.in_joint | batch(50) %}

    + {{ nbsql.terms_of(block, k) | indent(4) }}
  {%- endfor %}
  {%- for block in model.star | batch(model.added_first) %}

    + {{ nbsql.found_first(block, k) | indent(4) }}
  {%- endfor %}{% if model.by_slice %}, -{{ nbsql.infinity() }}){% endif %} AS nbsql_{% if model.mixed %}member{% else %}joint{% endif %}_{{ k }}
  {%- endfor %}
  {%- if model.common %},
  {% for feature in model.common %}
{{ nbsql[feature.family.name ~ '_common'](feature, 1) | indent(4) }}{% if not loop.last %} + {% endif %}
  {%- endfor %} AS nbsql_common
  {%- endif %}

FROM {{ nbsql.with_steps(model, relation, inputs, parameters) }}
{{ nbsql.met(model, parameters, nbsql.word('number')) }}
{%- if model.blocks %}

JOIN blocks ON blocks.nbsql_row = number.nbsql_row
{%- endif %}
{%- for feature in model.star %}

{{ nbsql.star(model, feature, lookups) }}
{%- endfor %}
{%- for feature in model.features | selectattr('family.bag') %}

LEFT JOIN bag{{ nbsql.sub(feature) }} ON bag{{ nbsql.sub(feature) }}.nbsql_row = number.nbsql_row
{%- endfor %}
{%- endmacro %}

{# The evidence, as a share of the highest joint likelihood. #}
{% macro mass(model) -%}
{% for block in model.class_numbers | batch(50) -%}
({% for k in block %}{% if not loop.first %} + {% endif %}{% set difference %}best.nbsql_joint_{{ k }} - best.nbsql_highest{% endset %}{{ nbsql.exp(difference) }}{% endfor %})
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# The lookup of a categorical feature; not in a sub-select, which DuckDB would take apart again in the time of all joins, for each one. #}
{% macro star(model, feature, lookups) -%}
{% set level %}level{{ nbsql.sub(feature) }}{% endset -%}
LEFT JOIN {{ lookups }} AS {{ level }}
  ON {{ level }}.feature = {{ nbsql.text(feature.name) }}
  AND {{ level }}.value = {{ nbsql[feature.family.name ~ '_value'](feature, nbsql.word('number')) }}{{ nbsql.of_own(model, level, nbsql.word('number')) }}
{%- endmacro %}

{#
  A relation with what the terms of some features read of a row, a number that is not finite as NULL. In a sub-select, not a lateral join, which takes DuckDB far
  longer to plan.
#}
{% macro with_inputs(relation, features) -%}
{% if features -%}
{% set inputs -%}
SELECT
  source.*,
  {% for feature in features %}
  {%+ if feature.family.level %}{{ nbsql[feature.family.name ~ '_given'](feature, nbsql.word('source')) }} AS nbsql_x{{ nbsql.sub(feature) }}{% else %}{{ nbsql[feature.family.name ~ '_inputs'](feature, none, true, false) | indent(2) }}{%+ endif %}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ relation }} AS source
{%- endset -%}
(
  {{ nbsql.completed(inputs, features) | indent(2) }}
) AS number
{%- else -%}
{{ relation }} AS number
{%- endif %}
{%- endmacro %}

{# A query of the inputs of some features, with what else their terms read that an engine computes once a row. #}
{% macro completed(inputs, features) -%}
{{ inputs }}
{%- endmacro %}

{# The same with what some terms name more than once, of the inputs and the parameters: two steps of their own, which halve those terms twice. #}
{% macro with_steps(model, relation, features, parameters) -%}
{% if model.stepped -%}
(
  SELECT{{ nbsql.with_few(nbsql.word('parameters')) }}
    number.*
    {%- for feature in model.stepped %},
    {{ nbsql[feature.family.name ~ '_steps'](feature, model.class_numbers) | indent(4) }}
    {%- endfor %}

  FROM (
    SELECT{{ nbsql.with_few(nbsql.word('parameters')) }}
      number.*
      {%- for feature in model.stepped %},
      {{ nbsql[feature.family.name ~ '_first_steps'](feature, model.class_numbers) | indent(6) }}
      {%- endfor %}

    FROM {{ nbsql.with_inputs(relation, features) | indent(4) }}
    {{ nbsql.met(model, parameters, nbsql.word('number')) }}
    {{- nbsql.once() | indent(4) }}
  ) AS number
  {{ nbsql.met(model, parameters, nbsql.word('number')) }}
  {{- nbsql.once() | indent(2) }}
) AS number
{%- else -%}
{{ nbsql.with_inputs(relation, features) }}
{%- endif %}
{%- endmacro %}

{# The log-likelihood in class k of the value that a row has. #}
{% macro level(feature, k) -%} level{{ nbsql.sub(feature) }}.class_{{ k }} {%- endmacro %}

{#
  Too many categorical features for one star, because the time to plan one grows faster than the number of its joins: stars
  of twenty, summed by row.
#}
{% macro block_sums(model, parameters, lookups) -%}
blocks AS (
  SELECT
    nbsql_row
    {%- for k in model.class_numbers %},
    sum(class_{{ k }}) AS class_{{ k }}
    {%- endfor %}

  FROM (
    {% for block in model.blocks %}
    SELECT
      number.nbsql_row
      {%- for k in model.class_numbers %},
      {{ nbsql.terms_of(block, k) | indent(8) }} AS class_{{ k }}
      {%- endfor %}

    FROM {{ nbsql.with_inputs(nbsql.narrowed(model, block), block | selectattr('family.parameters') | list) | indent(4) }}
    {%- if block | selectattr('family.parameters') | list %}

    {{ nbsql.met(model, parameters, nbsql.word('number')) }}
    {%- endif %}
    {%- for feature in block %}

    {{ nbsql.star(model, feature, lookups) | indent(4) }}
    {%- endfor %}
    {%- if not loop.last %}

    UNION ALL
    {% endif %}
    {%- endfor %}

  ) AS stars
  GROUP BY nbsql_row
)
{%- endmacro %}

{# Only the columns that a block of features reads: planning a read of all of them takes its time, too. #}
{% macro narrowed(model, features) -%}
(SELECT nbsql_row{% if model.own %}, {{ nbsql.word(model.own) }}{% endif %}{% for column in features | map(attribute='columns') | sum(start=()) | unique %}, numbered.{{ nbsql.ident(column) }}{% endfor %} FROM numbered)
{%- endmacro %}

{# The source read once, with a number a row. Nothing after it may name the source again: a CTE might shadow it. #}
{% macro numbered(model, source, parameters, lookups) -%}
{% set rows %}SELECT {% if not model.joins %}{{ nbsql.row_id() }} AS nbsql_row, {% endif %}source.* FROM {{ source }} AS source{% endset -%}
{% if model.backoffs %}unmasked{% else %}numbered{% endif %} AS {{ nbsql.materialized() }}(
  {% if model.segmented %}
  {% set rows %}(
    {{ rows }}
  ){% endset %}
  {{ nbsql.in_segments(rows, parameters) | indent(2) }}
  {%- else %}
  {{ rows }}
  {%- endif %}

)
{%- if model.backoffs %},
{{ nbsql.masked(model, lookups) }}
{%- endif %}
{%- endmacro %}

{#
  Features that count only where several columns together have a value never seen read columns of their own, nbsql_backoff_3,
  which are NULL, as if the value were missing, in all other rows.
#}
{% macro masked(model, lookups) -%}
numbered AS {{ nbsql.materialized() }}(
  SELECT
    source.*
    {%- for backoff in model.backoffs %}
    {%- for feature, name in backoff.masked %},
    CASE WHEN seen{{ nbsql.sub(backoff.feature) }}.value IS NULL THEN source.{{ nbsql.ident(feature.column) }} END AS {{ nbsql.ident(name) }}
    {%- endfor %}
    {%- endfor %}

  FROM unmasked AS source
  {%- for backoff in model.backoffs %}
  {%- set seen %}seen{{ nbsql.sub(backoff.feature) }}{% endset %}

  LEFT JOIN (
    SELECT value{% if model.own %}, {{ nbsql.word(model.own) }}{% endif %} FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(backoff.feature.name) }}
  ) AS {{ seen }} ON {{ seen }}.value = {{ nbsql.joint_value(backoff.feature, nbsql.word('source')) }}{{ nbsql.of_own(model, seen, nbsql.word('source')) }}
  {%- endfor %}

)
{%- endmacro %}

{# A sum in blocks, because an expression may not nest as deep as a model has features. #}
{% macro terms_of(features, k) -%}
{% for block in features | batch(50) -%}
{% if features | length > 50 %}({% endif -%}
{% for feature in block -%}
{{ nbsql.term(feature, k) }}
{%- if not loop.last %}

+ {% endif %}
{%- endfor %}
{%- if features | length > 50 %}){% endif %}
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# What one feature adds to the joint log-likelihood of class k. #}
{% macro term(feature, k) -%}
{% if feature.family.level -%}
{% set found = nbsql.level(feature, k) -%}
{{ nbsql.level_term(feature, k, found) }}
{%- else -%}
{% if feature.family.bag %}coalesce(bag{{ nbsql.sub(feature) }}.class_{{ k }}, 0){% endif -%}
{% if feature.family.bag and feature.family.parametrised_term %} + {% endif -%}
{% if feature.family.parametrised_term %}{{ nbsql[feature.family.name ~ '_term'](feature, k) }}{% endif -%}
{%- endif %}
{%- endmacro %}

{#
  Most rows have a known value everywhere: their log-likelihoods are simply added, and only where one of them is missing are they
  looked at one by one. Twenty coalesces a class took half of the time of a score.
#}
{% macro found_first(features, k) -%}
{% if features | length > 1 -%}
coalesce(
  {% for feature in features %}{{ nbsql.level(feature, k) }}{% if not loop.last %} + {% endif %}{% endfor %},
  {{ nbsql.terms_of(features, k) | indent(2) }}
)
{%- else -%}
{{ nbsql.terms_of(features, k) }}
{%- endif %}
{%- endmacro %}

{# A category without a lookup is missing, or was never seen: skipped, unless the feature was told otherwise. #}
{% macro level_term(feature, k, found) -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set missing = feature.family.nulls == 'category' -%}
{% set unseen = feature.family.unseen == 'smooth' -%}
coalesce({{ found }}, {% if missing %}CASE WHEN {{ x }} IS NULL THEN parameters.missing{{ i }} END, {% endif -%}
{% if unseen and missing %}parameters.unseen{{ i }}, {% elif unseen %}CASE WHEN {{ x }} IS NOT NULL THEN parameters.unseen{{ i }} END, {% endif -%}
0)
{%- endmacro %}

{# The scores of a bag of tokens, summed by row; tokens that no lookup holds are dropped, or smoothed. #}
{% macro bag_sums(model, feature, lookups, parameters) -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
bag{{ nbsql.sub(feature) }} AS (
  SELECT
    tokens.nbsql_row
    {%- for k in model.class_numbers %},
    sum({{ nbsql.times(feature) }}{% if smooth %}coalesce(lookups.class_{{ k }}, parameters.unseen{{ nbsql.sub(feature) }}_{{ k }}){% else %}lookups.class_{{ k }}{% endif %})
      {%- if feature.family.norm %} / {{ nbsql.bag_length(feature) }}{% endif %} AS class_{{ k }}
    {%- endfor %}

  FROM (
    {{ nbsql.scored_tokens(model, feature) | indent(4) }}
  ) AS tokens
  {%+ if smooth %}LEFT {%+ endif %}JOIN (
    SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS lookups ON lookups.value = tokens.value{{ nbsql.of_own(model, nbsql.word('lookups'), nbsql.word('tokens')) }}
  {%- if smooth %}

  {{ nbsql.met(model, parameters, nbsql.word('tokens')) }}
  {%- endif %}

  GROUP BY tokens.nbsql_row
)
{%- endmacro %}

{% macro row_of(model, relation) -%} {{ relation }}.nbsql_row{% if model.own %}, {{ relation }}.{{ nbsql.word(model.own) }}{% endif %} {%- endmacro %}

{# How often a token counts: once an occurrence, unless a map says, or they come summed up. #}
{% macro times(feature) -%} {% if feature.family.name == 'token_counts' or feature.family.norm %}tokens.times * {% endif %} {%- endmacro %}
