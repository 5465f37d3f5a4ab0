{#
  The verbs of a model. Every verb passes the columns of its source through and adds its own.

    predict               prediction, probability (of the prediction)
    predict_proba         the same, and probability_<class> a class
    joint_log_likelihood  joint_log_likelihood_<class> a class: ln p(x, c)
    log_evidence          log_evidence: ln p(x), low for a row that fits no class; NULL if the model has weights, which do not say it

  A row that no class can explain has a NULL prediction.

  All of them read `scored`: the source's rows with nbsql_prediction, nbsql_probability, nbsql_log_evidence and the joint
  log-likelihoods, as columns nbsql_joint_1, nbsql_joint_2, ... in the wide form and as the list nbsql_joints in the long one.
#}

{% macro scored(model, source, parameters, lookups) -%}
{% if model.class_numbers -%}
{{ nbsql.scored_wide(model, source, parameters, lookups) }}
{%- else -%}
{{ nbsql.scored_long(model, source, parameters, lookups) }}
{%- endif %}
{%- endmacro %}

{% macro predict(model, scored) -%}
SELECT
  {{ nbsql.passed(model) }},
  {{ nbsql.added('prediction') }},
  {{ nbsql.added('probability') }}
{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{% macro predict_proba(model, scored) -%}
SELECT
  {{ nbsql.passed(model) }},
  {{ nbsql.added('prediction') }},
  {{ nbsql.added('probability') }}
  {%- for class in model.class_columns %},
  CASE WHEN source.nbsql_log_evidence > -{{ nbsql.infinity() }} THEN {% set difference %}{{ nbsql.joint(model, class.number) }} - source.nbsql_log_evidence{% endset %}{{ nbsql.exp(difference) }} END AS {{ nbsql.output(class.probability) }}
  {%- endfor %}

{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{% macro joint_log_likelihood(model, scored) -%}
SELECT
  {{ nbsql.passed(model) }}
  {%- for class in model.class_columns %},
  {{ nbsql.joint(model, class.number) }}{{ nbsql.and_common(model) }} AS {{ nbsql.output(class.joint) }}
  {%- endfor %}

{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}

{% macro log_evidence(model, scored) -%}
SELECT
  {{ nbsql.passed(model) }},
  {%+ if model.learnt %}{{ nbsql.added_nothing('log_evidence') }}{% else %}{{ nbsql.added('log_evidence', nbsql.and_common(model)) }}{%+ endif %}

{{ nbsql.from_scored(model, scored) }}
{%- endmacro %}


{# The columns of the source, as they came, without those that it was joined with. No source has names of nbsql's own. #}
{% macro passed(model=none) -%}
source.* {% if model and model.joined_names %}EXCLUDE ({% for name in model.joined_names %}{{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}) {% endif %}NOT SIMILAR TO 'nbsql_.*'
{%- endmacro %}

{#
  A column that a verb adds. Its name stands alone, so that a source with a column of that name is refused as ambiguous,
  instead of one hiding the other; the other side of the ambiguity is a NULL.
#}
{% macro added(name, more='') -%}
coalesce({{ nbsql.word(name) }}, source.nbsql_{{ nbsql.word(name) }}{% if more %}{{ more }}{% endif %}) AS {{ nbsql.word(name) }}
{%- endmacro %}

{# A number that is not known. #}
{% macro added_nothing(name) -%}
CAST({{ nbsql.word(name) }} AS {{ nbsql.double() }}) AS {{ nbsql.word(name) }}
{%- endmacro %}

{% macro joint(model, k) -%}
{% if model.class_numbers %}source.nbsql_joint_{{ k }}{% else %}source.nbsql_joints[{{ k }}]{% endif %}
{%- endmacro %}

{# What a joint log-likelihood lacks of its whole (score.sql). #}
{% macro and_common(model) -%}
{% if model.common %} + source.nbsql_common{% endif %}
{%- endmacro %}

{% macro from_scored(model, scored) -%}
FROM {{ scored }} AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}
