{#
  Calibration and comparison, each the body of a dbt model. A calibration is fitted on rows that the statistics have not counted, as a model
  of its own; `calibration=ref('...')` of nbsql.predictions and others reads it.
#}

{#
  A calibration, the table that Python's `calibrate` stores: method, class_no, class, temperature, slope, intercept, score, probability
  (macros/evaluation/calibration/). method: 'temperature', 'platt' or 'isotonic' of the posteriors, or 'certain' of what certain predictions
  promise, with a confidence. weight: a column.

  Each step of the search is a table of the query, and does nothing for what is done. Most searches take some ten; one that is not done
  after the last step is an error. The limit keeps DuckDB from writing the conditions of later steps into earlier ones, which double with
  each.
#}
{% macro fitted_calibration(
  statistics, source, method='temperature', weight=none, where=none, training=none, confidence=none
) -%}
{% do nbsql.refuse_unknown('nbsql.fitted_calibration', kwargs) %}
{% do nbsql.check_has('lists', 'nbsql.fitted_calibration') %}
{% set instead = nbsql.instead_of_score(statistics, training, source) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% do nbsql.checked_choice(method, ['temperature', 'platt', 'isotonic', 'certain'], 'method', 'nbsql.fitted_calibration') %}
{% set certain, of_scores = method == 'certain', method in ['platt', 'isotonic'] -%}
{% do nbsql.refuse_unread([('confidence', confidence, certain, "method='certain'")]) %}
{% if confidence is not none %}{% do nbsql.check_share(confidence, 'confidence') %}{% endif -%}
{% set model = nbsql.scoring_model(statistics, training) -%}
{% do nbsql.refuse_if(model.form.class_columns | length < 2, "'" ~ model.name ~ "' has one class only; there is nothing to calibrate") %}
{% do nbsql.check_source(model, source, [model.spec.target], weight) %}
{% set scored, parameters = nbsql.scored_rows(model, nbsql.rows_to_score(model, source, where)), nbsql.table_of(model, 'parameters') -%}
{% set rows, scores, points = nbsql.inline_name('rows'), nbsql.inline_name('scores'), nbsql.inline_name('points') -%}
{% set known = nbsql.with_knowledge(model, scored, parameters) if certain else scored -%}
{% set tables = [
  (rows, nbsql.calibration_rows(model, known, parameters, weight, model.target_kind == 'text', certain)),
  (scores, nbsql.calibration_scores(rows) if of_scores else none),
  (points, none if method == 'isotonic' else nbsql[method ~ '_points'](scores if of_scores else rows))] -%}
{% set read = scores if method == 'isotonic' else points -%}
{% set step, count = nbsql.inline_name('step'), {'temperature': 60, 'certain': 20}.get(method, 30) -%}
{% set next -%}
SELECT *
FROM (
  SELECT * FROM {{ step }} AS steps WHERE done
  UNION ALL
  {{ nbsql[method ~ '_step']('(SELECT * FROM ' ~ step ~ ' AS steps WHERE NOT done)', read) | indent(2) }}
) AS steps
LIMIT 2000000000
{%- endset -%}
{% set options = [0.95 if confidence is none else confidence] if certain else [] -%}
{% do tables.append((nbsql.inline_name('step 0'), nbsql[method ~ '_start'](read, *options))) %}
{% for k in range(1, count + 1) -%}
{% do tables.append((nbsql.inline_name('step ' ~ k), next | replace(step, nbsql.inline_name('step ' ~ (k - 1))))) %}
{% endfor -%}
{% set last = nbsql.inline_name('step ' ~ count) -%}
{% set found = nbsql.calibration_table(model, parameters, method, nbsql.subquery(nbsql[method ~ '_result'](last))) -%}
{% set query -%}
WITH {% for name, body in tables if body is not none -%}
{{ name }} AS {{ nbsql.materialized() }}{{ nbsql.subquery(body) }}{{ nbsql.comma_line(loop) }}
{%- endfor +%}
SELECT calibration.*
{% if flags.EMPTY %}
FROM {{ nbsql.subquery(found) }} AS calibration
{% else %}
{% set known = "a class that '" ~ model.name ~ "' knows and can explain" %}
{% set nothing = 'no row of ' ~ source.identifier ~ ' has ' ~ known ~ '; nothing to calibrate on' %}
{% set unfinished = 'the ' ~ method ~ " of '" ~ model.name ~ "' is not found in " ~ count ~ ' steps; calibrate it in Python' %}
{% set counted %}CAST(search.counted AS {{ nbsql.string() }}){% endset %}
{% set unknown = "'" ~ model.name ~ "' knows nothing of the rows of " ~ source.identifier ~ '; nothing to calibrate on' %}
FROM (
  SELECT
    (SELECT count(*) FROM {{ rows }} AS rows) AS counted,
    (SELECT count(*) FROM {{ last }} AS steps) AS found,
    (SELECT count(*) FROM {{ last }} AS steps WHERE NOT done) AS unfinished
) AS search
LEFT JOIN {{ nbsql.subquery(found) }} AS calibration ON TRUE
WHERE CASE WHEN search.counted = 0 THEN {{ nbsql.raise_error(nothing, counted) }}
  {% if certain %}
  WHEN search.found = 0 THEN {{ nbsql.raise_error(unknown, counted) }}
  {% endif %}
  WHEN search.unfinished > 0 THEN {{ nbsql.raise_error(unfinished, counted) }}
  ELSE TRUE
END
{% endif %}
{%- endset -%}
{% do return(nbsql.body_in_tables(nbsql.with_model_tables(model, statistics, query), 'step ')) %}
{%- endmacro %}

{#
  A model that scores with a calibration, the relation that nbsql.fitted_calibration, or `calibrate` in Python, made; none leaves the model
  as it is. A calibration of other classes than the model has now is refused. certain: whether it must promise certain predictions, and may
  leave the posteriors as they are.
#}
{% macro calibrated(model, calibration, certain=false) -%}
{% if calibration is none %}{% do return(model) %}{% endif -%}
{% do nbsql.check_has('lists', 'calibration=') %}
{% do nbsql.check_columns(calibration, ['method', 'class_no', 'class'], 'which a calibration has', 'calibration=') %}
{% set fitted -%}
SELECT DISTINCT method, class_no, CAST(class AS {{ nbsql.string() }}) AS class
FROM {{ nbsql.rows_where(calibration) }} AS calibration
WHERE method IN ('temperature', 'platt', 'isotonic', 'certain')
{%- endset -%}
{% set rows, promises, calibrated, labels = [], [], {}, {} -%}
{% for row in nbsql.query_rows(fitted) %}{% do (promises if row[0] == 'certain' else rows).append(row) %}{% endfor -%}
{% for row in rows if row[1] is not none %}{% do calibrated.update({row[1] | int: row[2]}) %}{% endfor -%}
{% for column in model.form.class_columns %}{% do labels.update({column.number: column.label}) %}{% endfor -%}
{% if not model.lacks_classes -%}
{% do nbsql.refuse_if(not rows and not certain,
  calibration.identifier ~ ' has no calibration of posteriors; build it by nbsql.fitted_calibration') %}
{% do nbsql.refuse_if(certain and not promises,
  calibration.identifier ~ " promises no certainty; build it by nbsql.fitted_calibration(..., method='certain')") %}
{% set others = calibration.identifier ~ " was fitted with other classes than '" ~ model.name ~ "' has; build it again" -%}
{% do nbsql.refuse_if(calibrated and calibrated != labels, others) %}
{% for row in promises if certain and row[1] is not none %}{% do nbsql.refuse_if(labels.get(row[1] | int) != row[2], others) %}{% endfor -%}
{% if rows %}{% do model.update({'calibration': {'relation': calibration, 'method': rows[0][0]}}) %}{% endif -%}
{% endif -%}
{% do return(model) %}
{%- endmacro %}

{#
  How much better or worse one model predicts the rows of a relation than another: class (NULL for all classes), metric, value, other,
  difference (value - other), standard_error, and low and high of the difference (macros/evaluation/comparison.sql). The rows should be
  ones that neither has counted. other: the other model's statistics. weight: a column.
#}
{% macro comparison(
  statistics, other, source, weight=none, where=none, training=none, other_training=none, calibration=none, other_calibration=none
) -%}
{% do nbsql.refuse_unknown('nbsql.comparison', kwargs) %}
{% do nbsql.check_has('lists', 'nbsql.comparison') %}
{% set instead = [
  nbsql.instead_of_score(statistics, training, source, calibration),
  nbsql.instead_of_score(other, other_training, source, other_calibration)] | reject('none') | list -%}
{% if instead %}{% do return(instead[0]) %}{% endif -%}
{% set model = nbsql.calibrated(nbsql.scoring_model(statistics, training), calibration) -%}
{% set opponent = nbsql.calibrated(nbsql.scoring_model(other, other_training), other_calibration) -%}
{% do nbsql.refuse_if(model.spec.target | lower != opponent.spec.target | lower,
  "'" ~ model.name ~ "' predicts '" ~ model.spec.target ~ "' and '" ~ opponent.name ~ "' '" ~ opponent.spec.target
  ~ "'; compare models of one target") %}
{% for one in [model, opponent] %}{% do nbsql.check_source(one, source, [one.spec.target], weight) %}{% endfor -%}
{% do nbsql.check_weights(model, nbsql.rows_to_score(model, source, where), weight, source) %}
{% do opponent.update({'side': 'other '}) %}
{% set columns, carried = model.options.columns, ['nbsql_other_prediction', 'nbsql_other_posteriors'] -%}
{% set numbered = columns + (['nbsql_row'] if opponent.has_row_numbers else []) -%}
{% set scored = nbsql.scored_rows(opponent, nbsql.rows_to_score(opponent, source, where)) -%}
{% do model.options.update({'columns': numbered + carried}) %}
{% set answered = nbsql.subquery(nbsql.with_other_answers(opponent, scored, numbered)) -%}
{% set scored = nbsql.scored_rows(model, nbsql.derived_rows(answered, model.derived_here, numbered + carried)) -%}
{% set as_text = model.target_kind == 'text' -%}
{% set judged = nbsql.judged_rows(model, scored, nbsql.table_of(model, 'parameters'), weight, as_text, carried) -%}
{% set query = nbsql.model_comparison(judged, opponent, nbsql.table_of(opponent, 'parameters'), as_text) -%}
{% set query = nbsql.with_model_tables(opponent, other, nbsql.with_model_tables(model, statistics, query)) -%}
{% do return(nbsql.body_in_tables(query)) %}
{%- endmacro %}
