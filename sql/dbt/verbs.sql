{#
  What statistics say, each the body of a dbt model. `statistics` is ref('...') of a model whose body is nbsql.statistics.

  The parameters and lookups that scoring reads stand in front of the query, made from the statistics there and then.
#}

{# A row a class: class, n, prior, log_prior. #}
{% macro class_priors(statistics, training=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.check_engine() %}
{% do return(nbsql.finished_statement(nbsql.priors(nbsql.model_of(nbsql.statistics_node(statistics), training), statistics))) %}
{%- endmacro %}

{# A row a class, feature and value: class, feature, value, likelihood, log_likelihood, mean, variance, rate. #}
{% macro feature_likelihoods(statistics, training=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.check_engine() %}
{% set model = nbsql.model_of(nbsql.statistics_node(statistics), training) -%}
{% set priors = nbsql.subquery(nbsql.priors(model, statistics)) -%}
{% do return(nbsql.finished_statement(nbsql.likelihoods(model, statistics, priors) if model.features else nbsql.no_likelihoods(priors))) %}
{%- endmacro %}

{# The rows of a relation with prediction and probability. #}
{% macro predictions(statistics, source, where=none, training=none) -%}
{% do return(nbsql.scored_by('predict', statistics, source, where, training)) %}
{%- endmacro %}

{# ... and probability_<class> a class. #}
{% macro probabilities(statistics, source, where=none, training=none) -%}
{% do return(nbsql.scored_by('predict_proba', statistics, source, where, training)) %}
{%- endmacro %}

{# The rows of a relation with joint_log_likelihood_<class> a class: ln p(x, c). #}
{% macro joint_log_likelihoods(statistics, source, where=none, training=none) -%}
{% do return(nbsql.scored_by('joint_log_likelihood', statistics, source, where, training)) %}
{%- endmacro %}

{# The rows of a relation with log_evidence: ln p(x), low for a row that fits no class. #}
{% macro evidence(statistics, source, where=none, training=none) -%}
{% do return(nbsql.scored_by('log_evidence', statistics, source, where, training)) %}
{%- endmacro %}

{# A row a row of the relation, class and feature: row_id, the id columns, class, feature, value, contribution. #}
{% macro explanation(statistics, source, where=none, training=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.check_source(model, source, model.id) %}
{% set query = nbsql.explain(model, nbsql.rows_where(source, where), nbsql.inline_name('parameters'), nbsql.inline_name('lookups')) -%}
{% do return(nbsql.finished_statement(nbsql.with_model(model, statistics, query))) %}
{%- endmacro %}

{#
  How well the predictions of rows are whose class is known. table: 'metrics' (class, metric, value), 'intervals', 'confusion',
  'roc', 'precision_recall', 'calibration', 'lift' or 'thresholds'. weight: a column. bins: of the calibration and the lift.
#}
{% macro evaluation(statistics, source, table='metrics', weight=none, bins=10, where=none, training=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% set tables = ['metrics', 'intervals', 'confusion', 'roc', 'precision_recall', 'calibration', 'lift', 'thresholds'] -%}
{% do nbsql.one_of(table, tables, 'table', 'nbsql.evaluation') %}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.check_source(model, source, [model.target] + ([weight] if weight is not none else [])) %}
{% set columns = [model.target] -%}
{% set weights = [weight] if weight is not none else [] -%}
{% for column in weights + model.features | map(attribute='columns') | sum(start=()) | list if column not in columns -%}
{% do columns.append(column) %}
{% endfor -%}
{% set rows = nbsql.subquery(nbsql.selected_columns(nbsql.rows_where(source, where), columns)) -%}
{% set parameters, lookups = nbsql.inline_name('parameters'), nbsql.inline_name('lookups') -%}
{% set scored = nbsql.subquery(nbsql.scored(model, rows, parameters, lookups)) -%}
{% set judged = nbsql.judged_rows(model, scored, parameters, weight, model.target_kind == 'text') -%}
{% set query = nbsql[table](judged, bins) if table in ['metrics', 'calibration', 'lift'] else nbsql[table](judged) -%}
{% do return(nbsql.finished_statement(nbsql.with_model(model, statistics, query))) %}
{%- endmacro %}

{#
  What the rows of each period are like beside what the statistics have counted, and how well the model does on them: period, feature,
  class, metric, value, reference, moved, by_chance (macros/judging/monitor.sql). by: an expression that says the period of a row; none: all
  are of one. The relation need not have the target. weight: a column.
#}
{% macro monitoring(statistics, source, by=none, weight=none, where=none, training=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.check_source(model, source, [weight] if weight is not none else []) %}
{% set names = [model.target] -%}
{% set label = model.columns | select('in', [model.target]) | list -%}
{% for column in model.features | map(attribute='columns') | sum(start=()) | list -%}
{% if column not in names %}{% do names.append(column) %}{% endif -%}
{% endfor -%}
{% set sides = [(nbsql.rows_where(source, where), (label or [none]) + names[1:], by, false)] -%}
{% set rows = nbsql.monitored_rows(sides, names, model.target_type, weight) -%}
{% set counted = dict(
  model, target='nbsql_all', target_type='INTEGER', weight='nbsql_weight', slice_by='nbsql_period', batch='1') -%}
{% set parameters, as_text = nbsql.inline_name('parameters'), model.target_kind == 'text' -%}
{% set scored = nbsql.subquery(nbsql.scored(model, nbsql.inline_name('monitored'), parameters, nbsql.inline_name('lookups'))) -%}
{% set carried = ['nbsql_period', 'nbsql_evidence'] -%}
{% set judged = nbsql.judged_rows(model, nbsql.with_evidence(model, scored), parameters, 'nbsql_weight', as_text, carried) -%}
{% set priors = nbsql.subquery(nbsql.priors(model, statistics)) -%}
{% set query = nbsql.monitor(counted, rows, judged, statistics, priors, as_text) -%}
{% do return(nbsql.finished_statement(nbsql.with_model(model, statistics, query))) %}
{%- endmacro %}

{# The query of a verb that scores the rows of a relation, of a model in the same statement. #}
{% macro scored_by(verb, statistics, source, where, training) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.check_source(model, source, []) %}
{% set rows = nbsql.rows_where(source, where) -%}
{% set scored = nbsql.subquery(nbsql.scored(model, rows, nbsql.inline_name('parameters'), nbsql.inline_name('lookups'))) -%}
{% do return(nbsql.finished_statement(nbsql.with_model(model, statistics, nbsql[verb](model, scored)))) %}
{%- endmacro %}

{# The columns of the relation to score; one that lacks a column, or has one of a type that its family does not take, is refused. #}
{% macro check_source(model, source, others) -%}
{% set columns = nbsql.columns_of(source, 'the relation to score') -%}
{% do model.update({'columns': columns | map(attribute='name') | list}) %}
{% for name in others %}{% do nbsql.column_named(columns, name, "which '" ~ model.name ~ "' needs", source) %}{% endfor -%}
{% for feature in model.features -%}
{% for name in feature.columns -%}
{% set column = nbsql.column_named(columns, name, "a feature of '" ~ model.name ~ "'", source) -%}
{% if column.kind not in feature.family.accepts -%}
{% do nbsql.refuse(
  "column '" ~ column.name ~ "' of " ~ source.identifier ~ ' is ' ~ column.type ~ ", which '" ~ model.name ~ "' cannot take for a "
  ~ feature.family.name ~ ' feature; cast it') %}
{% endif -%}
{% endfor -%}
{% endfor -%}
{%- endmacro %}

{# A query with the tables that it reads in front of it. #}
{% macro with_model(model, statistics, query) -%}
{% set priors = nbsql.inline_name('priors') -%}
WITH {{ priors }} AS MATERIALIZED (
  {{ nbsql.numbered_priors(model, statistics) | indent(2) }}
),
{{ nbsql.inline_name('parameters') }} AS MATERIALIZED (
  {{ nbsql.parameters(model, statistics, priors) | indent(2) }}
)
{%- if model.features | selectattr('family.looked_up') | list %},
{{ nbsql.inline_name('lookups') }} AS MATERIALIZED (
  {{ nbsql.lookups(model, statistics, priors) | indent(2) }}
)
{%- endif %}
{%- if query.startswith('WITH ') %},
{{ query[5:] }}
{%- else %}

{{ query }}
{%- endif %}
{%- endmacro %}

{#
  The priors from which the classes get their numbers. Classes that are given have them in their order, whatever was counted: one
  that was not has the prior 0, and one that is not named is left out.
#}
{% macro numbered_priors(model, statistics) -%}
{% if model.labels is none -%}
{{ nbsql.priors(model, statistics) }}
{%- else -%}
SELECT
  coalesce(priors.class, CAST(given.label AS {{ model.target_type }})) AS class,
  coalesce(priors.n, 0) AS n,
  -given.position AS prior,
  coalesce(priors.log_prior, -{{ nbsql.infinity() }}) AS log_prior
FROM (
  VALUES
    {% for label in model.labels %}
    ({{ loop.index }}, {{ nbsql.text(nbsql.label_of(label)) }}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS given(position, label)
LEFT JOIN (
  {{ nbsql.priors(model, statistics) | indent(2) }}
) AS priors ON CAST(priors.class AS {{ nbsql.string() }}) = given.label
{%- endif %}
{%- endmacro %}
