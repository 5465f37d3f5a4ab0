{#
  The prediction of least expected cost, if mistakes differ in cost (Elkan, The foundations of cost-sensitive learning, 2001):

    expected cost of predicting j  =  sum over the classes i of P(i | x) cost(i, j)

  costs: for every class that may be predicted, by number, the list of its costs, by the number of the actual class.

  Columns: those of the source, prediction, probability (its posterior), expected_cost. All three are NULL if no class explains the row.
  Of equal costs the class with the larger prior wins, then the one with the smaller label.
#}
{% macro predict_at_cost(model, scored, parameters, costs) -%}
SELECT
  {{ nbsql.passed_columns(model) }}{{
    nbsql.plain_label(nbsql.value_of_chosen_class('nbsql_labels'), model.spec.target_type) }} AS prediction,
  {{ nbsql.value_of_chosen_class('nbsql_posteriors') }} AS probability,
  {{ nbsql.value_of_chosen_class('nbsql_costs') }} AS expected_cost
FROM {{ nbsql.subquery(nbsql.with_expected_costs(model, scored, parameters, costs)) }} AS source{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}

{# The element of a list for the chosen class. #}
{% macro value_of_chosen_class(list) -%}
{% set elements %}source.{{ nbsql.word(list) }}{% endset -%}
{{ nbsql.element(elements, nbsql.word('source.nbsql_choice')) }}
{%- endmacro %}

{# The rows of `scored` with the expected cost of every class, nbsql_costs, and the number of the cheapest, nbsql_choice. #}
{% macro with_expected_costs(model, scored, parameters, costs) -%}
{% set cheapest = nbsql.list_place(nbsql.word('nbsql_costs'), nbsql.list_lowest(nbsql.word('nbsql_costs'))) -%}
{% set matrix %}
  {%- for column in costs %}
  {% set row %}{% for cost in column %}{{ nbsql.number(cost) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset +%}
  {{ nbsql.array_of(row) }}{{ nbsql.comma(loop) }}
  {%- endfor +%}
{% endset -%}
{% set rows -%}
{{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) }} AS posteriors
CROSS JOIN (
  SELECT {{ nbsql.array_of(matrix) | indent(2) }} AS nbsql_matrix
) AS matrix
{%- endset -%}
SELECT *, CASE WHEN nbsql_highest > -{{ nbsql.infinity() }} THEN {{ cheapest }} END AS nbsql_choice
FROM {{ nbsql.with_columns(rows, [('nbsql_costs', nbsql.expected_costs(costs))]) }}{{ nbsql.run_once() }}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{# `scored` (predict.sql) with the predictions of least expected cost, for evaluation. #}
{% macro scored_at_cost(model, scored, parameters, costs) -%}
{% set choice = nbsql.word('nbsql_choice') -%}
{% set prediction = nbsql.element(nbsql.word('nbsql_labels'), choice) -%}
{% set probability = nbsql.element(nbsql.word('nbsql_posteriors'), choice) -%}
SELECT
  {{ nbsql.replace_columns(
    model,
    [(nbsql.word('nbsql_prediction'), prediction), (nbsql.word('nbsql_probability'), probability)],
    ['nbsql_matrix', 'nbsql_costs', 'nbsql_choice']
  ) | indent(2) }}
FROM {{ nbsql.subquery(nbsql.with_expected_costs(model, scored, parameters, costs)) }} AS source
{%- endmacro %}

{#
  The average cost of such predictions, over the rows whose class the model knows and that some class explains: cost (actual),
  expected_cost (by the posteriors). If the posteriors are right, both agree except for chance.
#}
{% macro evaluation_costs(model, decided, parameters, weight, as_text) -%}
{% set costs = nbsql.element(nbsql.word('outcomes.matrix'), nbsql.word('outcomes.choice')) -%}
SELECT
  sum(outcomes.weight * {{ nbsql.element(costs, nbsql.word('known.class_no')) }}) / sum(outcomes.weight) AS cost,
  sum(outcomes.weight * outcomes.expected) / sum(outcomes.weight) AS expected_cost
FROM (
  SELECT
    {{ nbsql.true_label(model, as_text) }} AS class,
    {% set size %}{% if weight is none %}1{% else %}source.{{ nbsql.ident(weight) }}{% endif %}{% endset %}
    CAST({{ size }} AS {{ nbsql.double() }}) AS weight,
    source.nbsql_matrix AS matrix,
    source.nbsql_choice AS choice,
    {{ nbsql.element(nbsql.word('source.nbsql_costs'), nbsql.word('source.nbsql_choice')) }} AS expected
  FROM {{ decided }} AS source{{ nbsql.run_once() }}
) AS outcomes
JOIN {{ nbsql.subquery(nbsql.known_classes(model, parameters, as_text)) }} AS known ON known.class = outcomes.class
WHERE outcomes.weight > 0 AND outcomes.choice IS NOT NULL
{%- endmacro %}

{# One row: nbsql_labels, the list of the classes by number. #}
{% macro labels_by_number(model, parameters) -%}
SELECT {{ nbsql.ordered_list(nbsql.word('class'), nbsql.word('class_no')) }} AS nbsql_labels
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
{%- endmacro %}

{# The rows of `scored` with nbsql_posteriors and nbsql_labels, lists by class number. #}
{% macro default__with_posteriors(model, scored, parameters) -%}
SELECT source.*, nbsql_labels, {{ nbsql.posteriors(model) | indent(2) }} AS nbsql_posteriors
FROM {{ scored }} AS source
CROSS JOIN {{ nbsql.subquery(nbsql.labels_by_number(model, parameters)) }} AS labels
{{- nbsql.optimisation_fence() }}
{%- endmacro %}
