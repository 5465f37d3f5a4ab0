{#
  The statistics of a model, as the body of a dbt model. One row per additive cell (macros/counting/statistics.sql lists the columns).

    {{ config(materialized='table', meta={'nbsql': {'target': 'churned'}}) }}
    {{ nbsql.statistics(ref('customers')) }}

  source: the relation to learn from. where: a condition on its rows.

  An incremental model needs slice_by in the options. It counts only the rows of slices that it does not have yet. With unique_key='slice'
  it also recounts the newest slices (lookback: 1), whose old cells dbt deletes. A sum over slices is a sum over all rows, so the result
  equals that of a full refresh.

  Numbers are read twice, the second time centred on the mean of their class, which keeps every digit. Python decides after the first read
  whether a second one is needed; here a single statement does both, because it cannot ask anything first.
#}
{% macro statistics(source, where=none) -%}
{% do nbsql.refuse_unknown('nbsql.statistics', kwargs) %}
{% set instead = nbsql.instead_of_query([source]) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% do nbsql.check_engine() %}
{% set node = nbsql.statistics_node(this) -%}
{% set model = nbsql.model_of(node, source) -%}
{% set rows = nbsql.counted_rows(node, model, source, where) -%}
{% if flags.WHICH in ['run', 'build'] -%}
{% do nbsql.check_rows(model, source, rows, where) %}
{% do nbsql.check_used(model, node.config.meta.nbsql) %}
{% if not is_incremental() and not flags.EMPTY %}{% do nbsql.advise(model, rows) %}{% endif -%}
{% if model.is_snapshot and not flags.EMPTY %}{% do nbsql.warn_of_versions(model, rows) %}{% endif -%}
{% if is_incremental() and not flags.EMPTY and not model.facts.slice_by %}{% do nbsql.warn_of_repeated_run(model, rows) %}{% endif -%}
{% endif -%}
{% do return(nbsql.body(nbsql.cells(model, rows))) %}
{%- endmacro %}

{# Log how many rows of a snapshot have a newer version, which counts beside them. A deleted row has none. #}
{% macro warn_of_versions(model, rows) -%}
{% set older = '(SELECT * FROM ' ~ rows ~ ' AS source WHERE dbt_valid_to <= (SELECT max(dbt_valid_from) FROM ' ~ rows ~ ' AS newest))' -%}
{% set n = nbsql.query_rows(nbsql.row_count(older))[0][0] | int -%}
{% if n -%}
{% do log("nbsql: '" ~ model.name ~ "' counts " ~ n ~ " rows of a snapshot that have since changed, beside their newer versions; "
  ~ "where='dbt_valid_to IS NULL' counts the newest version of each alone", true) %}
{% endif -%}
{%- endmacro %}

{#
  Log that the rows to count have the class counts of the newest batch, as where a run is tried again: they would count twice. Of fewer than
  twenty rows, others may well have the same.
#}
{% macro warn_of_repeated_run(model, rows) -%}
{% if 'batch' not in nbsql.columns_of_relation(this) | map(attribute=0) | list %}{% do return('') %}{% endif -%}
{% set now -%}
SELECT CAST({{ nbsql.target(model) }} AS {{ nbsql.string() }}) AS class, CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
FROM {{ rows }} AS source
WHERE {{ nbsql.is_counted(model) }}
GROUP BY {{ nbsql.target(model) }}
{%- endset -%}
{% set before -%}
SELECT CAST(class AS {{ nbsql.string() }}) AS class, n
FROM {{ nbsql.exact_cells(this, model.spec.target_type) }} AS cells
WHERE feature IS NULL AND batch = (SELECT max(batch) FROM {{ this }} AS batches)
{%- endset -%}
{% set now, counted, found = nbsql.query_rows(now), {}, namespace(total=0, same=true) -%}
{% for class, n in nbsql.query_rows(before) %}{% do counted.update({class: n | float}) %}{% endfor -%}
{% for class, n in now -%}
{% set found.total = found.total + (n | float) -%}
{% if class not in counted or (counted[class] - (n | float)) | abs > 0.000001 %}{% set found.same = false %}{% endif -%}
{% endfor -%}
{% if found.same and found.total >= 20 and now | length == counted | length -%}
{% do log("nbsql: the rows for '" ~ model.name ~ "' have as many of each class as those that its last run has added; if they are the same, "
  ~ 'they count twice: let where= select only rows that no run has counted, or set slice_by, and build it with --full-refresh', true) %}
{% endif -%}
{%- endmacro %}

{# Log how many rows have come to slices that are not counted again, since these were counted. known: slice, n and age of what is there. #}
{% macro warn_of_late_rows(model, sliced, known, lookback) -%}
{% set is_late %}before.age >= {{ lookback }} AND now.n > before.n + 0.000001 * now.n{% endset -%}
{% set late -%}
SELECT
  count(CASE WHEN {{ is_late }} THEN 1 END), sum(CASE WHEN {{ is_late }} THEN now.n - before.n END),
  min(CASE WHEN {{ is_late }} THEN now.slice END),
  max(CASE WHEN {{ is_late }} THEN before.age END) + 1 + count(CASE WHEN before.slice IS NULL THEN 1 END)
FROM (
  SELECT source.nbsql_slice AS slice, CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ sliced | indent(2) }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  GROUP BY source.nbsql_slice
) AS now
LEFT JOIN {{ known }} AS before ON before.slice = now.slice
{%- endset -%}
{% for slices, n, one, newest in nbsql.query_rows(late) if slices | int -%}
{% do log("nbsql: '" ~ model.name ~ "' leaves out " ~ ('a weight of ' ~ n if model.spec.weight else n | int ~ ' rows') ~ ' that came to '
  ~ (slices ~ ' slices after they were counted, such as ' if slices | int > 1 else 'a slice after it was counted, ') ~ one
  ~ '; set lookback: ' ~ newest ~ ' and unique_key: slice to count it again, or build with --full-refresh', true) %}
{% endfor -%}
{%- endmacro %}

{# Log which options change nothing in a model, as nbsql/spec/used.py does in Python. given: the options of its config. #}
{% macro check_used(model, given) -%}
{% set used = {
  'alpha': model.spec.prior.kind == 'smoothed' or given.alpha | default(1) in [0, 1], 'nulls': given.nulls != 'category',
  'unseen': given.unseen != 'smooth'} -%}
{% for feature in model.facts.features -%}
{% set family, own = feature.family, (given.families or {}).get(feature.name) -%}
{% set uses = {
  'alpha': nbsql.is_smoothed(family), 'nulls': family.has_categories and family.nulls == 'category',
  'unseen': family.has_lookups or family.name == 'bernoulli', 'floor': not family.smoothing} -%}
{% for option, is_used in uses.items() -%}
{% if is_used %}{% do used.update({option: true}) %}
{% elif own is mapping and own[option] | default('skip', true) != 'skip' and option != 'nulls' -%}
{% do log("nbsql: " ~ option ~ " of '" ~ feature.name ~ "' in '" ~ model.name ~ "' changes nothing; leave it out", true) %}
{% endif -%}
{% endfor -%}
{% endfor -%}
{% for option, is_used in used.items() if not is_used -%}
{% do log("nbsql: " ~ option ~ " of '" ~ model.name ~ "' changes nothing, as no feature uses it; leave it out", true) %}
{% endfor -%}
{%- endmacro %}

{# The relation of rows to count. It has the column nbsql_slice if the model has slices. #}
{% macro counted_rows(node, model, source, where) -%}
{% if config.get('incremental_strategy') == 'microbatch' -%}
{% set message = "'" ~ node.name ~ "' is counted by slices and not by microbatches, each of which would replace the others; use "
  ~ 'unique_key: slice and incremental_strategy: delete+insert, without event_time' -%}
{% do log('nbsql: ' ~ message, true) %} {# dbt does not show the error of a microbatch #}
{% do nbsql.refuse(message) %}
{% endif -%}
{% set rows = nbsql.derived_rows(nbsql.rows_where(source, where), model.derive, model.training_columns) -%}
{% if model.aged is not none %}{% set rows = nbsql.with_half_life(rows, model.aged) %}{% endif -%}
{% if not model.facts.slice_by -%}
{% do nbsql.refuse_if(is_incremental() and where is none,
  "'" ~ node.name ~ "' is incremental, and nothing says which rows are new; set slice_by in meta.nbsql, or where= in nbsql.statistics") %}
{% do return(rows) %}
{% endif -%}
{% set sliced = nbsql.with_slices(rows, model.facts.slice_by) -%}
{% if not is_incremental() %}{% do return(sliced) %}{% endif -%}
{% set normalised = model.facts.features | selectattr('family.norm') | selectattr('family.bag') | list -%}
{% do nbsql.refuse_if(normalised,
  "'" ~ node.name ~ "' cannot be incremental: " ~ nbsql.quoted_names(normalised | map(attribute='name'))
  ~ ' depends on all rows at once (norm); materialize it as a table') %}
{% do nbsql.check_counted(model, this, source) %}
{% set replaces = nbsql.replaces_slices(node.name) -%}
{# dbt deletes the slices that are counted again by a comparison of its own. #}
{% do nbsql.refuse_if(replaces and nbsql.is_in_lake(this) and nbsql.query_rows("SELECT current_setting('default_collation')")[0][0],
  "'" ~ node.name ~ "' replaces slices in a DuckLake, which stores no collations, so that the session's default_collation decides which "
  ~ 'slices are equal; leave it out of the profile, or unique_key out of the config') %}
{% set slices = nbsql.subquery(nbsql.slices(nbsql.exact_cells(this, model.spec.target_type))) -%}
{% set known -%}
SELECT slice FROM {{ slices }} AS slices
{%- if replaces +%}
WHERE age >= {{ model.lookback }}
{%- endif %}
{%- endset -%}
{% if flags.WHICH in ['run', 'build'] and not flags.EMPTY and model.aged is none -%}
{% do nbsql.warn_of_late_rows(model, sliced, slices, model.lookback if replaces else 0) %}
{% endif -%}
{% do return(
  '(\n  SELECT * FROM ' ~ sliced | indent(2) ~ ' AS source\n  WHERE source.nbsql_slice NOT IN (\n    ' ~ known | indent(4)
  ~ '\n  )\n)') %}
{%- endmacro %}

{#
  Whether an incremental run replaces the slices that it counts, and does not only add new ones. Another way to do so is refused. The
  default strategies of warehouses merge by a key that is unique, or only add rows. BigQuery's adapter has no other.
#}
{% macro default__replaces_slices(name) -%}
{% set replaces, strategy = config.get('unique_key') in ['slice', ['slice']], config.get('incremental_strategy') -%}
{% set deletes = strategy == 'delete+insert' or (strategy in [none, 'default'] and not nbsql.is_of('warehouses')) -%}
{% do nbsql.refuse_if(replaces and not deletes,
  "'" ~ name ~ "' replaces slices, which incremental_strategy '" ~ (strategy or 'default') ~ "' does not; "
  ~ ('leave out unique_key' if target.type == 'bigquery' else "use 'delete+insert'")) %}
{% do return(replaces) %}
{%- endmacro %}

{#
  The condition for cells that were counted otherwise than the config of a model was when this was rendered. Cells of other origin have no
  hashes in their batch, and older ones fewer. others: arguments that may differ.
#}
{% macro is_of_another_request(model, others) -%}
{% set same = [] -%}
{% for part in model.request %}{% do same.append('______' if part.argument in others else part.hash) %}{% endfor -%}
batch LIKE '____-__-__ __:__:__ ______-______-______-______%'
  AND batch NOT LIKE {{ nbsql.text('% ' ~ same | join('-')) }}
{%- if not model.derive +%}
  AND batch NOT LIKE {{ nbsql.text('% ' ~ same[:4] | join('-')) }}
{%- endif %}
{%- endmacro %}

{#
  In words: which arguments had other values when cells were counted. The name of a batch ends with their hashes: a value is found by its
  hash if it is none or a column, and features by their cells.
#}
{% macro changes_of_request(model, cells, training=none, others=[]) -%}
{% set found, type = nbsql.columns_of_relation(cells), namespace(change='') -%}
{% if 'batch' not in found | map(attribute=0) | list %}{% do return('') %}{% endif -%}
{% set target = model.spec.target_type | lower -%}
{% for name, before, kind in found
  if name == 'class' and (kind != model.target_kind or (kind == 'temporal' and before | lower != target)) -%}
{% set type.change = 'the classes were of the type ' ~ before | lower ~ ' and are of the type ' ~ target -%}
{% endfor -%}
{% set cells = nbsql.exact_cells(cells, model.spec.target_type) -%}
{% set batches = 'SELECT batch FROM ' ~ cells ~ ' AS cells WHERE ' ~ nbsql.is_of_another_request(model, others) ~ ' LIMIT 1' -%}
{% set changes, counted = [], nbsql.query_rows(batches) -%}
{% if not counted %}{% do return(type.change) %}{% endif -%}
{% set hashes = counted[0][0][20:].split('-') -%}
{% set columns = nbsql.columns_of(training if training is not none else nbsql.training_of(model.node), 'the relation to learn from') -%}
{% for part in model.request[:3] + model.request[5:] if part.hash not in hashes and part.argument not in others -%}
{% set before = namespace(value='another') -%}
{% for name in [none] + columns | map(attribute='name') | list -%}
{% if nbsql.short_hash(part.argument, name) in hashes %}{% set before.value = name or 'none' %}{% endif -%}
{% endfor -%}
{% do changes.append(part.argument ~ ' was ' ~ before.value ~ ' and is ' ~ (part.value or 'none')) %}
{% endfor -%}
{% if changes %}{% do return(changes | join(', ')) %}{% endif -%}
{% set before = nbsql.query_rows('SELECT DISTINCT feature FROM ' ~ cells ~ ' AS cells WHERE feature IS NOT NULL') -%}
{% set before, now = before | map(attribute=0) | sort, model.facts.features | map(attribute='name') | list -%}
{% if before != now | sort -%}
{% do return('the features were ' ~ nbsql.quoted_names(before) ~ ' and are ' ~ nbsql.quoted_names(now)) %}
{% endif -%}
{% if hashes | length > model.request | length %}{% do return('columns were derived that are not now') %}{% endif -%}
{% if model.request[3].hash in hashes -%}
{% do return('the types of categories were others, and are ' ~ model.request[4].value) %}
{% endif -%}
{% for feature in model.facts.features %}{% do changes.append("'" ~ feature.name ~ "' " ~ feature.family.name) %}{% endfor -%}
{% do return('families were others, or had other options, and are ' ~ changes | join(', ')) %}
{%- endmacro %}

{# Refuses a column of which some values break a rule. #}
{% macro refuse_broken(broken, column, source, message) -%}
{% set count = broken | default(0, true) | int -%}
{% set message = message if count != 1 else message | replace('are ', 'is ') | replace('hold ', 'holds ') -%}
{% do nbsql.refuse_if(count,
  count ~ (' value' if count == 1 else ' values') ~ " of column '" ~ column ~ "' of " ~ source.identifier ~ ' ' ~ message) %}
{%- endmacro %}

{#
  Refuses rows that break a rule of their family, as nothing downstream could tell them from valid rows, and a relation without a row to
  count, but for an incremental run, which may find no new ones.
#}
{% macro check_rows(model, source, rows, where=none) -%}
{% set checks = nbsql.checks_of(model) -%}
{% if checks -%}
{% set scan = nbsql.subquery(nbsql.scan(dict(model, facts=dict(model.facts, slice_by=none)), rows, [], checks)) -%}
{% set broken = nbsql.query_rows(nbsql.broken_rules(scan, checks | length))[0] -%}
{% for check in checks %}{% do nbsql.refuse_broken(broken[loop.index0], check.column, source, check.message) %}{% endfor -%}
{% endif -%}
{% if not is_incremental() and not flags.EMPTY -%}
{% set counted = 'SELECT 1 FROM ' ~ rows ~ ' AS source WHERE ' ~ nbsql.is_counted(model) ~ ' LIMIT 1' -%}
{% do nbsql.refuse_if(not nbsql.query_rows(counted),
  'no row of ' ~ source.identifier ~ (' that meets where=' if where is not none else '') ~ " has a '" ~ model.spec.target ~ "'"
  ~ (' and a weight above 0' if model.spec.weight else '') ~ "; '" ~ model.name ~ "' needs at least one") %}
{% endif -%}
{% if model.aged is not none -%}
{% set periods -%}
(
  SELECT nbsql_slice AS slice, sum(nbsql_decayed) AS n
  FROM {{ rows }} AS source
  WHERE source.{{ nbsql.ident(model.spec.target) }} IS NOT NULL
  GROUP BY nbsql_slice
)
{%- endset -%}
{% for period, gap, later, total in nbsql.query_rows(nbsql.longest_gap(periods)) if gap > model.aged.nothing -%}
{% do nbsql.refuse(
  'a weight of ' ~ later ~ ' of ' ~ total ~ ' in ' ~ source.identifier ~ ' is ' ~ gap ~ " half-lives after the rest by '" ~ model.aged.at
  ~ "', which would count for nothing; correct these times or leave such rows out with where=") %}
{% endfor -%}
{% endif -%}
{% if model.facts.slice_by -%}
{% set derived = nbsql.derived_rows(nbsql.rows_where(source), model.derive, model.training_columns) -%}
{% set sliced = nbsql.with_slices(derived if model.aged is none else nbsql.with_half_life(derived, model.aged), model.facts.slice_by) -%}
{% set unsliced = '(SELECT * FROM ' ~ sliced ~ ' AS source WHERE source.nbsql_slice IS NULL)' -%}
{% set without = nbsql.query_rows(nbsql.row_count(unsliced))[0][0] | int -%}
{% do nbsql.refuse_if(without and config.get('materialized') == 'incremental',
  without ~ ' rows of ' ~ source.identifier ~ " are in no slice: slice_by '" ~ model.facts.slice_by
  ~ "' is NULL there; give them one with coalesce, or leave them out with where=") %}
{% endif -%}
{%- endmacro %}
