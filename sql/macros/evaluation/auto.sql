{#
  The choice of a family for each column, by rows that the model has not seen. Naive Bayes is a sum over the features. So the contribution
  of each candidate to a row, by the model of the other folds, is computed once, and everything after that is arithmetic on it:

    terms     one row per row and column: nbsql_key, feature (the number of the column), and term_k, the list of 0 and the contributions
              of the column's candidates to the joint log-likelihood of class k
    standing  one row per row: nbsql_key, nbsql_slice (its fold), weight, truth (the number of its class, NULL if its model has none), and
              joint_k, the joint log-likelihoods with the candidates chosen so far
    losses    one row per row: nbsql_key, weight and loss, of a whole setting

  A candidate is known by its place in the lists of its column, from 1; place 0 leaves the column out. So one short statement judges every
  candidate of every column, however many there are.

  A term is at least -100,000, even an impossible one, because terms are subtracted from sums again; the posterior is 0 either way.
#}
{% macro least_term() -%} {{ nbsql.number(-100000.0) }} {%- endmacro %}

{# The term of class k at a place of a column's candidates; 0 at place 0. #}
{% macro term_at(k, place) -%}
{% set terms %}terms.term_{{ k }}{% endset -%}
{% set position %}{{ place }} + 1{% endset -%}
{{ nbsql.element(terms, position) }}
{%- endmacro %}

{# The chosen candidates, from pairs of the numbers of a column and of a place: feature, chosen. #}
{% macro chosen_places(columns) -%}
{% call(pair, _) nbsql.constants(columns, 'tried', ['feature', 'chosen']) %}{{ pair[0] }}, {{ pair[1] }}{% endcall %}
{%- endmacro %}

{#
  The standing of every row after some columns have changed their candidates. changes: tuples of the number of a column, and the places of
  the candidate that was and that is chosen.
#}
{% macro scores_with_candidates(standing, terms, changes, classes) -%}
SELECT
  standing.nbsql_key,
  standing.nbsql_slice,
  standing.weight,
  standing.truth
  {%- for k in range(1, classes + 1) %},
  standing.joint_{{ k }} + changes.change_{{ k }} AS joint_{{ k }}
  {%- endfor +%}
FROM {{ standing }} AS standing
JOIN (
  SELECT
    terms.nbsql_key
    {%- for k in range(1, classes + 1) %},
    sum({{ nbsql.term_at(k, nbsql.word('changed.after')) }} - {{ nbsql.term_at(k, nbsql.word('changed.before')) }}) AS change_{{ k }}
    {%- endfor +%}
  FROM {{ terms }} AS terms
  JOIN {% call(change, _) nbsql.constants(changes, 'changed', ['feature', 'before', 'after'], 2) -%}
{{ change[0] }}, {{ change[1] }}, {{ change[2] }}
{%- endcall %} ON changed.feature = terms.feature
  GROUP BY terms.nbsql_key
) AS changes ON changes.nbsql_key = standing.nbsql_key
{%- endmacro %}

{#
  The loss if each candidate of some columns took the place of the chosen one. One row per column and candidate: feature, place, weight,
  rows, and the sums of the losses, of the gains over the first candidate, and of the squared gains, by row.

  columns: pairs of the number of a column and the place of the candidate that the standing includes. temperature: the divisor of the sums.
#}
{% macro losses_of_candidates(standing, terms, columns, classes, temperature) -%}
{# what is left of the scores without the chosen candidate, and with the first one in its place #}
{% set rests -%}
(
  SELECT
    terms.feature,
    standing.weight,
    standing.truth
    {%- for k in range(1, classes + 1) %},
    {% set rest %}standing.joint_{{ k }} - {{ nbsql.term_at(k, nbsql.word('tried.chosen')) }}{% endset %}
    {{ rest }} AS rest_{{ k }},
    {{ rest }} + {{ nbsql.term_at(k, 1) }} AS joint_{{ k }},
    terms.term_{{ k }} AS terms_{{ k }}
    {%- endfor +%}
  FROM {{ terms }} AS terms
  JOIN {{ nbsql.chosen_places(columns) | indent(2) }} ON tried.feature = terms.feature
  JOIN {{ standing }} AS standing ON standing.nbsql_key = terms.nbsql_key
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS rests
{%- endset -%}
{% set places = nbsql.list_of_whole_numbers(0, nbsql.list_size(nbsql.word('terms_1'))) -%}
{% set lists = namespace(all=[places], names=['place']) -%}
{% for k in range(1, classes + 1) -%}
{% set lists.all = lists.all + [nbsql.word('terms_' ~ k)] -%}
{% set lists.names = lists.names + ['term_' ~ k] -%}
{% endfor -%}
{% set candidates -%}
(
  SELECT
    feature,
    weight,
    truth,
    first_loss,
    {% for k in range(1, classes + 1) %}
    rest_{{ k }},
    {% endfor %}
    {{ nbsql.unnested(lists.all, lists.names) | indent(4) }}
  FROM {{ nbsql.with_loss(rests, classes, temperature, 'first_loss') | indent(2) }}
) AS candidates
{%- endset -%}
{% set joints -%}
(
  SELECT
    feature,
    place,
    weight,
    truth,
    first_loss
    {%- for k in range(1, classes + 1) %},
    rest_{{ k }} + term_{{ k }} AS joint_{{ k }}
    {%- endfor +%}
  FROM {{ candidates | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS joints
{%- endset -%}
SELECT
  feature,
  place,
  sum(weight) AS weight,
  count(*) AS rows,
  sum(weight * loss) AS losses,
  sum(weight * (first_loss - loss)) AS gains,
  sum(weight * (first_loss - loss) * (first_loss - loss)) AS squares
FROM {{ nbsql.with_loss(joints, classes, temperature) }}
GROUP BY feature, place
{%- endmacro %}

{# The relation of rows with joint_1, joint_2, ... and truth, the number of the true class, with their log loss. #}
{% macro with_loss(rows, classes, temperature, name='loss') -%}
{{ nbsql.with_columns(nbsql.with_highest_joint(rows, classes), [(name, nbsql.loss_of_joints(classes, temperature))]) }}
{%- endmacro %}

{# The same with joint_highest, and joint_truth, that of the true class. #}
{% macro with_highest_joint(rows, classes) -%}
{% set joints %}{% for k in range(1, classes + 1) %}joint_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set highest %}greatest({{ joints }}){% endset -%}
{% set of_truth %}CASE truth{% for k in range(1, classes + 1) %} WHEN {{ k }} THEN joint_{{ k }}{% endfor %} END{% endset -%}
{{ nbsql.with_columns(rows, [('joint_highest', highest), ('joint_truth', of_truth)], 'standing') }}
{%- endmacro %}

{#
  The log loss of a row, from the columns of with_highest_joint: -ln of the posterior of the true class, which is kept away from 0 and 1
  as in evaluate.sql. A class that the model of the other folds does not have is NULL, and its posterior 0; greatest and least pass over a
  NULL. temperature: an expression.
#}
{% macro loss_of_joints(classes, temperature) -%}
least(greatest(coalesce(
  ln(
    {%- for k in range(1, classes + 1) -%}
    {% set power %}(joint_{{ k }} - joint_highest) / {{ temperature }}{% endset -%}
    {{ nbsql.exp(power) }}{% if not loop.last %} + {% endif %}
    {%- endfor -%}
  )
    + (joint_highest - joint_truth) / {{ temperature }},
  -ln({{ nbsql.epsilon() }})), -ln(1 - {{ nbsql.epsilon() }})), -ln({{ nbsql.epsilon() }}))
{%- endmacro %}

{# The sums of the losses at each of some temperatures, one row per fold and temperature: fold, temperature, weight, loss. #}
{% macro losses_of_temperatures(standing, temperatures, classes) -%}
{% set rows %}{{ standing }} AS standing{% endset -%}
{% set tried %}{% call(temperature) nbsql.array_of_each(temperatures) %}{{ nbsql.number(temperature) }}{% endcall %}{% endset -%}
SELECT
  CAST(nbsql_slice AS {{ nbsql.string() }}){{ nbsql.binary() }} AS fold,
  temperature,
  sum(weight) AS weight,
  sum(weight * {{ nbsql.loss_of_joints(classes, nbsql.word('temperature')) | indent(2) }}) AS loss
FROM (
  SELECT
    *,
    {{ nbsql.unnested([tried], ['temperature']) | indent(4) }}
  FROM {{ nbsql.with_highest_joint(rows, classes) | indent(2) }}
) AS tried
GROUP BY nbsql_slice, temperature
{%- endmacro %}

{# The loss of each row at the temperature of its fold: nbsql_key, weight, loss. temperatures: pairs of a fold and a number. #}
{% macro losses_of_rows(standing, temperatures, classes) -%}
{% set rows -%}
{{ standing }} AS standing
JOIN {% call(pair, _) nbsql.constants(temperatures, 'temperatures', ['fold', 'temperature']) -%}
{{ nbsql.text(pair[0]) }}, {{ nbsql.number(pair[1]) }}
{%- endcall %} ON temperatures.fold = CAST(standing.nbsql_slice AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endset -%}
SELECT nbsql_key, weight, loss FROM {{ nbsql.with_loss(rows, classes, nbsql.word('temperature')) }}
{%- endmacro %}

{#
  The standing of every row by the prior alone, or by another method, as the models of the other folds score it (predict.sql): the columns
  of a standing.
#}
{% macro scores_of_models(model, scored, parameters, classes) -%}
SELECT
  source.nbsql_key,
  source.nbsql_slice,
  {{ nbsql.row_weight(model) }} AS weight,
  numbered.class_no AS truth
  {%- for k in range(1, classes + 1) %},
  {% set joint = nbsql.joint(model, k) %}
  greatest(coalesce({{ joint }}, {{ nbsql.least_term() }}), {{ nbsql.least_term() }}) AS joint_{{ k }}
  {%- endfor +%}
FROM {{ scored }} AS source
LEFT JOIN (
  {{ nbsql.classes_of_folds(model, parameters) | indent(2) }}
) AS numbered ON numbered.nbsql_slice = source.nbsql_slice AND numbered.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# The gain of one setting over another, by row. One row: weight, rows, and the sums of the losses, the gains and the squared gains. #}
{% macro compared_losses(losses, others) -%}
SELECT
  sum(losses.weight) AS weight,
  count(*) AS rows,
  sum(losses.weight * losses.loss) AS losses,
  sum(losses.weight * (others.loss - losses.loss)) AS gains,
  sum(losses.weight * (others.loss - losses.loss) * (others.loss - losses.loss)) AS squares
FROM {{ losses }} AS losses
JOIN {{ others }} AS others ON others.nbsql_key = losses.nbsql_key
{%- endmacro %}

{#
  The settings that were tried, by `auto` or in a sweep, the best first, or column by column. rows: tuples in the order of the columns;
  texts: the numbers of the columns of text.
#}
{% macro ranked_rows(rows, columns, texts) -%}
SELECT {% for column in columns %}{{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
FROM {% call(row, place) nbsql.constants(rows, 'ranked', ['place'] + columns | list) -%}
{{ place }}{% for value in row %}, {{ nbsql.ranked_value(value, loop.index0 in texts) }}{% endfor %}
{%- endcall +%}
ORDER BY place ASC NULLS LAST
{%- endmacro %}

{# A value of a ranking, as a literal. #}
{% macro ranked_value(value, is_text) -%}
{% if is_text %}{{ nbsql.text(value) }}
{%- elif value is sameas true %}TRUE
{%- elif value is sameas false %}FALSE
{%- elif value is integer %}{{ value }}
{%- else %}{{ nbsql.number_or_null(value) }}
{%- endif %}
{%- endmacro %}
