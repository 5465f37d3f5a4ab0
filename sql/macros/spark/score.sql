{#
  Where scoring differs. Small tables are sent to every worker: Spark does not know the size of a table that is in memory only. Rows
  have no order but an id by which the parts of a row meet again.
#}

{% macro spark__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- endmacro %}

{% macro spark__scored_wide(model, source, parameters, lookups) -%}
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
    {%- for k in model.class_numbers %} WHEN evidence.nbsql_joint_{{ k }} THEN evidence.nbsql_class_{{ k }}{% endfor %} END END AS nbsql_prediction,
  CASE WHEN {{ explained }} THEN 1 / evidence.nbsql_mass END AS nbsql_probability,
  CASE WHEN {{ explained }} THEN evidence.nbsql_highest + ln(evidence.nbsql_mass) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
FROM (
  SELECT best.*, {{ nbsql.mass(model) }} AS nbsql_mass
  FROM (
    SELECT
      joint.*,
      {%+ if model.class_numbers | length > 1 %}greatest({% for k in model.class_numbers %}joint.nbsql_joint_{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}){% else %}joint.nbsql_joint_1{%+ endif %} AS nbsql_highest
    FROM (
      {{ nbsql.class_scores(model, relation, parameters, lookups) | indent(6) }}
    ) AS joint
  ) AS best
) AS evidence
{%- endmacro %}

{#
  Spark takes rows of more than a hundred columns apart and puts them together again at each join, so the parameters, which are
  many columns, come last: joined first, they made a prediction two and a half times slower.
#}
{% macro spark__joint_scores(model, relation, parameters, lookups) -%}
{% set computed = model.features | selectattr('family.parametrised_term') | list -%}
{% set inputs = computed + (model.star | selectattr('family.parameters') | list) -%}
SELECT /*+ BROADCAST(parameters{% for feature in model.star %}, level{{ nbsql.sub(feature) }}{% endfor %}) */
  number.*
  {%- for k in model.class_numbers %},
  parameters.class_{{ k }} AS nbsql_class_{{ k }},
  {%+ if model.by_slice %}coalesce({%+ endif %}{% if model.bare %}0{% else %}parameters.log_prior_{{ k }}{% endif %}
  {%- for dimension in model.joins if dimension.scored %}

    + coalesce(number.nbsql_said_{{ dimension.place }}_{{ k }}, 0)
  {%- endfor %}
  {%- if model.blocks %}

    + blocks.class_{{ k }}
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
{%- if model.blocks %}

JOIN blocks ON blocks.nbsql_row = number.nbsql_row
{%- endif %}
{%- for feature in model.star %}

{{ nbsql.star(model, feature, lookups) }}
{%- endfor %}
{%- for feature in model.features | selectattr('family.bag') %}

LEFT JOIN bag{{ nbsql.sub(feature) }} ON bag{{ nbsql.sub(feature) }}.nbsql_row = number.nbsql_row
{%- endfor %}

{{ nbsql.met(model, parameters, nbsql.word('number')) }}
{%- endmacro %}

{# The log-likelihoods of a value in all classes are one column, an array, for the same reason. #}
{% macro spark__star(model, feature, lookups) -%}
{{ nbsql.star_of_scores(model, feature, lookups) }}
{%- endmacro %}

{% macro spark__level(feature, k) -%} level{{ nbsql.sub(feature) }}.scores[{{ k - 1 }}] {%- endmacro %}
