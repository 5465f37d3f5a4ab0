{#
  Generic tests for the YAML of a project. Each is a query that returns the failures. arguments: the mapping under that key in the YAML,
  which dbt unpacks itself from 1.10.5 on.
#}

{#
  Rows with a prediction: the accuracy on rows with a known class is at least `minimum`. The class is the column under test, or target=. A
  row without a prediction counts as wrong. A relation without rows fails.
#}
{% test nbsql_accuracy_at_least(model, minimum=none, column_name=none, target=none, prediction='prediction', weight=none, arguments={}) %}
{% set minimum, target = arguments.get('minimum', minimum), arguments.get('target', target) -%}
{% set prediction, weight = arguments.get('prediction', prediction), arguments.get('weight', weight) -%}
{% if execute %}{% do nbsql.check_engine() %}{% endif -%}
{% set class = nbsql.ident(target or column_name) -%}
{% set size %}{% if weight is none %}1{% else %}{{ nbsql.ident(weight) }}{% endif %}{% endset -%}
{% set query -%}
SELECT accuracy, {{ nbsql.number(minimum) }} AS minimum
FROM (
  SELECT
    sum(
      CASE
        WHEN CAST({{ nbsql.ident(prediction) }} AS {{ nbsql.string() }}) = CAST({{ class }} AS {{ nbsql.string() }}) THEN {{ size }}
        ELSE 0
      END
    )
      / CAST(sum({{ size }}) AS {{ nbsql.double() }}) AS accuracy
  FROM {{ model }} AS scored
  WHERE {{ class }} IS NOT NULL
) AS judged
WHERE accuracy IS NULL OR accuracy < {{ nbsql.number(minimum) }}
{%- endset -%}
{{ nbsql.finished_statement(query) }}
{% endtest %}

{#
  Statistics: no feature, and not the class, has a population stability index of `maximum` or more (macros/judging/drift.sql). The newest
  `slices` slices are compared with all older ones, or all cells with those of other statistics, `against`. If there is nothing older,
  there is no drift.
#}
{% test nbsql_drift_below(model, maximum=none, slices=1, against=none, arguments={}) %}
{% set maximum, slices, against = arguments.get('maximum', maximum), arguments.get('slices', slices), arguments.get('against', against) -%}
{% if execute %}{% do nbsql.check_engine() %}{% endif -%}
{% set features = nbsql.features_not_normal(model) if execute else [] -%}
{% set old -%}
{% if against is not none -%}
{{ against }}
{%- else -%}
(
  SELECT * FROM {{ model }} AS cells
  WHERE slice IN (SELECT slice FROM ({{ nbsql.slices(model) }}) AS slices WHERE age >= {{ slices | int }})
)
{%- endif %}
{%- endset -%}
{% set new -%}
{% if against is not none -%}
{{ model }}
{%- else -%}
(
  SELECT * FROM {{ model }} AS cells
  WHERE slice IN (SELECT slice FROM ({{ nbsql.slices(model) }}) AS slices WHERE age < {{ slices | int }})
)
{%- endif %}
{%- endset -%}
{% set query -%}
SELECT *
FROM (
  {{ nbsql.drift(old, new, features) }}
) AS drift
WHERE psi >= {{ nbsql.number(maximum) }} AND EXISTS (SELECT 1 FROM {{ old }} AS cells)
{%- endset -%}
{{ nbsql.finished_statement(query) }}
{% endtest %}

{#
  The relation that nbsql.monitoring makes: in every period each metric is at most its limit in `over` and at least its limit in `under`.
  A limit on psi applies to every feature, but not to the score. NULL violates no limit, but a metric without any value violates its own.
#}
{% test nbsql_within(model, over={}, under={}, arguments={}) %}
{% set over, under = arguments.get('over', over), arguments.get('under', under) -%}
{% if execute %}{% do nbsql.check_engine() %}{% endif -%}
{% if execute and not over and not under -%}
{% do nbsql.refuse("nbsql_within has no limits; say over: {psi: 0.2}, or under: {accuracy: 0.8}") %}
{% endif -%}
{{ nbsql.finished_statement(nbsql.outside_limits(model, over.items() | list, under.items() | list, true)) }}
{% endtest %}

{# Statistics: no count, and no sum of squared deviations, has a negative total. #}
{% test nbsql_statistics_not_negative(model) %}
{% if execute %}{% do nbsql.check_engine() %}{% endif -%}
{% set query -%}
SELECT *
FROM (
  SELECT slice, class, feature, value, sum(n) AS n, sum(abs(n)) AS gross, min(CASE WHEN n > 0 THEN m2 END) AS m2
  FROM {{ model }} AS cells
  GROUP BY slice, class, feature, value
) AS sums
WHERE n < -1e-9 * gross OR m2 < 0
{%- endset -%}
{{ nbsql.finished_statement(query) }}
{% endtest %}

{#
  The features of the statistics that drift does not compare as normal distributions, named as the cells name them. An inferred family is
  never one of them.
#}
{% macro features_not_normal(statistics) -%}
{% set options, found = nbsql.options_of(nbsql.statistics_node(statistics)), [] -%}
{% set names = nbsql.query_rows('SELECT DISTINCT feature FROM ' ~ statistics ~ ' AS cells WHERE feature IS NOT NULL') -%}
{% for key, given in options.families.items() -%}
{% set family = nbsql.family_of(key, given, options) -%}
{% for name in names if (family.divergence != 'normal' or family.zeros) and name[0] | lower == key | lower -%}
{% do found.append({'name': name[0], 'family': family}) %}
{% endfor -%}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}
