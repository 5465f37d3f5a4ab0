{#
  Where scoring differs. Small tables are sent to every worker: Spark does not know the size of a table that is in memory only. Rows
  have no order but an id by which the parts of a row meet again.
#}

{% macro spark__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- endmacro %}

{#
  Constants of a view (parameters.sql), which Spark writes into the terms where it meets them in a lateral sub-select. Joined as a row of a
  table, these many columns were copied for every row. Where rows have parameters of their own, these come last, as rows of more than a
  hundred columns are taken apart and put together again at each join.
#}
{% macro spark__join_parameters(model, parameters, relation) -%}
{% if model.part_column -%}
{{ nbsql.default__join_parameters(model, parameters, relation) }}
{%- else -%}
CROSS JOIN LATERAL (SELECT * FROM {{ parameters }} AS constants) AS parameters
{%- endif %}
{%- endmacro %}

{% macro spark__labels_in_rows() %}yes{% endmacro %}

{# The log-likelihoods of a value in all classes are one column, an array, so that rows stay short. #}
{% macro spark__star(model, feature, lookups) -%}
{{ nbsql.star_of_scores(model, feature, lookups) }}
{%- endmacro %}

{% macro spark__level(feature, k) -%} level{{ nbsql.feature_suffix(feature) }}.scores[{{ k - 1 }}] {%- endmacro %}

{#
  0, by a function that Spark does not compile together with others, so that the terms become small methods. All of a query in one
  have over 8,000 bytes from some thirty terms on, and such a method the JVM interprets: several times slower, and nothing tells.
#}
{% macro spark__compiled_apart(model) -%}
{% set terms = (model.joint_features + model.star_categories) | length * model.class_numbers | length -%}
{% if terms > 20 %}

+ size(map_filter(map(0, number.{{ nbsql.ident((model.joint_features + model.star_categories)[0].columns[0]) }}), (place, x) -> FALSE))
{%- endif %}
{%- endmacro %}
