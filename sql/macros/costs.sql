{#
  The prediction that costs least, where mistakes differ in price (Elkan, The foundations of cost-sensitive learning, 2001):

    expected cost of predicting j  =  sum over the classes i of P(i | x) cost(i, j)

  costs: for every class that may be predicted, by number, the list of its costs, by the number of the actual class.

  Columns: those of the source, prediction, probability (its posterior), expected_cost. All three are NULL where no class can
  explain the row. Of equal costs the class with the larger prior wins, then that with the smaller label.
#}
{% macro predict_at_cost(model, scored, parameters, costs) -%}
SELECT
  {{ nbsql.passed(model) }},
  source.nbsql_labels[source.nbsql_choice] AS prediction,
  source.nbsql_posteriors[source.nbsql_choice] AS probability,
  source.nbsql_costs[source.nbsql_choice] AS expected_cost
FROM (
  {{ nbsql.priced(model, scored, parameters, costs) | indent(2) }}
) AS source
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}

{# The rows of `scored` with the expected cost of every class, nbsql_costs, and the number of the cheapest, nbsql_choice. #}
{% macro priced(model, scored, parameters, costs) -%}
SELECT *, CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN list_position(nbsql_costs, list_min(nbsql_costs)) END AS nbsql_choice
FROM (
  SELECT *, list_transform(nbsql_matrix, lambda costs: list_dot_product(costs, nbsql_posteriors)) AS nbsql_costs
  FROM (
    {{ nbsql.with_posteriors(model, scored, parameters) | indent(4) }}
  ) AS posteriors
  CROSS JOIN (
    SELECT [
      {%- for column in costs %}

      [{% for cost in column %}{{ nbsql.number(cost) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}]{{ nbsql.comma(loop) }}
      {%- endfor %}

    ] AS nbsql_matrix
  ) AS matrix
) AS priced
{%- endmacro %}

{# `scored` (predict.sql) with the predictions that cost least, for judging. #}
{% macro decided_at_cost(model, scored, parameters, costs) -%}
SELECT
  source.* REPLACE (
    nbsql_labels[nbsql_choice] AS nbsql_prediction,
    nbsql_posteriors[nbsql_choice] AS nbsql_probability
  )
FROM (
  {{ nbsql.priced(model, scored, parameters, costs) | indent(2) }}
) AS source
{%- endmacro %}

{#
  What such predictions cost on average, over the rows whose class the model knows and can explain: cost (paid), expected_cost
  (by the posteriors). Both agree but for chance if the posteriors hold.
#}
{% macro paid(model, decided, parameters, weight, as_text) -%}
SELECT
  sum(outcomes.weight * outcomes.prices[known.class_no]) / sum(outcomes.weight) AS cost,
  sum(outcomes.weight * outcomes.expected) / sum(outcomes.weight) AS expected_cost
FROM (
  SELECT
    {{ nbsql.label(nbsql.target(model), as_text) }} AS class,
    {%+ if weight is none %}CAST(1 AS {{ nbsql.double() }}){% else %}CAST(source.{{ nbsql.ident(weight) }} AS {{ nbsql.double() }}){%+ endif %} AS weight,
    source.nbsql_matrix[source.nbsql_choice] AS prices,
    source.nbsql_costs[source.nbsql_choice] AS expected
  FROM {{ decided }} AS source
) AS outcomes
JOIN (
  SELECT {{ nbsql.label(nbsql.word('class'), as_text) }} AS class, class_no
  FROM (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS classes
) AS known ON known.class = outcomes.class
WHERE outcomes.weight > 0 AND outcomes.prices IS NOT NULL
{%- endmacro %}

{# The rows of `scored` with nbsql_posteriors and nbsql_labels, lists by the number of the class. #}
{% macro with_posteriors(model, scored, parameters) -%}
SELECT source.*, nbsql_labels, {{ nbsql.posteriors(model) | indent(2) }} AS nbsql_posteriors
FROM {{ scored }} AS source
CROSS JOIN (
  SELECT list(class ORDER BY class_no) AS nbsql_labels
  FROM (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS classes
) AS labels
{%- endmacro %}
