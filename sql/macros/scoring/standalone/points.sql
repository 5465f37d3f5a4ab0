{#
  The end of a standalone scorecard: points, and reason_1, reason_2, ..., the features that cost the row most points, the costliest first;
  NULL if no other feature costs any; in a tie the first feature. It is a scorer whose only class is scored by points (scorer.sql), with
  the cost of each feature, nbsql_cost_3. The steps of each reason:

    nbsql_most_1    the cost of the costliest feature that no earlier reason names
    nbsql_reason_1  its place among the features, from 1; NULL if it costs nothing
#}
{% macro standalone_points(scorer, scored) -%}
SELECT
  {{ nbsql.passed_columns(scorer) }}source.nbsql_joint_1 AS points
  {%- for number in range(1, scorer.reasons + 1) %},
  CASE nbsql_reason_{{ number }}
    {%- for name in scorer.names %} WHEN {{ loop.index }} THEN {{ nbsql.text(name) }}{% endfor %} END AS reason_{{ number }}
  {%- endfor +%}
FROM {{ scored }} AS source
{%- endmacro %}

{# Adds these steps to `made.tables`. #}
{% macro standalone_reasons(scorer, made) -%}
{% for number in range(1, scorer.reasons + 1) -%}
{% set most = nbsql.word('nbsql_most_' ~ number) -%}
{% set costs = namespace(list=[]) -%}
{% for term in scorer.form.terms %}{% set costs.list = costs.list + [nbsql.standalone_cost(term, loop.index, number)] %}{% endfor -%}
{% set place -%}
CASE{% for cost in costs.list %} WHEN {{ most }} > 0 AND {{ cost }} = {{ most }} THEN {{ loop.index }}{% endfor %} END
{%- endset -%}
{{ nbsql.standalone_step(made, 'nbsql_before_' ~ number, [(most, nbsql.greatest_of_list(costs.list))]) }}
{{- nbsql.standalone_step(made, 'nbsql_named_' ~ number, [('nbsql_reason_' ~ number, place)]) }}
{%- endfor %}
{%- endmacro %}

{# The cost of a feature to a row; nothing if an earlier reason names it. #}
{% macro standalone_cost(term, place, number) -%}
{% if number == 1 -%}
nbsql_cost_{{ term.index }}
{%- else -%}
CASE WHEN {% for k in range(1, number) %}nbsql_reason_{{ k }} = {{ place }}{% if not loop.last %} OR {% endif %}{% endfor -%}
{{ ' ' }}THEN 0 ELSE nbsql_cost_{{ term.index }} END
{%- endif %}
{%- endmacro %}
