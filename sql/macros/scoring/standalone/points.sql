{#
  The end of a standalone scorecard: points, and reason_1, reason_2, ..., the features that cost the row most points, the costliest first;
  NULL if no other feature costs any; in a tie the first feature. It is a scorer whose only class is scored by points (scorer.sql), with
  the cost of each feature, nbsql_cost_3. The steps of each reason:

    nbsql_most_1    the cost of the costliest feature that no earlier reason names
    nbsql_reason_1  its place among the features, from 1; NULL if it costs nothing
#}
{% macro standalone_points(scorer) -%}
{% set materialized %}{% if scorer.traits.materializes %}MATERIALIZED {% endif %}{% endset -%}
{% set before = namespace(step=nbsql.word('nbsql_joint')) -%}
{% for number in range(1, scorer.reasons + 1) -%}
{% set costs = namespace(list=[]) -%}
{% for term in scorer.terms %}{% set costs.list = costs.list + [nbsql.standalone_cost(term, loop.index, number)] %}{% endfor -%}
,
nbsql_reasons_{{ number }} AS {{ materialized }}(
  SELECT
    reasons.*,
    CASE
      {% for cost in costs.list %}
      WHEN nbsql_most_{{ number }} > 0 AND {{ cost }} = nbsql_most_{{ number }} THEN {{ loop.index }}
      {% endfor %}
    END AS nbsql_reason_{{ number }}
  FROM (
    SELECT {{ before.step }}.*, {{ nbsql.greatest_of_list(costs.list) }} AS nbsql_most_{{ number }} FROM {{ before.step }}
  ) AS reasons
)
{%- set before.step %}nbsql_reasons_{{ number }}{% endset -%}
{% endfor +%}
SELECT
  {{ nbsql.standalone_source_columns(scorer, before.step) | indent(2) }}
  nbsql_joint_1 AS points
  {%- for number in range(1, scorer.reasons + 1) %},
  CASE nbsql_reason_{{ number }}
    {%- for name in scorer.names %} WHEN {{ loop.index }} THEN {{ nbsql.text(name) }}{% endfor %} END AS reason_{{ number }}
  {%- endfor +%}
FROM {{ before.step }}
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
