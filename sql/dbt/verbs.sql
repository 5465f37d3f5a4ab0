{#
  The queries on statistics, each the body of a dbt model. `statistics` is ref('...') of a model whose body is nbsql.statistics.

  The parameters and lookups that scoring reads are computed from the statistics in the same statement, in front of the query.
#}

{# One row per class: class, n, prior, log_prior. #}
{% macro class_priors(statistics, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.class_priors', kwargs) %}
{% set instead = nbsql.instead_of_score(statistics, training) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.counted_model(statistics, training) -%}
{% if model.spec.prior.kind == 'given' %}{% do nbsql.class_columns(model, statistics) %}{% endif -%} {# which are held against it #}
{% do return(nbsql.body(nbsql.checked_priors(model, statistics))) %}
{%- endmacro %}

{# One row per class, feature and value: class, feature, value, likelihood, log_likelihood, mean, variance, rate. #}
{% macro feature_likelihoods(statistics, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.feature_likelihoods', kwargs) %}
{% set instead = nbsql.instead_of_score(statistics, training) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.counted_model(statistics, training) -%}
{% set priors, cells = nbsql.subquery(nbsql.checked_priors(model, statistics)), nbsql.current_cells(model, statistics) -%}
{% do return(nbsql.body(nbsql.likelihoods(model, cells, priors) if model.facts.features else nbsql.no_likelihoods(priors))) %}
{%- endmacro %}

{#
  The rows of a query with a further column `cell`, for the key of a snapshot, in which NULL is equal to nothing: a text that is never NULL
  and is another one wherever a value of `columns` is. query: the result of another macro, such as nbsql.feature_likelihoods.
#}
{% macro with_cell(query, columns=['class', 'feature', 'value']) -%}
{% do nbsql.refuse_unknown('nbsql.with_cell', kwargs) %}
{% if not execute %}{% do return('') %}{% endif -%}
{% do nbsql.refuse_if(query is not string or not query | trim,
  'query of nbsql.with_cell must be the result of another macro, such as nbsql.feature_likelihoods(...), not ' ~ query) %}
{% set select -%}
SELECT
  cells.*,
  {% for name in nbsql.given_names(columns, 'columns') %}
  {% set value %}CAST(cells.{{ nbsql.ident(name) }} AS {{ nbsql.string() }}){% endset %}
  {% set length %}CAST(length({{ value }}) AS {{ nbsql.string() }}){% endset %}
  coalesce({{ length }} || ':' || {{ value }}, '-'){% if loop.last %} AS cell{% else %} || ' ' ||{% endif +%}
  {% endfor %}
{%- endset -%}
{% do return(nbsql.finished_statement(select) ~ '\nFROM (\n' ~ query ~ '\n) AS cells') %}
{%- endmacro %}

{#
  The rows of a relation with prediction and probability. certain: the share of the predictions that are to be right, by a calibration of
  the method 'certain', for as many rows as it promises; the others have none, and a reason. by_class: whether this holds for each class.
#}
{% macro predictions(
  statistics, source, where=none, training=none, columns=none, calibration=none, certain=none, by_class=false
) -%}
{% do nbsql.refuse_unknown('nbsql.predictions', kwargs) %}
{% do return(nbsql.query_of_verb('predict', statistics, source, where, training, columns, calibration, certain, by_class)) %}
{%- endmacro %}

{# The rows of a relation with prediction, probability, and probability_<class> for each class. #}
{% macro probabilities(statistics, source, where=none, training=none, columns=none, calibration=none) -%}
{% do nbsql.refuse_unknown('nbsql.probabilities', kwargs) %}
{% do return(nbsql.query_of_verb('predict_proba', statistics, source, where, training, columns, calibration)) %}
{%- endmacro %}

{# The rows of a relation with joint_log_likelihood_<class> for each class: ln p(x, c). #}
{% macro joint_log_likelihoods(statistics, source, where=none, training=none, columns=none) -%}
{% do nbsql.refuse_unknown('nbsql.joint_log_likelihoods', kwargs) %}
{% do return(nbsql.query_of_verb('joint_log_likelihood', statistics, source, where, training, columns)) %}
{%- endmacro %}

{# The rows of a relation with log_evidence: ln p(x), low for a row that fits no class. #}
{% macro evidence(statistics, source, where=none, training=none, columns=none) -%}
{% do nbsql.refuse_unknown('nbsql.evidence', kwargs) %}
{% do return(nbsql.query_of_verb('log_evidence', statistics, source, where, training, columns)) %}
{%- endmacro %}

{# One row per row of the relation, class and feature: row_id, the id columns, class, feature, value, contribution. #}
{% macro explanation(statistics, source, where=none, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.explanation', kwargs) %}
{% set instead = nbsql.instead_of_score(statistics, training, source) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.check_source(model, source, model.spec.id) %}
{% set rows = nbsql.rows_to_score(model, source, where) -%}
{% set query = nbsql.explain(model, rows, nbsql.table_of(model, 'parameters'), nbsql.table_of(model, 'lookups')) -%}
{% do return(nbsql.body(nbsql.with_model_tables(model, statistics, query))) %}
{%- endmacro %}

{#
  How well the model predicts rows whose class is known. table: 'metrics' (class, metric, value), 'intervals', 'confusion', 'roc',
  'precision_recall', 'calibration', 'lift' or 'thresholds'. weight: a column. bins: the number of bins of the calibration and the lift.
  by: a column, or a list of columns, whose values define the slices of the tables 'slices' and 'slice_intervals'. between: two of these
  slices to compare side by side instead of a table; label: the class that this comparison is about.
#}
{% macro evaluation(
  statistics, source, table='metrics', weight=none, bins=10, where=none, training=none, by=none, between=none, label=none, calibration=none
) -%}
{% do nbsql.refuse_unknown('nbsql.evaluation', kwargs) %}
{% set needed = {'confusion': none, 'lift': 'lists'}.get(table, 'long queries') -%}
{% do nbsql.check_has(needed, "nbsql.evaluation with table='" ~ table ~ "'") %}
{% set instead = nbsql.instead_of_score(statistics, training, source, calibration) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set of_slices, by = ['slices', 'slice_intervals'], [] if by is none else nbsql.named_once(nbsql.given_names(by, 'by')) -%}
{% for name in by if name | string | lower in nbsql.columns_of_slices() -%}
{% do nbsql.refuse("column '" ~ name ~ "' has the name of a column of the slices; rename it, in a model before") %}
{% endfor -%}
{% set bins = nbsql.checked_number(bins, 'bins', 'nbsql.evaluation', 1, true, 1000000) -%}
{% do nbsql.checked_choice(table, ['metrics', 'intervals', 'confusion', 'roc', 'precision_recall', 'calibration', 'lift', 'thresholds']
  + of_slices, 'table', 'nbsql.evaluation') %}
{% do nbsql.refuse_if(not by and (between is not none or table in of_slices),
  (table if between is none else 'between') ~ ' is of slices; say by which column, by=...') %}
{% do nbsql.refuse_unread([
  ('by', by or none, between is not none or table in of_slices, "table='slices', table='slice_intervals' or between"),
  ('label', label, between is not none, "between; the metrics of each class are rows of table='metrics'"),
  ('table', table, between is none or table == 'metrics', 'all but between, which makes a table of its own; leave out one of them')]) %}
{% set model = nbsql.calibrated(nbsql.scoring_model(statistics, training), calibration) -%}
{% set labels = model.form.class_columns | map(attribute='label') | list -%}
{% if between is not none and not model.lacks_classes and (label is not none or labels | length > 2) -%}
{% do nbsql.checked_choice(nbsql.label_of(label), labels, 'label', 'nbsql.evaluation') %}
{% endif -%}
{% set known = nbsql.check_source(model, source, [model.spec.target], weight, by) -%}
{% set sliced, role = [], 'by which to slice (of an expression make a column, in a model before)' -%}
{% for name in by %}{% do sliced.append((name, nbsql.column_named(known, name, role, source).kind == 'text')) %}{% endfor -%}
{% set columns = [model.spec.target] + by + ([weight] if weight is not none else []) + model.feature_columns -%}
{% set columns = columns | unique(case_sensitive=true) | list -%}
{% set rows = nbsql.selected_columns(nbsql.rows_to_score(model, source, where), columns) -%}
{% do nbsql.check_weights(model, nbsql.subquery(rows), weight, source) %}
{% do model.options.update({'columns': columns}) %}
{% set scored, parameters = nbsql.scored_rows(model, nbsql.subquery(rows)), nbsql.table_of(model, 'parameters') -%}
{% set judged = nbsql.judged_rows(model, scored, parameters, weight, model.target_kind == 'text', by=by) -%}
{% if between is not none -%}
{% set sides = [] -%}
{% do nbsql.refuse_if(between is string or between is mapping or between is not iterable or between | length != 2,
  "between must be a list of two slices, ['north', 'south'], not " ~ between) %}
{% for side in between -%}
{% do sides.append([]) %}
{% for value in nbsql.as_list(side) -%}
{% do sides[-1].append(none if value is none else nbsql.label_of(value)) %}
{% endfor -%}
{% do nbsql.refuse_if(sides[-1] | length != by | length,
  'a slice has a value of each column of by, ' ~ nbsql.quoted_names(by) ~ '; between has ' ~ side) %}
{% endfor -%}
{% set counts = ['count(*)'] -%}
{% for values in sides %}{% do counts.append('count(CASE WHEN ' ~ nbsql.is_slice(values) ~ ' THEN 1 END)') %}{% endfor -%}
{% set slices = nbsql.subquery(nbsql.slice_values(nbsql.subquery(rows), by)) -%}
{% set found = nbsql.query_rows('SELECT ' ~ counts | join(', ') ~ ' FROM ' ~ slices ~ ' AS slices')[0] -%}
{% for side in between -%} {# with --empty there are none at all #}
{% do nbsql.refuse_if(found[0] > 0 and found[loop.index] == 0,
  source.identifier ~ ' has no slice ' ~ side ~ ' by ' ~ nbsql.quoted_names(by)) %}
{% endfor -%}
{% set query = nbsql.slice_comparison(judged, sides[0], sides[1], none if label is none else nbsql.label_of(label)) -%}
{% else -%}
{% set more = [bins] if table in ['metrics', 'calibration', 'lift'] else [sliced] if table in of_slices else [] -%}
{% set query = nbsql[{'slices': 'sliced_metrics', 'slice_intervals': 'intervals'}.get(table, table)](judged, *more) -%}
{% endif -%}
{% set query = nbsql.with_model_tables(model, statistics, query) -%}
{% if table in ['roc', 'precision_recall', 'thresholds'] %}{% do return(nbsql.body(query)) %}{% endif -%} {# of as many rows as scores #}
{% do return(nbsql.body_in_tables(query, takes_views=true)) %}
{%- endmacro %}

{#
  The rows of a relation that a person should label next, at most `n`: the columns, prediction, probability, margin (or log_evidence,
  unseen, expected_cost), stands_for, reason. by: 'margin', 'evidence', 'novelty' or 'expected cost'. costs: the costs of mistakes by
  actual class and predicted class, {'ham': {'spam': 10}}; the default is 1.
#}
{% macro review_queue(statistics, source, n=50, by='margin', where=none, training=none, costs=none, columns=none) -%}
{% do nbsql.refuse_unknown('nbsql.review_queue', kwargs) %}
{% do nbsql.check_has('lists', 'nbsql.review_queue') %}
{% set instead = nbsql.instead_of_score(statistics, training, source) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% do nbsql.checked_choice(by, ['margin', 'evidence', 'novelty', 'expected cost'], 'by', 'nbsql.review_queue') %}
{% set n = nbsql.checked_number(n, 'n', 'nbsql.review_queue', 1, whole=true) -%}
{% do nbsql.refuse_unread([('costs', costs, by == 'expected cost', "by='expected cost'")]) %}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% set known = nbsql.check_source(model, source, model.spec.id) -%}
{% set measure = {'margin': 'margin', 'evidence': 'log_evidence', 'novelty': 'unseen', 'expected cost': 'expected_cost'}[by] -%}
{% do nbsql.pass_columns(model, known, columns, source, ['prediction', 'probability', measure, 'stands_for', 'reason']) %}
{% set passed = model.options.columns if model.options.passed_columns is none else model.options.passed_columns -%}
{% set parameters, names, same, first, others = nbsql.table_of(model, 'parameters'), known | map(attribute='name') | list, [], [], [] -%}
{% for column in known -%}
{% do (first if column.name in model.spec.id else others).append((column.name, column.kind)) %}
{% if column.name in model.feature_columns %}{% do same.append((column.name, column.kind)) %}{% endif -%}
{% endfor -%}
{% set order = first + others -%}
{% set patterns = nbsql.subquery(nbsql.patterns(nbsql.rows_to_score(model, source, where), same, none, order)) -%}
{% do model.options.update({'columns': names + ['nbsql_rows']}) %}
{% set scored, matrix = nbsql.scored_rows(model, patterns), nbsql.cost_matrix(model, costs) -%}
{% set measured = nbsql.patterns_with_measure(model, scored, parameters, names, by, matrix) -%}
{% do model.options.update({'columns': names + ['nbsql_position']}) %}
{% if by in ['margin', 'expected cost'] -%}
{% set query = nbsql.review(measured, order, by == 'expected cost', passed, measure, n) -%}
{% elif by == 'evidence' -%}
{% do model.spec.update({'id': ['nbsql_position']}) %}
{% set explained = nbsql.explain(model, nbsql.chosen_patterns(n), parameters, nbsql.table_of(model, 'lookups')) -%}
{% set query = nbsql.review_by_evidence(measured, order, explained, passed, n) -%}
{% else -%}
{% set unseen = nbsql.unseen_values(model, 'nbsql_queue', parameters, nbsql.table_of(model, 'lookups')) -%}
{% set query = nbsql.review_by_novelty(measured, order, unseen, passed, n) -%}
{% endif -%}
{% do return(nbsql.body_in_tables(nbsql.with_model_tables(model, statistics, query), takes_views=true)) %}
{%- endmacro %}

{# One list for each class that may be predicted, by number: the cost of predicting it for each actual class. #}
{% macro cost_matrix(model, costs=none) -%}
{% set labels = model.form.class_columns | sort(attribute='number') | map(attribute='label') | list -%}
{% set example = "must be a mapping by actual and predicted class, {'ham': {'spam': 10}}, not " -%}
{% do nbsql.refuse_if(costs is not none and costs is not mapping, 'costs ' ~ example ~ costs) %}
{% for actual, prices in (costs or {}).items() if not model.lacks_classes -%}
{% do nbsql.refuse_if(prices is not mapping, 'costs ' ~ example ~ costs) %}
{% for price in prices.values() %}{% do nbsql.checked_number(price, 'a cost', 'nbsql.review_queue', none) %}{% endfor -%}
{% for label in [actual] + prices.keys() | list if label not in labels -%}
{% do nbsql.refuse(
  "the costs name a class '" ~ label ~ "', which the model does not know; the classes are " ~ nbsql.quoted_names(labels)) %}
{% endfor -%}
{% endfor -%}
{% set matrix = [] -%}
{% for predicted in labels -%}
{% do matrix.append([]) %}
{% for actual in labels -%}
{% do matrix[-1].append((costs or {}).get(actual, {}).get(predicted, 0 if actual == predicted else 1)) %}
{% endfor -%}
{% endfor -%}
{% do return(matrix) %}
{%- endmacro %}

{#
  The model as a scorecard. One row for the base points, then one row per feature and value: feature, kind, value, lower, upper, n,
  n_target, weight_of_evidence, information_value, feature_information_value, points, below_best, below_average
  (macros/evaluation/scorecard.sql).

  points, odds, double: a row at these odds of the target has `points` points, and `double` more where the odds double. target: a class;
  none means the last one of two. digits: the number of digits to which points are rounded; none means no rounding.
#}
{% macro scorecard(statistics, points=600, odds=50, double=20, target=none, digits=none, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.scorecard', kwargs) %}
{% set instead = nbsql.instead_of_score(statistics, training) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% set labels = model.form.class_columns | map(attribute='label') | list -%}
{% set scale = {'digits': none if digits is none else nbsql.checked_number(digits, 'digits', 'nbsql.scorecard', 0, true, 9)} -%}
{% for name, value in {'points': points, 'odds': odds, 'double': double}.items() -%}
{% do scale.update({name: nbsql.checked_number(value, name, 'nbsql.scorecard', none)}) %}
{% endfor -%}
{% set label = nbsql.label_of(target) if target is not none and not model.lacks_classes else labels | last -%}
{% do nbsql.refuse_if(labels | length < 2 or label not in labels or (target is none and labels | length > 2),
  "nbsql.scorecard of '" ~ model.name ~ "' needs two classes or more, and target: one of them; they are " ~ nbsql.quoted_names(labels)) %}
{% do nbsql.refuse_if(scale.odds <= 0 or scale.double <= 0,
  "odds and double of nbsql.scorecard must be above 0, not " ~ odds ~ ' and ' ~ double) %}
{% for feature in model.facts.features if feature.family.over_columns or not feature.family.get('has_categories') -%}
{% do nbsql.refuse(
  "'" ~ feature.name ~ "' of '" ~ model.name ~ "' is " ~ feature.family.name ~ ', which has no values to give points to; leave it out') %}
{% endfor -%}
{% set priors, cells = nbsql.subquery(nbsql.checked_priors(model, statistics)), nbsql.current_cells(model, statistics) -%}
{% set literal = nbsql.class_literal(label, model.spec.target_type) -%}
{% do return(nbsql.body(nbsql.scorecard_lines(model, cells, priors, literal, scale))) %}
{%- endmacro %}

{#
  Compares the rows of each period with what the statistics counted, and evaluates the model on them: period, feature, class, metric,
  value, reference, moved, by_chance (macros/evaluation/monitor.sql). by: an expression for the period of a row; none means one period for
  all rows. The relation need not have the target. weight: a column.
#}
{% macro monitoring(statistics, source, by=none, weight=none, where=none, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.monitoring', kwargs) %}
{% do nbsql.check_has('lists', 'nbsql.monitoring') %}
{% set instead = nbsql.instead_of_score(statistics, training, source) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% set known = nbsql.check_source(model, source, [], weight, [model.spec.target]) -%}
{% do nbsql.check_expression(known, by, 'by', 'nbsql.monitoring', source) %}
{% set names = ([model.spec.target] + model.feature_columns) | unique(case_sensitive=true) | list -%}
{% set label = known | map(attribute='name') | select('in', [model.spec.target]) | list -%}
{% set sides = [(nbsql.rows_to_score(model, source, where), (label or [none]) + names[1:], by, false)] -%}
{% set rows = nbsql.monitored_rows(sides, names, model.spec.target_type, weight) -%}
{% set counted = dict(
  model, spec=dict(model.spec, target='nbsql_all', target_type='INTEGER', weight='nbsql_weight'),
  facts=dict(model.facts, slice_by='nbsql_period'), options=dict(model.options, batch='1')) -%}
{% set parameters, as_text = nbsql.table_of(model, 'parameters'), model.target_kind == 'text' -%}
{% set scored = nbsql.with_evidence(model, nbsql.scored_rows(model, nbsql.inline_name('monitored'))) -%}
{% set judged = nbsql.judged_rows(model, scored, parameters, 'nbsql_weight', as_text, ['nbsql_period', 'nbsql_evidence']) -%}
{% set cells, periods = nbsql.current_cells(model, statistics), [] -%}
{% for feature in model.facts.features if feature.columns | list == [by] %}{% do periods.append(feature.name) %}{% endfor -%}
{% set priors = nbsql.subquery(nbsql.checked_priors(model, statistics)) -%}
{% set query = nbsql.monitor(counted, rows, names, judged, cells, priors, as_text, (periods + [none])[0]) -%}
{% do return(nbsql.body_in_tables(nbsql.with_model_tables(model, statistics, query), takes_views=true)) %}
{%- endmacro %}
