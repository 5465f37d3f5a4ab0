{# How far the statistics of a model have moved, as the body of a dbt model and for the test nbsql_drift_below. #}

{#
  One row per feature, and one without a feature for the class, what moved most first: feature, psi, kl, value, a, b
  (macros/evaluation/drift.sql). b: a slice, or a list of slices; none means the newest `slices` slices. a: those to compare them with; none
  means all older ones. against: other statistics, with all of which all of these are compared in place of slices. Without any cell on
  one of the sides there are no rows.
#}
{% macro feature_drift(statistics, a=none, b=none, slices=1, against=none, training=none) -%}
{% do nbsql.refuse_unknown('nbsql.feature_drift', kwargs) %}
{% do nbsql.check_has('long queries', 'nbsql.feature_drift') %}
{% set instead = nbsql.instead_of_score(statistics, training, against) -%}
{% if instead is not none %}{% do return(instead) %}{% endif -%}
{% set model = nbsql.counted_model(statistics, training) -%}
{% do nbsql.refuse_if((a is none) != (b is none) or (against is not none and a is not none),
  'nbsql.feature_drift compares slices a with slices b, or the newest slices, or statistics against others; give a and b, or neither') %}
{% set slices = nbsql.checked_number(slices, 'slices', 'nbsql.feature_drift', 1, whole=true) -%}
{% do nbsql.refuse_unread([
  ('slices', slices if slices > 1 else none, a is none and against is none, 'neither a and b nor against')]) %}
{% set sides = [] if a is not none else nbsql.sides_of_drift(model, statistics, slices, against, training) -%}
{% if a is not none -%}
{% set cells = nbsql.exact_cells(statistics, model.spec.target_type) -%}
{% set known = nbsql.query_rows('SELECT DISTINCT slice FROM ' ~ cells ~ ' AS cells WHERE slice IS NOT NULL') | map(attribute=0) | list -%}
{% for side in [a, b] -%}
{% set names = [] -%}
{% for name in nbsql.as_list(side) -%}
{% do nbsql.refuse_if(nbsql.label_of(name) not in known,
  "no slice '" ~ name ~ "' in '" ~ model.name ~ "'; it has " ~ (nbsql.quoted_names(known | sort) or 'none')) %}
{% do names.append(nbsql.text(nbsql.label_of(name))) %}
{% endfor -%}
{% do nbsql.refuse_if(not names,
  "name at least one slice of '" ~ model.name ~ "'; it has " ~ (nbsql.quoted_names(known | sort) or 'none')) %}
{% do sides.append('(SELECT * FROM ' ~ cells ~ ' AS cells WHERE slice IN (' ~ names | join(', ') ~ '))') %}
{% endfor -%}
{% endif -%}
{% set query -%}
SELECT drift.*
FROM {{ nbsql.subquery(nbsql.drift(sides[0], sides[1], model.facts.features)) }} AS drift
WHERE EXISTS (SELECT 1 FROM {{ sides[0] }} AS cells) AND EXISTS (SELECT 1 FROM {{ sides[1] }} AS cells)
ORDER BY psi DESC NULLS LAST, feature ASC NULLS FIRST
{%- endset -%}
{% do return(nbsql.body(query)) %}
{%- endmacro %}

{# The cells of the two sides of a drift: those of other statistics and all of these, or those of all older slices and of the newest. #}
{% macro sides_of_drift(model, statistics, slices, against, training) -%}
{% set type, cells = model.spec.target_type, nbsql.exact_cells(statistics, model.spec.target_type) -%}
{% if against is not none -%}
{% do nbsql.check_columns(
  against, ['slice', 'class', 'feature', 'value', 'n', 'mean', 'm2'], 'which statistics have', 'against=') %}
{% do nbsql.check_counted(model, against, training, ['weight', 'slice_by'], against.identifier) %}
{% do return([nbsql.exact_cells(against, type), cells]) %}
{% endif -%}
{% set sliced -%}
SELECT * FROM {{ cells }} AS cells WHERE slice IN (SELECT slice FROM ({{ nbsql.slices(cells) }}) AS slices WHERE age
{%- endset -%}
{% do return(['(' ~ sliced ~ ' >= ' ~ slices ~ '))', '(' ~ sliced ~ ' < ' ~ slices ~ '))']) %}
{%- endmacro %}
