{#
  What a user asks of a model. Every verb passes the columns of its source through and adds its own.

  predict               prediction, probability (of the prediction)
  predict_proba         the same, and probability_<class> a class
  joint_log_likelihood  joint_log_likelihood_<class> a class: ln p(x, c)
  log_evidence          log_evidence: ln p(x), low for a row that fits no class

  A row that no class can explain has a NULL prediction.
#}

{% macro predict(model, source, parameters, lookups) -%}
{% set columns -%}
{{ nbsql.passed(model) }},
{{ nbsql.added(model, 'prediction') }},
{{ nbsql.added(model, 'probability') }}
{%- endset -%}
{{ nbsql.scored(model, source, parameters, lookups, columns) }}
{%- endmacro %}

{% macro predict_proba(model, source, parameters, lookups) -%}
{% set evidence %}{% if model.class_numbers %}source.nbsql_log_evidence{% else %}posterior.log_evidence{% endif %}{% endset -%}
{% set columns -%}
{{ nbsql.passed(model) }},
{{ nbsql.added(model, 'prediction') }},
{{ nbsql.added(model, 'probability') }}
{%- for class in model.class_columns %},
CASE WHEN {{ evidence }} > -{{ nbsql.infinity() }} THEN exp({{ nbsql.joint(model, class.number) }} - {{ evidence }}) END AS {{ nbsql.ident(class.probability) }}
{%- endfor %}
{%- endset -%}
{{ nbsql.scored(model, source, parameters, lookups, columns) }}
{%- endmacro %}

{% macro joint_log_likelihood(model, source, parameters, lookups) -%}
{% set columns -%}
{{ nbsql.passed(model) }}
{%- for class in model.class_columns %},
{{ nbsql.joint(model, class.number) }} AS {{ nbsql.ident(class.joint) }}
{%- endfor %}
{%- endset -%}
{{ nbsql.scored(model, source, parameters, lookups, columns) }}
{%- endmacro %}

{% macro log_evidence(model, source, parameters, lookups) -%}
{% set columns -%}
{{ nbsql.passed(model) }},
{{ nbsql.added(model, 'log_evidence') }}
{%- endset -%}
{{ nbsql.scored(model, source, parameters, lookups, columns) }}
{%- endmacro %}

{% macro scored(model, source, parameters, lookups, columns) -%}
{% if model.class_numbers -%}
{{ nbsql.scored_wide(model, source, parameters, lookups, columns) }}
{%- else -%}
{{ nbsql.scored_long(model, source, parameters, lookups, columns) }}
{%- endif %}
{%- endmacro %}

{% macro joint(model, k) -%}
{% if model.class_numbers %}source.nbsql_joint_{{ k }}{% else %}posterior.joints[{{ k }}]{% endif %}
{%- endmacro %}

{#
  A column that a verb adds. Its name stands alone, so that a source with a column of that name is refused as ambiguous,
  instead of one hiding the other; in the wide form the other side of the ambiguity is a NULL.
#}
{% macro added(model, name) -%}
{% if model.class_numbers %}coalesce({{ nbsql.word(name) }}, source.nbsql_{{ nbsql.word(name) }}) AS {% endif %}{{ nbsql.word(name) }}
{%- endmacro %}
