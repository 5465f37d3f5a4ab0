{#
  What the queries on statistics (verbs.sql) have in common: the tables of the model before the query, what is returned in place of a query,
  and the checks of the columns of a relation.
#}

{# The query of a verb that scores the rows of a relation, with the model in the same statement. #}
{% macro query_of_verb(verb, statistics, source, where, training, columns, calibration=none, certain=none, by_class=false) -%}
{% set instead = nbsql.instead_of_score(statistics, training, source, calibration) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% do nbsql.refuse_if(by_class is not boolean, 'by_class of nbsql.predictions must be true or false, not ' ~ by_class) %}
{% if certain is not none %}{% do nbsql.check_share(certain, 'certain') %}{% endif -%}
{% do nbsql.refuse_unread([
  ('by_class', by_class or none, certain is not none, 'certain'),
  ('certain', certain, calibration is not none, "calibration=ref('...'), of nbsql.fitted_calibration(..., method='certain')")]) %}
{% set model = nbsql.calibrated(nbsql.scoring_model(statistics, training), calibration, certain is not none) -%}
{% set known = nbsql.check_source(model, source, []) -%}
{% do nbsql.pass_columns(model, known, columns, source, {
  'predict': ['prediction', 'probability'] + ([] if certain is none else ['reason']),
  'predict_proba': ['prediction', 'probability'] + (model.form.class_columns | map(attribute='probability') | list),
  'joint_log_likelihood': model.form.class_columns | map(attribute='joint') | list, 'log_evidence': ['log_evidence']}[verb]) %}
{% set scored = nbsql.scored_rows(model, nbsql.rows_to_score(model, source, where)) -%}
{% if certain is none -%}
{% set query = nbsql[verb](model, scored) -%}
{% else -%}
{% set promises = nbsql.rows_where(calibration) -%}
{% set parameters, is_calibrated = nbsql.table_of(model, 'parameters'), model.calibration is not none -%}
{% set query = nbsql.predict_certain(model, scored, parameters, promises, certain, by_class, is_calibrated) -%}
{% endif -%}
{% do return(nbsql.body(nbsql.with_model_tables(model, statistics, query))) %}
{%- endmacro %}

{# The scored rows of a relation, by the tables that with_model_tables precedes them with, and calibrated if the model is (calibrated). #}
{% macro scored_rows(model, rows) -%}
{% set parameters = nbsql.table_of(model, 'parameters') -%}
{% set scored = nbsql.subquery(nbsql.scored(model, rows, parameters, nbsql.table_of(model, 'lookups'))) -%}
{% if model.calibration is none %}{% do return(scored) %}{% endif -%}
{% set relation, method = nbsql.rows_where(model.calibration.relation), model.calibration.method -%}
{% do return(nbsql.subquery(nbsql.calibrated_scores(model, scored, parameters, relation, method))) %}
{%- endmacro %}

{# The name of a table of a model in a query. A query of two models says which of them: `side`. #}
{% macro table_of(model, name) -%} {{ nbsql.inline_name(model.side ~ name) }} {%- endmacro %}

{# What a macro returns in place of a query of statistics (instead_of_query): they, what they learn from and the source must be there. #}
{% macro instead_of_score(statistics, training=none, source=none, calibration=none) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.check_engine() %}
{% set learnt = nbsql.training_of(nbsql.statistics_node(statistics)) if training is none else training -%}
{% do return(nbsql.instead_of_query([statistics, learnt] + [source, calibration] | reject('none') | list)) %}
{%- endmacro %}

{#
  The columns of the source that a verb returns beside those that it adds: all of them, or those of `columns`. One with the name of an added
  one is refused.
#}
{% macro pass_columns(model, known, columns, source, added) -%}
{% set names = [] if columns is none else nbsql.given_names(columns, 'columns', 0) -%}
{% set passed = nbsql.columns_named(known, names, 'which columns= names', source) -%}
{% for column in (known if columns is none else passed) if column.name | lower in added | map('lower') | list -%}
{% do nbsql.refuse(
  source.identifier ~ " has a column '" ~ column.name ~ "', which nbsql adds too; choose what comes back by columns=[...]") %}
{% endfor -%}
{% if columns is not none %}{% do model.options.update({'passed_columns': passed | map(attribute='name') | list}) %}{% endif -%}
{%- endmacro %}

{# The rows to score, or those for which a condition holds, with the columns that the model derives from them. #}
{% macro rows_to_score(model, source, where) -%}
{% do return(nbsql.derived_rows(nbsql.rows_where(source, where), model.derived_here, model.options.columns)) %}
{%- endmacro %}

{#
  The columns of the relation to score, with those that the model derives. welcome: columns that it may lack. A missing column, or one
  whose type its family or a weight does not accept, is refused.
#}
{% macro check_source(model, source, others, weight=none, welcome=[]) -%}
{% set columns = nbsql.columns_of(source, 'the relation to score') -%}
{% set names = columns | map(attribute='name') | list -%}
{% set required = others + ([weight] if weight is not none else []) + model.feature_columns -%}
{% set derive, known = {}, names | map('lower') | list -%}
{% for name, expression in nbsql.needed_columns(model.derive, model.reads, required + welcome).items() -%}
{% set absent = [] -%}
{% for read in model.reads[name] if read | lower not in known %}{% do absent.append(read) %}{% endfor -%}
{% if not absent -%}
{% if name in model.times %}{% do nbsql.check_time(model, name, columns, source) %}{% endif -%}
{% do derive.update({name: expression}) %}
{% do known.append(name | lower) %}
{% elif name | lower not in known and name in nbsql.needed_columns(model.derive, model.reads, required) -%}
{% do nbsql.column_named(columns, absent[0], "from which '" ~ model.name ~ "' derives '" ~ name ~ "'", source) %}
{% endif -%}
{% endfor -%}
{% set columns = nbsql.columns_with_derived(columns, source, derive) -%}
{% do model.update({'derived_here': derive}) %}
{% do model.options.update({'columns': names, 'joined_names': columns | map(attribute='name') | reject('in', names) | list}) %}
{% do nbsql.columns_named(columns, others, "which '" ~ model.name ~ "' needs", source) %}
{% if weight is not none %}{% do nbsql.weight_column(columns, weight, source) %}{% endif -%}
{% for feature in model.facts.features -%}
{% for name in feature.columns -%}
{% set column = nbsql.column_named(columns, name, "a feature of '" ~ model.name ~ "'", source) -%}
{% set learnt = nbsql.value_kind(feature.kinds[loop.index0], feature.time_types.get(name)) -%}
{% set found = "column '" ~ column.name ~ "' of " ~ source.identifier ~ ' is ' ~ column.type -%}
{% do nbsql.refuse_if(column.kind not in feature.family.accepts,
  found ~ ", which '" ~ model.name ~ "' cannot take for a " ~ feature.family.name ~ ' feature; cast it') %}
{% do nbsql.refuse_if('text' in feature.family.accepts and learnt != nbsql.value_kind(column.kind, column.type | lower),
  found ~ ", and '" ~ model.name ~ "' has learnt " ~ learnt ~ ' there; cast it') %}
{% endfor -%}
{% endfor -%}
{% do return(columns) %}
{%- endmacro %}

{# Refuses weights of rows to judge that break their rule when a model is made. A view leaves out those that come later. #}
{% macro check_weights(model, rows, weight, source) -%}
{% if weight is not none and flags.WHICH in ['run', 'build'] -%}
{% set broken = nbsql.query_rows(nbsql.sum_of_weights(rows, weight, model.spec.target))[0][0] -%}
{% do nbsql.refuse_broken(broken, weight, source, nbsql.rule_messages().weight) %}
{% endif -%}
{%- endmacro %}

{# What the values of a kind of column are: equal values of one kind are one value, whatever their types. type: in lower case. #}
{% macro value_kind(kind, type) -%}
{% if kind == 'temporal' -%}
{% set is_local = (type.startswith('date') or type.startswith('timestamp')) and not nbsql.is_zoned(type) -%}
{% do return('date' if is_local else type) %}
{% endif -%}
{% do return('number' if kind in ['integer', 'float', 'decimal'] else kind) %}
{%- endmacro %}

{# A query preceded by the tables that it reads. #}
{% macro with_model_tables(model, statistics, query) -%}
{% set priors, relation, statistics = nbsql.table_of(model, 'priors'), statistics, nbsql.current_cells(model, statistics) -%}
WITH {{ priors }} AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.numbered_priors(model, relation)) }},
{{ nbsql.table_of(model, 'parameters') }} AS {{ nbsql.materialized() }}(
  {% set message = "the classes of '" ~ model.name ~ "' have changed since this was built; build it again" %}
  {% set checked = priors if model.lacks_classes else nbsql.with_current_classes(model, priors, message) %}
  {{ nbsql.parameters(model, statistics, checked) | indent(2) }}
)
{%- if model.facts.features | selectattr('family.has_lookups') | list %},
{{ nbsql.table_of(model, 'lookups') }} AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.lookups(model, statistics, priors)) }}
{%- endif %}
{{- nbsql.after_tables(query) }}
{%- endmacro %}

{# The priors of the classes. With declared classes, a class without counts has the prior 0, and a class that is not named is left out. #}
{% macro numbered_priors(model, statistics) -%}
{% if model.labels is none -%}
{{ nbsql.checked_priors(model, statistics) }}
{%- else -%}
SELECT
  coalesce(priors.class, CAST(given.label AS {{ model.spec.target_type }})) AS class,
  coalesce(priors.n, 0) AS n,
  coalesce(priors.prior, 0) AS prior,
  coalesce(priors.log_prior, -{{ nbsql.infinity() }}) AS log_prior
FROM {% call(label, _) nbsql.constants(model.labels, 'given', ['label']) %}{{ nbsql.text(nbsql.label_of(label)) }}{% endcall %}
LEFT JOIN (
  {{ nbsql.checked_priors(model, statistics) | indent(2) }}
) AS priors ON priors.class = {{ nbsql.class_of_text(nbsql.word('given.label'), model.spec.target_type) }}
{%- endif %}
{%- endmacro %}
