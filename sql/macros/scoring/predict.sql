{#
  The verbs of a model. Every verb passes on the columns of its source, or those that are named, and adds its own.

    predict               prediction, probability (of the prediction)
    predict_proba         the same, and probability_<class> a class
    joint_log_likelihood  joint_log_likelihood_<class> a class: ln p(x, c)
    log_evidence          log_evidence: ln p(x), low for a row that fits no class; NULL if the model has weights, which do not give it

  A row that no class explains has a NULL prediction.

  All of them read `scored`: the rows of the source with nbsql_prediction, nbsql_probability, nbsql_log_evidence and the joint
  log-likelihoods, as columns nbsql_joint_1, nbsql_joint_2, ... in the wide form and as the list nbsql_joints in the long one; and the
  highest of these, nbsql_highest, with nbsql_relative_evidence, p(x) / exp(nbsql_highest).
#}

{#
  One row per row of the source: its columns and those of its score (score.sql, score_long.sql). checked: the parameters with the condition
  that their classes are those of the query, which it states once.
#}
{% macro scored(model, source, parameters, lookups, checked=none) -%}
{% if model.form.class_numbers -%}
{{ nbsql.scored_wide(model, source, parameters, lookups, checked) }}
{%- else -%}
{{ nbsql.scored_long(model, source, checked or parameters, lookups) }}
{%- endif %}
{%- endmacro %}

{# One row per row of the source: its columns, prediction, probability. #}
{% macro default__predict(model, scored) -%} {{ nbsql.predict_proba(model, scored, []) }} {%- endmacro %}

{# One row per row of the source: its columns, prediction, probability, and the probability of each of the classes. #}
{% macro default__predict_proba(model, scored, classes=none) -%}
SELECT
  {{ nbsql.passed_columns(model) }}{{ nbsql.output_label(model) }},
  {{ nbsql.output_column(model, 'probability') }}
  {%- for class in (model.form.class_columns if classes is none else classes) %},
  {% set posterior = nbsql.posterior_of(model, nbsql.joint(model, class.number), class.number) %}
  CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ posterior }} END AS {{ nbsql.output(class.probability) }}
  {%- endfor +%}
{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{#
  The posterior of a class, of a row that some class explains; joint: its joint log-likelihood. It is not exp(joint - log evidence), because
  beside a large joint log-likelihood the logarithm of the relative evidence is lost: -1e17 + ln 2 = -1e17.
#}
{% macro posterior(model, joint) -%}
{% set difference %}{{ joint }} - source.nbsql_highest{% endset -%}
{{ nbsql.relative_likelihood(model, difference) }} / source.nbsql_relative_evidence
{%- endmacro %}

{# Its logarithm. #}
{% macro log_posterior(joint, relation='source') -%}
{% set relation = nbsql.word(relation) -%}
{{ joint }} - {{ relation }}.nbsql_highest - ln({{ relation }}.nbsql_relative_evidence)
{%- endmacro %}

{# What a standalone scorer says otherwise (engines/standalone/): the posterior of class k. #}
{% macro posterior_of(model, joint, k) -%} {{ nbsql.posterior(model, joint) }} {%- endmacro %}

{# One row per row of the source: its columns, and the joint log-likelihood of each class. #}
{% macro default__joint_log_likelihood(model, scored) -%}
SELECT
  {{ nbsql.passed_columns(model) }}
  {%- for class in model.form.class_columns -%}
  {% if not loop.first %}  {% endif %}
  {{- nbsql.output_joint(model, nbsql.joint(model, class.number)) }} AS {{ nbsql.output(class.joint) }}{{ nbsql.comma_line(loop) }}
  {%- endfor +%}
{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{# One row per row of the source: its columns, log_evidence. #}
{% macro default__log_evidence(model, scored) -%}
SELECT
  {{ nbsql.passed_columns(model) }}
  {%- if model.facts.has_weights -%}
  {{ nbsql.output_null(model, 'log_evidence') }}
  {% else -%}
  {{ nbsql.output_column(model, 'log_evidence', nbsql.plus_common(model)) }}
  {% endif +%}
{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{# The columns of the source that a verb passes on, all of them unless some are named, followed by a comma. #}
{% macro passed_columns(model) -%}
{% if model.options.passed_columns is none %}{{ nbsql.source_columns(model) }},
{% else %}{% for column in model.options.passed_columns %}{% if not loop.first %}  {% endif %}source.{{ nbsql.ident(column) }},
{% endfor %}{% endif %}{% if model.options.passed_columns is none or model.options.passed_columns %}  {% endif %}
{% endmacro %}

{# The columns of the source, unchanged. #}
{% macro default__source_columns(model) -%}
{% for column in model.options.columns -%}
{% if not loop.first %}  {% endif %}source.{{ nbsql.ident(column) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# The joint log-likelihood of class k in a row of `scored`. #}
{% macro joint(model, k) -%}
{% if model.form.class_numbers %}source.nbsql_joint_{{ k }}{% else %}source.nbsql_joints[{{ k }}]{% endif %}
{%- endmacro %}

{# The same in an answer. #}
{% macro output_joint(model, joint) -%} {{ joint }}{{ nbsql.plus_common(model) }} {%- endmacro %}

{# The part that joint log-likelihoods leave out (score.sql), to be added. #}
{% macro plus_common(model) -%} {% if model.form.features_with_common_term %} + source.nbsql_common{% endif %} {%- endmacro %}

{#
  To follow the columns of an answer: the scored rows, in the order of the source. `added` holds names that a column of the source may
  have, to detect such a conflict.
#}
{% macro default__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.options.passed_columns is none +%}
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
{%- endif %}{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}

{# To end an answer: the order of the source, if its rows are numbered, and then that of a rank. #}
{% macro in_order_of_source(model, rank=none) -%}
{% if model.has_row_numbers +%}
ORDER BY nbsql_row ASC NULLS LAST{% if rank %}, {{ nbsql.word(rank) }} ASC NULLS LAST{% endif %}
{%- endif %}
{%- endmacro %}
