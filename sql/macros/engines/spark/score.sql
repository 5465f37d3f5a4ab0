{#
  Where scoring differs. Small tables are sent to every worker: Spark does not know the size of a table that is in memory only. Rows
  have no order but an id by which the parts of a row meet again.
#}

{% macro spark__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- endmacro %}

{#
  Spark takes rows of more than a hundred columns apart and puts them together again at each join, so the parameters, which are many
  columns, come last: joined first, they made a prediction two and a half times slower.
#}
{% macro spark__labels_in_rows() %}yes{% endmacro %}

{# The log-likelihoods of a value in all classes are one column, an array, for the same reason. #}
{% macro spark__star(model, feature, lookups) -%}
{{ nbsql.star_of_scores(model, feature, lookups) }}
{%- endmacro %}

{% macro spark__level(feature, k) -%} level{{ nbsql.feature_suffix(feature) }}.scores[{{ k - 1 }}] {%- endmacro %}
