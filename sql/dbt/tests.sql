{#
  Generic tests for the YAML of a project. Each is a query that returns the failures. arguments: the mapping under that key in the YAML,
  which dbt unpacks itself from 1.10.5 on. kwargs has those that a test does not have, which are refused in place of a failed parsing.
#}

{#
  Rows with a prediction: the accuracy on rows with a known class is at least `minimum`. The class is the column under test, or target=. A
  row without a prediction counts as wrong. A relation without rows fails.
#}
{% test nbsql_accuracy_at_least(model, minimum=none, column_name=none, target=none, prediction='prediction', weight=none, arguments={}) %}
{% if nbsql.is_not_tested([model]) %}{% do return(nbsql.no_failures()) %}{% endif -%}
{% set given = {'minimum': minimum, 'target': target or column_name, 'prediction': prediction, 'weight': weight} -%}
{% do nbsql.complete_arguments('nbsql_accuracy_at_least', given, kwargs, arguments) %}
{% set minimum = nbsql.checked_number(given.minimum, 'minimum', 'nbsql_accuracy_at_least') -%}
{% do nbsql.refuse_if(given.target is none,
  "nbsql_accuracy_at_least needs the column of the class; say target: label, or put the test under that column") %}
{% set columns = nbsql.check_columns(model, [given.prediction], 'the prediction') -%}
{% do nbsql.column_named(columns, given.target, 'the target', model) %}
{% if given.weight is not none %}{% do nbsql.weight_column(columns, given.weight, model) %}{% endif -%}
{% set class = nbsql.ident(given.target) -%}
{% set size %}{% if given.weight is none %}1{% else %}{{ nbsql.ident(given.weight) }}{% endif %}{% endset -%}
{% set query -%}
SELECT accuracy, {{ nbsql.number(minimum) }} AS minimum
FROM (
  SELECT
    sum(
      CASE
        WHEN CAST({{ nbsql.ident(given.prediction) }} AS {{ nbsql.string() }}) = CAST({{ class }} AS {{ nbsql.string() }}) THEN {{ size }}
        ELSE 0
      END
    )
      / CAST(sum({{ size }}) AS {{ nbsql.double() }}) AS accuracy
  FROM {{ nbsql.rows_where(model) }} AS scored
  WHERE {{ class }} IS NOT NULL
) AS judged
WHERE accuracy IS NULL OR accuracy < {{ nbsql.number(minimum) }}
{%- endset -%}
{{ nbsql.body(query) }}
{% endtest %}

{#
  Statistics: no feature, and not the class, has a population stability index of `maximum` or more (macros/evaluation/drift.sql). The newest
  `slices` slices are compared with all older ones, or all cells with those of other statistics, `against`. If there is nothing older,
  there is no drift. An index that cannot be computed fails.
#}
{% test nbsql_drift_below(model, maximum=none, slices=1, against=none, training=none, arguments={}) %}
{% do nbsql.check_has('long queries', 'nbsql_drift_below') %}
{% if nbsql.is_not_tested([model] + ([] if against is none else [against])) %}{% do return(nbsql.no_failures()) %}{% endif -%}
{% set given = {'maximum': maximum, 'slices': slices, 'against': against} -%}
{% do nbsql.complete_arguments('nbsql_drift_below', given, kwargs, arguments, ['training']) %}
{% set training = arguments.get('training', training) -%}
{% set maximum = nbsql.checked_number(given.maximum, 'maximum', 'nbsql_drift_below') -%}
{% set slices = nbsql.checked_number(given.slices, 'slices', 'nbsql_drift_below', 1, whole=true) -%}
{% do nbsql.refuse_unread([('slices', slices if slices > 1 else none, given.against is none, 'no against')]) %}
{% set counted = nbsql.counted_model(model, training) -%}
{% set old, new = nbsql.sides_of_drift(counted, model, slices, given.against, training) -%}
{% set query -%}
SELECT counted.feature, drift.psi, drift.kl, drift.value, drift.a, drift.b
FROM (
  SELECT feature FROM {{ old }} AS cells GROUP BY feature HAVING sum(n) > 0
  {{ nbsql.union_distinct() }}
  SELECT feature FROM {{ new }} AS cells GROUP BY feature HAVING sum(n) > 0
) AS counted
LEFT JOIN (
  {{ nbsql.drift(old, new, counted.facts.features) }}
) AS drift ON drift.feature IS NOT DISTINCT FROM counted.feature
WHERE (drift.psi IS NULL OR drift.psi >= {{ nbsql.number(maximum) }}) AND EXISTS (SELECT 1 FROM {{ old }} AS cells)
{%- endset -%}
{{ nbsql.body(query) }}
{% endtest %}

{#
  The relation that nbsql.monitoring makes: in every period each metric is at most its limit in `over` and at least its limit in `under`.
  A limit on psi applies to every feature, but not to the score. A figure that cannot be computed violates its limit, and so does a metric
  without any value; those of labels do not in a period without labels. label: the class whose rows the limits are for; none means all rows.
  newest: a column, such as the time of a run or the period, of whose largest value the rows are tested; none means all rows.
#}
{% test nbsql_within(model, over={}, under={}, label=none, newest=none, arguments={}) %}
{% if nbsql.is_not_tested([model]) %}{% do return(nbsql.no_failures()) %}{% endif -%}
{% set given = {'over': over, 'under': under, 'label': label, 'newest': newest} -%}
{% do nbsql.complete_arguments('nbsql_within', given, kwargs, arguments) %}
{% do nbsql.refuse_if(not given.over and not given.under, "nbsql_within has no limits; say over: {psi: 0.2}, or under: {accuracy: 0.8}") %}
{% set columns = nbsql.check_columns(model, ['metric', 'value'], 'which the result of nbsql.monitoring has') -%}
{% set monitored = nbsql.rows_where(model) -%}
{% if given.newest is not none -%}
{% set newest = nbsql.ident(nbsql.column_named(columns, given.newest, 'of which to test the newest', model).name) -%}
{% set number = nbsql.as_number('CAST(' ~ newest ~ ' AS ' ~ nbsql.string() ~ ')') -%}
{% set largest_first = ' ORDER BY ' ~ number ~ ' DESC NULLS LAST, ' ~ newest ~ ' DESC NULLS LAST LIMIT 1' -%}
{% set largest = '(SELECT ' ~ newest ~ ' FROM ' ~ monitored ~ ' AS monitored' ~ largest_first ~ ')' -%}
{% set monitored = '(SELECT * FROM ' ~ monitored ~ ' AS monitored WHERE ' ~ newest ~ ' = ' ~ largest ~ ')' -%}
{% endif -%}
{% if given.label is not none -%}
{% do nbsql.check_columns(model, ['class'], 'to which label= belongs') %}
{% set text = 'CAST(class AS ' ~ nbsql.string() ~ ')' -%}
{% set classes = 'SELECT DISTINCT ' ~ text ~ ' FROM ' ~ monitored ~ ' AS monitored WHERE class IS NOT NULL' -%}
{% set classes = nbsql.query_rows(classes) | map(attribute=0) | list -%}
{% if classes %}{% do nbsql.checked_choice(nbsql.label_of(given.label), classes | sort, 'label', 'nbsql_within') %}{% endif -%}
{% set monitored = '(SELECT * FROM ' ~ monitored ~ ' AS monitored WHERE ' ~ text ~ ' = ' ~ nbsql.text(nbsql.label_of(given.label)) ~ ')' -%}
{% endif -%}
{% set metrics = nbsql.query_rows('SELECT DISTINCT metric FROM ' ~ monitored ~ ' AS monitored') | map(attribute=0) | list -%}
{% for side, limits in [('over', given.over), ('under', given.under)] -%}
{% do nbsql.refuse_if(limits is not mapping, side ~ " of 'nbsql_within' must be a mapping such as {psi: 0.2}, not " ~ limits) %}
{% for metric, limit in limits.items() -%}
{% do nbsql.checked_number(limit, metric, 'nbsql_within', none) %}
{% if metrics %}{% do nbsql.checked_choice(metric, metrics | sort, 'a metric', 'nbsql_within') %}{% endif -%}
{% endfor -%}
{% endfor -%}
{% set names = columns | map(attribute='name') | list -%}
{% set over, under = given.over.items() | list, given.under.items() | list -%}
{{ nbsql.body(nbsql.outside_limits(monitored, over, under, strict=true, columns=names)) }}
{% endtest %}

{# Statistics: no count, and no sum of squared deviations, has a negative total. #}
{% test nbsql_statistics_not_negative(model) %}
{% if nbsql.is_not_tested([model]) %}{% do return(nbsql.no_failures()) %}{% endif -%}
{% do nbsql.complete_arguments('nbsql_statistics_not_negative', {}, kwargs, {}) %}
{% set columns = nbsql.check_columns(model, ['slice', 'class', 'feature', 'value', 'n', 'm2'], 'which statistics have') -%}
{% set class = nbsql.column_named(columns, 'class', 'which statistics have', model) -%}
{% set query -%}
SELECT *
FROM (
  SELECT slice, class, feature, value, sum(n) AS n, sum(abs(n)) AS gross, min(CASE WHEN n > 0 THEN m2 END) AS m2
  FROM {{ nbsql.exact_cells(model, class.type) }} AS cells
  GROUP BY slice, class, feature, value
) AS sums
WHERE n < -1e-9 * gross OR m2 < 0
{%- endset -%}
{{ nbsql.body(query) }}
{% endtest %}

{#
  Whether a test has nothing to look at: while dbt parses, with --empty, where no relation has rows, and for compile and docs generate where
  a relation is not there yet.
#}
{% macro is_not_tested(relations) -%} {% do return(flags.EMPTY or nbsql.instead_of_query(relations) is not none) %} {%- endmacro %}

{% macro no_failures() -%} SELECT 1 AS failure WHERE 1 = 0 {%- endmacro %}

{#
  Adds `arguments` to those that were given to a generic test. One that it does not have is refused, as is an unsupported engine. others:
  the names of further ones.
#}
{% macro complete_arguments(test, given, unknown, arguments, others=[]) -%}
{% do nbsql.check_engine() %}
{% do nbsql.refuse_if(arguments is not mapping, 'arguments of ' ~ test ~ ' must be a mapping, not ' ~ arguments) %}
{% for argument in unknown.keys() | list + arguments.keys() | list if argument not in given and argument not in others -%}
{% do nbsql.refuse(test ~ " has no argument '" ~ argument ~ "'; it has " ~ (nbsql.quoted_names(given) or 'none')) %}
{% endfor -%}
{% do given.update(arguments) %}
{%- endmacro %}

{# The columns of a relation, that under test or `what` it is. A missing one is refused. #}
{% macro check_columns(relation, names, role, what='the model of a test') -%}
{% set columns = nbsql.columns_of(relation, what, false) -%}
{% do nbsql.columns_named(columns, names, role, relation) %}
{% do return(columns) %}
{%- endmacro %}
