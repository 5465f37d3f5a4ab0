{#
  Scoring in the long form: one row per class instead of one column per class. Statements stay short however many classes there are, and the
  star of left joins is cut into blocks, because the time to plan one grows faster than the number of its joins.

  The lookups hold one list a value, with a number a class; the lists that a row meets are unnested side by side.

  With more than a hundred classes, if the terms of a row and class come as one row, the terms are computed twice, for the highest and for
  the sum below it. What is kept is one row per source row, and if a verb asks for no joint log-likelihood per class, DuckDB leaves out the
  lists of these, which take most of the time and, with many classes, do not fit in memory. Models with few classes are here because of
  their many numbers: their terms are computed once, which halves the time, and the lists are short.
#}
{% macro scored_long(model, source, parameters, lookups) -%}
{% set levels = model.form.joined_categories -%}
{#
  The first block also has the numbers. If categories are listed, it holds no lookups, because listed categories meet a class as numbers
  do.
#}
{% set first = [] if model.form.categories_in_lists else levels[:20] -%}
{% set blocks = levels[first | length:] -%}
{% set bags = model.facts.features | selectattr('family.bag') | list -%}
{% set whole = model.form.class_columns[100:] and not (bags or blocks or model.facts.has_components) -%}
{% set twice %}{% if whole %}NOT MATERIALIZED {% endif %}{% endset -%}
{% set explained %}evidence.highest > -{{ nbsql.infinity() }}{% endset -%}
WITH {{ nbsql.numbered_source(model, source, parameters, lookups) }},
terms AS {{ twice }}(
  {{ nbsql.block_terms(model, first, parameters, lookups, dense=true) | indent(2) }}
  {% for block in blocks | batch(20) %}
  UNION ALL
  {{ nbsql.block_terms(model, block, parameters, lookups) | indent(2) }}
  {% endfor %}
  {% for feature in bags %}
  UNION ALL
  {{ nbsql.bag_terms(model, feature, parameters, lookups) | indent(2) }}
  {% endfor %}
),
{% if model.facts.has_components %}joint_of_members{% else %}joint{% endif %} AS {{ twice }}(
  {% if bags or blocks %}
  SELECT nbsql_row, class_no, sum(term) AS joint FROM terms GROUP BY nbsql_row, class_no
  {%- else %}
  SELECT nbsql_row, class_no, term AS joint FROM terms
  {%- endif +%}
),
{% if model.facts.has_components %}
joint AS {{ nbsql.subquery(nbsql.mixture_joints(parameters)) }},
{% endif %}
{% if whole %}
{% set below %}joint.joint - best.highest{% endset %}
best AS (
  SELECT nbsql_row, max(joint) AS highest FROM joint GROUP BY nbsql_row
),
evidence AS (
  SELECT
    joint.nbsql_row,
    max(best.highest) AS highest,
    min(CASE WHEN joint.joint = best.highest THEN joint.class_no END) AS class_no,
    {{ nbsql.sum_of_shares(nbsql.exp(below), nbsql.word('best.highest')) }} AS mass,
    {{ nbsql.ordered_list(nbsql.word('joint.joint'), nbsql.word('joint.class_no')) }} AS joints
  FROM joint
  JOIN best ON best.nbsql_row = joint.nbsql_row
  GROUP BY joint.nbsql_row
)
{%- else %}
best AS (
  SELECT nbsql_row, max(joint) AS highest, {{ nbsql.ordered_list(nbsql.word('joint'), nbsql.word('class_no')) }} AS joints
  FROM joint
  GROUP BY nbsql_row
),
evidence AS (
  {% set difference %}joint - highest{% endset %}
  SELECT
    *,
    {{ nbsql.list_place(nbsql.word('joints'), nbsql.word('highest')) }} AS class_no,
    {{ nbsql.list_total(nbsql.list_mapped(nbsql.word('joints'), nbsql.exp(difference), 'joint')) }} AS mass
  FROM best
  {{- nbsql.optimisation_fence() | indent(2) }}
)
{%- endif +%}
SELECT
  source.*,
  evidence.joints AS nbsql_joints,
  CASE WHEN {{ explained }} THEN parameters.class END AS nbsql_prediction,
  CASE WHEN {{ explained }} THEN 1 / evidence.mass END AS nbsql_probability,
  evidence.highest AS nbsql_highest,
  evidence.mass AS nbsql_relative_evidence,
  {{ nbsql.log_sum(nbsql.word('evidence.highest'), nbsql.word('evidence.mass')) }} AS nbsql_log_evidence
  {{- nbsql.enough_known(model) }}
FROM numbered AS source
JOIN evidence ON evidence.nbsql_row = source.nbsql_row
{{- nbsql.join_known_tokens(model, lookups) }}
JOIN {{ parameters }} AS parameters
  ON parameters.class_no = evidence.class_no{{ nbsql.same_part(model, nbsql.word('parameters'), nbsql.word('source')) }}
{%- endmacro %}

{#
  The sum of the terms of a block of categorical features. The first block, dense, also holds the prior and all terms that need no lookup.
  Numbers are guarded once a row, before there is one row per class.
#}
{% macro block_terms(model, levels, parameters, lookups, dense=false) -%}
{% set smoothed = levels | selectattr('family.parameters') | list -%}
{% set computed = model.facts.features | selectattr('family.has_parameter_term') | list if dense else [] -%}
{% set listed = model.form.categories_in_lists if dense else [] -%}
{% set smoothed = smoothed + (listed | selectattr('family.parameters') | list) -%}
SELECT
  number.nbsql_row,
  {%+ if levels %}number{% else %}parameters{%+ endif %}.class_no,
  {%+ if dense %}{{ nbsql.prior_term(model, none) }}{%+ endif %}
  {%- if computed +%}
    + {% call(feature) nbsql.sum_in_blocks(computed) %}{{ nbsql.computed_term(feature, none) }}{% endcall %}
  {%- endif %}
  {%- if listed +%}
    + {{ nbsql.list_lookup_terms(model, none) | indent(4) }}
  {%- endif %}
  {%- for feature in levels %}
  {%- set found %}number.level{{ nbsql.feature_suffix(feature) }}{% endset +%}
    {%+ if dense or not loop.first %}+ {%+ endif %}{{ nbsql.level_term(feature, none, found) }}
  {%- endfor %} AS term
{% set inputs -%}
  SELECT
    {% for feature in computed %}
    {{ nbsql.inputs(feature, none, true, false) | indent(4) }},
    {% endfor %}
    {% for feature in smoothed %}
    {{ nbsql.given(feature, nbsql.word('source')) }} AS nbsql_x{{ nbsql.feature_suffix(feature) }},
    {% endfor %}
    {% if listed %}
    {{ nbsql.places_of_values(listed) | indent(4) }} AS nbsql_places,
    {% endif %}
    {% for feature in levels %}
    unnest(level{{ nbsql.feature_suffix(feature) }}.scores) AS level{{ nbsql.feature_suffix(feature) }},
    {% endfor %}
    {% if levels %}
    unnest(classes.class_nos) AS class_no,
    {% endif %}
    {{ nbsql.row_key(model, nbsql.word('source')) }}
  FROM {% if dense %}numbered{% else %}{{ nbsql.columns_of_block(model, levels) }}{% endif %} AS source
  {% if listed %}
  JOIN {{ nbsql.subquery(nbsql.known_values(model, lookups)) | indent(2) }} AS listed ON TRUE
  {% endif %}
  {% if levels and model.part_column %}
  {% set part = nbsql.word(model.part_column) %}
  JOIN (
    SELECT {{ part }}, {{ nbsql.ordered_list(nbsql.word('class_no'), nbsql.word('class_no')) }} AS class_nos
    FROM {{ parameters }} AS parameters
    GROUP BY {{ part }}
  ) AS classes ON classes.{{ part }} = source.{{ part }}
  {% elif levels %}
  JOIN (
    SELECT {{ nbsql.ordered_list(nbsql.word('class_no'), nbsql.word('class_no')) }} AS class_nos FROM {{ parameters }} AS parameters
  ) AS classes ON TRUE
  {% endif %}
  {% for feature in levels %}
  LEFT JOIN {{ lookups }} AS level{{ nbsql.feature_suffix(feature) }}
    ON level{{ nbsql.feature_suffix(feature) }}.feature = {{ nbsql.text(feature.name) }}
    AND level{{ nbsql.feature_suffix(feature) }}.value = {{ nbsql[feature.family.macros.value](feature, nbsql.word('source')) }}
    {%- set level %}level{{ nbsql.feature_suffix(feature) }}{% endset %}
    {{- nbsql.same_part(model, level, nbsql.word('source')) }}
  {% endfor %}
{%- endset %}
FROM (
  {{ nbsql.completed_inputs(inputs | trim, computed) }}
) AS number
{%- if dense and not levels %}
{% if listed %}
{% set parameters %}(
  {{ nbsql.with_scores(listed, parameters, lookups) | indent(2) }}
){% endset %}
{% endif %}
{{- nbsql.join_parameters(model, parameters, nbsql.word('number')) }}
{%- elif dense or smoothed +%}
JOIN {{ parameters }} AS parameters
  ON parameters.class_no = number.class_no{{ nbsql.same_part(model, nbsql.word('parameters'), nbsql.word('number')) }}
{%- endif %}
{%- endmacro %}

{#
  A sum of numbers from 0 to 1 that does not depend on the order of the rows, so that equal rows have exactly equal posteriors and ties
  stay ties: they are added as whole numbers of 2^-60. highest: -infinity if there is nothing to add.
#}
{% macro sum_of_shares(share, highest) -%}
{% set unit = nbsql.number(1152921504606846976) -%}
{% set units %}CASE WHEN {{ highest }} > -{{ nbsql.infinity() }} THEN CAST({{ share }} * {{ unit }} AS BIGINT) END{% endset -%}
CAST(sum({{ units }}) AS {{ nbsql.double() }}) / {{ unit }}
{%- endmacro %}

{# The columns that identify a row and class of a bag. #}
{% macro row_and_class() -%} tokens.nbsql_row, parameters.class_no {%- endmacro %}

{# One row per row of the source and class: nbsql_row, class_no, term (the sum over the tokens of a bag). #}
{% macro bag_terms(model, feature, parameters, lookups) -%}
{% if feature.family.over_columns -%}
{{ nbsql.pairs_terms(model, feature, lookups) }}
{%- else -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
SELECT nbsql_row, class_no, sum(term) AS term
FROM (
  SELECT
    tokens.nbsql_row,
    parameters.class_no,
    {% set found %}lookups.scores[parameters.class_no]{% endset %}
    {% set unseen %}parameters.unseen{{ nbsql.feature_suffix(feature) }}{% endset %}
    {{ nbsql.occurrence_factor(feature) }}{% if smooth %}coalesce({{ found }}, {{ unseen }}){% else %}{{ found }}{% endif %}
      {%- if feature.family.norm %} / {{ nbsql.bag_length(feature, nbsql.row_and_class()) }}{% endif %} AS term
  FROM {{ nbsql.tokens_with_lookups(model, feature, lookups, parameters) | indent(2) }}
) AS scores
GROUP BY nbsql_row, class_no
{%- endif %}
{%- endmacro %}
