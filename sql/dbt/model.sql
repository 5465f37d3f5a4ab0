{# The `model` that the macros read. nbsql/plan/context.py builds the same in Python and explains the limits. #}

{#
  The model of a statistics relation that exists or is about to be built.

  node: the dbt node of the statistics. training: the relation that it learns from; none means the relation that the node refers to.
#}
{% macro model_of(node, training=none) -%}
{% set options = nbsql.options_of(node) -%}
{% set training = nbsql.training_of(node) if training is none else training -%}
{% set given = nbsql.columns_of(training, 'the relation to learn from') -%}
{% set versions = nbsql.columns_of_snapshot(given) -%}
{% do options.update({
  'exclude': options.exclude + (versions | reject('in', options.families.keys() | list + (options.features or [])) | list),
  'derive': nbsql.derived_without_words(options, given, training, node.name)}) %}
{% set columns = nbsql.columns_with_derived(given, training, options.derive) -%}
{% set target = nbsql.column_named(columns, options.target, 'the target', training) -%}
{% set times, reads = nbsql.derive_calendars(options, columns, training, node.name), {} -%}
{% if times %}{% set columns = nbsql.columns_with_derived(given, training, options.derive) %}{% endif -%}
{% set names = columns | map(attribute='name') | list -%}
{% for name, expression in options.derive.items() -%}
{% do reads.update({name: [times[name].column] if name in times else nbsql.columns_of_expression(expression, names)}) %}
{% endfor -%}
{% do nbsql.refuse_if(target.kind in ['tokens', 'token counts', 'other'],
  "target column '" ~ target.name ~ "' is " ~ target.type ~ '; a class is one scalar value: cast it, to text say') %}
{% do nbsql.declare_labels(options, target, node.name) %}
{% set ids = nbsql.columns_named(columns, options.id, 'an id', training) | map(attribute='name') | list -%}
{% set aged = nbsql.half_life_options(options, columns, target, training, node.name) -%}
{% if aged is none -%}
{% do nbsql.check_expression(columns, options.slice_by, 'slice_by', node.name, training) %}
{% else -%}
{% do options.update({'weight': aged.weight, 'id': options.id + [aged.at], 'slice_by': 'nbsql_period'}) %} {# no feature either #}
{% endif -%}
{% set weight = none if options.weight is none else nbsql.weight_column(columns, options.weight, training) -%}
{% set features = nbsql.features_of(options, columns, training) -%}
{% set weighing = weight if aged is none else aged.described -%}
{% set request = nbsql.request_of(target.name, weighing, options.slice_by, features, columns, options.derive) -%}
{% set parameters = [] -%}
{% for feature in features -%}
{% for parameter in feature.family.parameters -%}
{% do parameters.append({'feature': feature, 'parameter': parameter, 'position': parameters | length + 1}) %}
{% endfor -%}
{% endfor -%}
{% do return({
  'name': node.name, 'node': node, 'target_kind': target.kind, 'aged': aged, 'lookback': options.lookback, 'labels': options.classes,
  'request': request, 'derive': options.derive, 'reads': reads, 'times': times, 'training_columns': given | map(attribute='name') | list,
  'feature_columns': features | map(attribute='columns') | sum(start=()) | list,
  'has_prior': not features or features | rejectattr('family.complement') | list | length > 0, 'part_column': none,
  'is_snapshot': 'dbt_valid_to' in versions,
  'spec': {
    'target': target.name, 'target_type': target.type, 'weight': weight if aged is none else 'nbsql_decayed', 'id': ids,
    'classes': [], 'given': false, 'prior': nbsql.prior_of(options, node.name)},
  'facts': {
    'class_type': target.type, 'features': features, 'parameters': parameters, 'slice_by': options.slice_by, 'has_segments': false,
    'backoffs': [], 'is_logistic': false, 'has_weights': false, 'has_components': false},
  'form': {'class_of_component': []},
  'options': {
    'batch': run_started_at.strftime('%Y-%m-%d %H:%M:%S') ~ ' ' ~ request | map(attribute='hash') | join('-'),
    'estimates': none, 'met': none, 'weights': none, 'centred': false, 'by_slice': false}}) %}
{%- endmacro %}

{# The columns that a snapshot adds to its rows, to say when it took them. They are no features unless they are named. #}
{% macro columns_of_snapshot(columns) -%}
{% set names = columns | map(attribute='name') | list -%}
{% if 'dbt_scd_id' not in names %}{% do return([]) %}{% endif -%}
{% set added = ['dbt_scd_id', 'dbt_updated_at', 'dbt_valid_from', 'dbt_valid_to', 'dbt_is_deleted'] -%}
{% do return(names | select('in', added) | list) %}
{%- endmacro %}

{#
  How rows lose weight with age (macros/counting/half_life.sql), from a weight such as {half_life: 30 days, at: sent_at, weight: w}:
  half_life (length, now), at, type, weight, target, described, nothing. The result is none where the weight is a column.
#}
{% macro half_life_options(options, columns, target, relation, name) -%}
{% set weight = options.weight -%}
{% if weight is not mapping %}{% do return(none) %}{% endif -%}
{% do nbsql.check_has('times', "the half-life of '" ~ name ~ "'") %}
{% for option in weight if option not in ['half_life', 'at', 'weight'] -%}
{% do nbsql.refuse("weight of '" ~ name ~ "' has no option '" ~ option ~ "'; it has half_life, at and weight") %}
{% endfor -%}
{% do nbsql.refuse_if(options.slice_by is not none,
  "weight of '" ~ name ~ "' has a half-life, which makes slices of its own; leave out slice_by") %}
{% set units = {'second': 1, 'minute': 60, 'hour': 3600, 'day': 86400, 'week': 604800} -%}
{% set words = (weight.half_life | string).split() -%}
{% set unit = (words[1] | lower).rstrip('s') if words | length == 2 else none -%}
{% set number = nbsql.checked_number(words[0], 'half_life', name) if words | length in [1, 2] else 0 -%}
{% do nbsql.refuse_if(number <= 0 or (unit is not none and unit not in units),
  "half_life of '" ~ name ~ "' must be above 0, a number of seconds, minutes, hours, days or weeks, such as 30 days, not "
  ~ weight.half_life) %}
{% set at = nbsql.column_named(columns, weight.at, 'the time of the half-life', relation) -%}
{% do nbsql.refuse_if(at.kind != ('integer' if unit is none else 'temporal'),
  "column '" ~ at.name ~ "' is " ~ at.type ~ ', and a half-life of ' ~ weight.half_life ~ ' takes '
  ~ ('a whole number' if unit is none else 'a time')) %}
{% set length = number * (1 if unit is none else units[unit] * 1000000) -%}
{% do return({
  'half_life': {'length': length, 'now': none}, 'at': at.name, 'type': at.type, 'weight': weight.get('weight'), 'target': target.name,
  'described': 'half-life ' ~ length ~ ' of ' ~ at.name ~ ', ' ~ (weight.get('weight') or 'None'), 'nothing': 500}) %}
{%- endmacro %}

{# The cells of the statistics with the weight they have now. Cells without a half-life are unchanged. #}
{% macro current_cells(model, statistics) -%}
{% if model.aged is none -%}
{{ nbsql.exact_cells(statistics, model.spec.target_type) }}
{%- else -%}
{{ nbsql.subquery(nbsql.decayed_cells(nbsql.exact_cells(statistics, model.spec.target_type), model.aged.half_life, model.aged.nothing)) }}
{%- endif %}
{%- endmacro %}

{# The cells of statistics, whose texts are compared byte by byte wherever they are stored. class_type: the type of their classes. #}
{% macro default__exact_cells(statistics, class_type) -%} {{ nbsql.rows_where(statistics) }} {%- endmacro %}

{#
  A DuckLake and a Parquet file store no collations. Of a view that is older than the statistics, the classes may have become numbers: as
  texts, they are found to be others.
#}
{% macro duckdb__exact_cells(statistics, class_type) -%}
{% set names = ['slice', 'feature', 'value'] + (['class'] if nbsql.is_text(class_type) else []) -%}
(
  SELECT * REPLACE (
    {%- for name in names -%}
    CAST({{ nbsql.word(name) }} AS {{ nbsql.string() }}){{ nbsql.binary() }} AS {{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}
    {%- endfor -%}
  )
  FROM {{ nbsql.rows_where(statistics) | indent(2) }} AS cells
)
{%- endmacro %}

{#
  The priors of statistics. A view may be older than the statistics that it reads: if they were counted otherwise since it was built, this
  is an error.
#}
{% macro checked_priors(model, statistics) -%}
{% set cells = nbsql.rows_where(statistics) -%}
{% if model.has_batches -%}
{% set message = "'" ~ model.name ~ "' was counted otherwise since this was built; build it again" -%}
{% set cells -%}
(
  SELECT * FROM {{ cells }} AS cells
  WHERE feature IS NULL
    AND CASE
      WHEN {{ nbsql.is_of_another_request(model, ['slice_by']) | indent(6) }}
        THEN {{ nbsql.raise_error(message, nbsql.word('batch')) }}
      ELSE TRUE
    END
)
{%- endset -%}
{% endif -%}
{{ nbsql.priors(model, nbsql.current_cells(model, cells)) }}
{%- endmacro %}

{#
  What the counts depend on: the target, the weight, the slices, the families with those of their options that affect counts, and the types
  of categories, by which they are texts, as a list of argument, value, hash.
#}
{% macro request_of(target, weight, slice_by, features, columns, derive={}) -%}
{% set families, types, request, derived = [], [], [], [] -%}
{% for feature in features -%}
{% do families.append(feature.name ~ ' ' ~ feature.family.name ~ ' ' ~ feature.columns | join(' ')) %}
{% for option in ['pattern', 'lower', 'accents', 'normal_form', 'stop_words', 'min_length', 'ngrams', 'characters', 'within_words',
  'presence', 'tfidf', 'normalised_weights', 'nulls'] -%}
{% do families.append(nbsql.as_in_python(feature.family.get(option))) %}
{% endfor -%}
{% if feature.family.norm is string %}{% do families.append('norm ' ~ feature.family.norm) %}{% endif -%}
{% if feature.family.edges %}{% do families.append('edges ' ~ feature.family.edges | join(' ')) %}{% endif -%}
{% if feature.family.zeros and feature.family.formula == 'lognormal' %}{% do families.append('of logarithms') %}{% endif -%}
{% for column in columns if column.name == feature.column and feature.family.level -%}
{% set type = column.kind if column.kind in ['text', 'integer', 'boolean'] else column.type | lower -%}
{% do types.append("'" ~ feature.name ~ "' " ~ type) %}
{% endfor -%}
{% endfor -%}
{% for name, expression in derive.items() %}{% do derived.append(('derive ' ~ name, expression)) %}{% endfor -%}
{% for argument, value in [
  ('target', target), ('weight', weight), ('slice_by', slice_by), ('families', families | join('; ')), ('types', types | join(', '))]
  + derived -%}
{% do request.append({'argument': argument, 'value': value, 'hash': nbsql.short_hash(argument, value)}) %}
{% endfor -%}
{% do return(request) %}
{%- endmacro %}

{# The value of an option as Python prints it, in dbt 2 too, so that the two have the same hashes. #}
{% macro as_in_python(value) -%}
{% if value is none %}{% do return('None') %}
{% elif value is boolean %}{% do return('True' if value else 'False') %}
{% elif value is string or value is number %}{% do return(value | string) %}
{% endif -%}
{% set parts = [] -%}
{% for part in value -%}
{% do parts.append(part if part is not string else '"' ~ part ~ '"' if "'" in part else "'" ~ part ~ "'") %}
{% endfor -%}
{% set whole = parts | join(', ') -%}
{% do return('(' ~ whole ~ ')' if value | first is number else '[' ~ whole ~ ']') %}
{%- endmacro %}

{# Six characters that identify a value of an argument. SQLMesh has no local_md5. #}
{% macro short_hash(argument, value) -%}
{% set text = argument ~ ' ' ~ (value or 'none') -%}
{% do return((local_md5(text) if local_md5 is defined else nbsql.query_rows('SELECT md5(' ~ nbsql.text(text) ~ ')')[0][0])[:6]) %}
{%- endmacro %}

{# The relation that a statistics node refers to. #}
{% macro training_of(node) -%}
{% set known = [] -%}
{% for unique_id in (node.depends_on or {'nodes': []}).nodes if unique_id in graph.nodes or unique_id in graph.sources -%}
{% do known.append(graph.nodes.get(unique_id) or graph.sources.get(unique_id)) %}
{% endfor -%}
{% do nbsql.refuse_if(known | length != 1,
  "the statistics '" ~ node.name ~ "' refer to " ~ known | length ~ " relations; say which one they learn from: training=ref('...')") %}
{% do return(nbsql.relation_of(known[0])) %}
{%- endmacro %}

{#
  The relation of a node or source where ref() and source() find it: a source of dbt-duckdb may be a file. SQLMesh finds only those that a
  model itself names. With --defer that of a node is the one of another environment, if there is none in this one.
#}
{% macro relation_of(node) -%}
{% set found = source(node.source_name, node.name) if node.resource_type == 'source' else none -%}
{% if found is not none %}{% do return(found) %}{% endif -%}
{% set own = api.Relation.create(database=node.database, schema=node.schema, identifier=node.identifier or node.alias or node.name) -%}
{% set other = node.defer_relation if invocation_args_dict.defer else none -%}
{% if not other %}{% do return(own) %}{% endif -%}
{% set prefers_other = invocation_args_dict.favor_state and node.unique_id not in selected_resources -%}
{% if not prefers_other and adapter.get_relation(database=own.database, schema=own.schema, identifier=own.identifier) is not none -%}
{% do return(own) %}
{% endif -%}
{% do return(api.Relation.create(database=other.database, schema=other.schema, identifier=other.alias)) %}
{%- endmacro %}

{# The model of statistics, which must be there, and counted as their config is now: otherwise their cells would mean something else. #}
{% macro counted_model(statistics, training=none) -%}
{% do nbsql.check_engine() %}
{% set model = nbsql.model_of(nbsql.statistics_node(statistics), training) -%}
{% do nbsql.refuse_ephemeral(model.name, model.node.config.materialized == 'ephemeral') %}
{% do nbsql.refuse_if(
  adapter.get_relation(database=statistics.database, schema=statistics.schema, identifier=statistics.identifier) is none,
  "the statistics '" ~ statistics.identifier ~ "' are not there yet; build them first: dbt build --select " ~ model.name) %}
{% do nbsql.check_counted(model, statistics, training, ['slice_by']) %}
{% do model.update({'has_batches': 'batch' in nbsql.columns_of_relation(statistics) | map(attribute=0) | list}) %}
{% do return(model) %}
{%- endmacro %}

{#
  Refuses cells that were counted otherwise than the config of a model is now. others: arguments that may differ, as slices do for scores,
  which sum them. name: of the cells; none means the model's.
#}
{% macro check_counted(model, cells, training=none, others=[], name=none) -%}
{% set changes = nbsql.changes_of_request(model, cells, training, others) -%}
{% if changes -%}
{% set name = name or model.name -%}
{% set message = "'" ~ name ~ "' was counted otherwise: " ~ changes ~ '; count all rows anew: dbt build --full-refresh --select ' ~ name -%}
{% if flags.WHICH in ['compile', 'generate'] %}{% do exceptions.warn('nbsql: ' ~ message) %}
{% else %}{% do nbsql.refuse(message) %}
{% endif -%}
{% endif -%}
{%- endmacro %}

{# A model with its classes. Their number decides the form of scoring: wide, with one column per class, or long, with one row per class. #}
{% macro scoring_model(statistics, training=none) -%}
{% set model = nbsql.counted_model(statistics, training) -%}
{% set columns = nbsql.class_columns(model, statistics) -%}
{% set lacks_classes = not columns and (flags.EMPTY or flags.WHICH in ['compile', 'generate']) -%}
{% if lacks_classes -%} {# as --empty wants it: the columns of the query matter, and not what they hold #}
{% set columns = [
  {'number': 1, 'label': 'none', 'probability': 'probability_none', 'joint': 'joint_log_likelihood_none'},
  {'number': 2, 'label': 'other', 'probability': 'probability_other', 'joint': 'joint_log_likelihood_other'}] -%}
{% elif not columns -%}
{% do nbsql.refuse("the statistics '" ~ statistics.identifier ~ "' have no class: they were counted on no rows; count some first") %}
{% endif -%}
{% if columns | length == 1 -%}
{% do exceptions.warn(
  "nbsql: '" ~ model.name ~ "' has one class only, '" ~ columns[0].label ~ "'; every prediction will be that class") %}
{% endif -%}
{% set features = model.facts.features -%}
{% set wide, levels, explained = nbsql.is_wide(model, columns | length), features | selectattr('family.level') | list, [] -%}
{% set in_blocks = wide and levels | length > 40 -%}
{% for feature in features if feature.family.level or feature.family.has_parameter_term -%}
{% for column in feature.columns -%}
{% do explained.append({'feature': feature, 'column': column, 'number': loop.index if feature.family.over_columns else none}) %}
{% endfor -%}
{% endfor -%}
{% do model.update({
  'lacks_classes': lacks_classes, 'side': '', 'calibration': none,
  'has_row_numbers': in_blocks or not wide or features | selectattr('family.bag') | list | length > 0}) %}
{% do model.facts.update({'explanation_parts': explained}) %}
{% do model.options.update({'joins': [], 'joined_names': [], 'without_prior': false, 'passed_columns': none}) %}
{% do model.form.update({
  'class_columns': columns,
  'class_numbers': range(1, columns | length + 1) | list if wide else [],
  'star_categories': [] if in_blocks else levels, 'category_blocks': levels | batch(20) | list if in_blocks else [],
  'joint_features': features | rejectattr('family.level') | list, 'column_parameters': model.facts.parameters,
  'computed_features': features | selectattr('family.has_parameter_term') | list,
  'added_first': 10 if levels | length * columns | length <= 400 else 1,
  'features_with_common_term': [], 'features_with_steps': [], 'matrices_in_lists': [], 'complete_numbers': [], 'categories_in_lists': [],
  'category_positions': {}, 'joined_categories': levels, 'bins_in_lists': [], 'pairs_in_lists': []}) %}
{% set categories = model.form.star_categories | selectattr('family.parameters') | list -%}
{% do model.form.update({'inputs': model.form.computed_features + categories}) %}
{% set summed = dict(model) -%}
{% set terms = [('prior_term', summed)] + ([('blocks_term', summed)] if in_blocks else []) -%}
{% for block in model.form.joint_features | batch(50) %}{% do terms.append(('sum_of_terms', block)) %}{% endfor -%}
{% for block in model.form.star_categories | batch(model.form.added_first) -%}
{% do terms.append(('sum_of_level_terms', block)) %}
{% endfor -%}
{% do model.update({'component_model': summed, 'terms': terms}) %}
{% do return(model) %}
{%- endmacro %}

{# Whether scoring uses the wide form, one column per class. #}
{% macro default__is_wide(model, class_count) -%}
{% set counted = model.facts.features | rejectattr('family.has_lookups') | map(attribute='columns') | map('length') | sum -%}
{% do return(class_count <= 100 and class_count * counted <= 500) %}
{%- endmacro %}

{# The classes by label: number, label, and the column names of each class. Names that differ only in case are made distinct. #}
{% macro class_columns(model, statistics) -%}
{% set declared, rows, found, taken = {}, [], [], [] -%}
{% for label in model.labels or [] %}{% do declared.update({nbsql.key_of_label(model, label): loop.index}) %}{% endfor -%}
{% for row in nbsql.query_rows(nbsql.class_order(nbsql.subquery(nbsql.numbered_priors(model, statistics)))) -%}
{% do rows.append((row[0], row[1], declared.get(nbsql.key_of_label(model, row[1]), row[0]))) %}
{% endfor -%}
{% if model.spec.prior.kind == 'given' and rows -%}
{% do nbsql.check_given_priors(model, rows | map(attribute=1) | list) %}
{% endif -%}
{% for row in rows | sort(attribute='2') -%}
{% set column = namespace(name=row[1]) -%}
{% for other in rows -%}
{% if column.name | lower in taken %}{% set column.name = row[1] ~ '_' ~ (loop.index + 1) %}{% endif -%}
{% endfor -%}
{% do taken.append(column.name | lower) %}
{% do found.append({
  'number': row[0] | int, 'label': row[1], 'probability': 'probability_' ~ column.name,
  'joint': 'joint_log_likelihood_' ~ column.name}) %}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# Refuses given priors that leave out a class or name an unknown one. #}
{% macro check_given_priors(model, labels) -%}
{% set given, found = {}, {} -%}
{% for label, _ in model.spec.prior.given %}{% do given.update({nbsql.key_of_label(model, label): label}) %}{% endfor -%}
{% for label in labels %}{% do found.update({nbsql.key_of_label(model, label): label}) %}{% endfor -%}
{% for key, label in found.items() if key not in given -%}
{% do nbsql.refuse("prior of '" ~ model.name ~ "' has no probability for class '" ~ label ~ "'; name every class") %}
{% endfor -%}
{% for key, label in given.items() if key not in found -%}
{% do nbsql.refuse("prior of '" ~ model.name ~ "' names '" ~ label ~ "', which is no class of '" ~ model.spec.target ~ "'") %}
{% endfor -%}
{%- endmacro %}
