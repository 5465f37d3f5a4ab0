{#
  The choice of a family for each column, by rows that the model has not seen. Naive Bayes is a sum over the features. So the contribution
  of each candidate to a row, by the model of the other folds, is computed once, and everything after that is arithmetic on it:

    terms     one row a row: nbsql_key, and term_c_k, the contribution of candidate c to the joint log-likelihood of class k
    standing  one row a row: nbsql_key, nbsql_slice (its fold), weight, truth (the number of its class, NULL if its model has none), and
              joint_k, the joint log-likelihoods with the candidates chosen so far
    losses    one row a row: nbsql_key, weight and loss, of a whole setting

  A term is at least -100,000, even an impossible one, because terms are subtracted from sums again; the posterior is 0 either way.
#}
{% macro least_term() -%} {{ nbsql.number(-100000.0) }} {%- endmacro %}

{#
  The facts that determine the candidates of a column. One row: for each column n, distinct, least, largest, broken (of a number: how many
  are not whole; of a text: how many have several words) and zeros (how many are 0), and finally the number of rows.
#}
{% macro column_facts(model, source, numbers, texts) -%}
SELECT
  {% for column in numbers %}
  {% set x = nbsql.number_of(column) %}
  {% set finite = nbsql.finite(x) %}
  {{ nbsql.count_and_distinct(finite, loop.index) | indent(2) }},
  min({{ finite }}) AS least_{{ loop.index }},
  max({{ finite }}) AS largest_{{ loop.index }},
  count(CASE WHEN {{ nbsql.breaks_whole(column) }} THEN 1 END) AS broken_{{ loop.index }},
  count(CASE WHEN {{ x }} = 0 THEN 1 END) AS zeros_{{ loop.index }},
  {% endfor %}
  {% for column in texts %}
  {% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){% endset %}
  {{ nbsql.count_and_distinct(x, nbsql.word('text_' ~ loop.index)) | indent(2) }},
  0 AS least_text_{{ loop.index }},
  0 AS largest_text_{{ loop.index }},
  count(CASE WHEN trim({{ x }}) LIKE '% %' THEN 1 END) AS broken_text_{{ loop.index }},
  0 AS zeros_text_{{ loop.index }},
  {% endfor %}
  count(*) AS rows
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# The columns n and distinct of a column: how many values and how many distinct values it has. #}
{% macro count_and_distinct(x, ending) -%}
count({{ x }}) AS n_{{ ending }},
count(DISTINCT {{ x }}) AS distinct_{{ ending }}
{%- endmacro %}

{#
  A sample of `share` in a million rows, always the same ones, chosen by a hash of their columns. kinds: the kind of each column, by name.
#}
{% macro sampled_share(source, columns, kinds, share) -%}
{% set values = nbsql.values_to_hash(columns, kinds) -%}
SELECT source.* FROM {{ source }} AS source WHERE {{ nbsql.mixed_hash(values) }} % 1000000 < {{ share }}
{%- endmacro %}

{#
  The terms of some candidates, each of which is a feature here: the relation and the terms of a score (scoring/score.sql), before they
  are summed.
#}
{% macro terms_of_candidates(model, rows, parameters, lookups) -%}
{% set inputs = model.features | selectattr('family.has_parameter_term') | list -%}
{% set inputs = inputs + model.star_categories | selectattr('family.parameters') | list -%}
{% set relation %}{% if model.has_row_numbers %}numbered{% else %}{{ rows }}{% endif %}{% endset -%}
{% if model.has_row_numbers -%}
WITH {{ nbsql.numbered_source(model, rows, parameters, lookups) }}
{%- for feature in model.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model, feature, lookups, parameters) }}
{%- endfor %}

{% endif -%}
SELECT
  number.nbsql_key
  {%- for feature in model.features %}
  {%- for k in model.class_numbers %},
  greatest({{ nbsql.term(feature, k) | indent(2) }}, {{ nbsql.least_term() }}) AS {{ nbsql.candidate_term(feature.index) }}_{{ k }}
  {%- endfor %}
  {%- endfor %}

FROM {{ nbsql.with_terms(model, relation, inputs, parameters, lookups) }}
{%- endmacro %}

{# The terms of some candidates beside those of others, for the same rows. #}
{% macro joined_terms(terms, others) -%}
SELECT * FROM {{ terms }} AS terms JOIN {{ others }} AS others USING (nbsql_key)
{%- endmacro %}

{# The name of the columns of a candidate's terms. #}
{% macro candidate_term(number) -%} term_{{ number }} {%- endmacro %}

{# The contribution of a candidate to class k. Candidate 0 leaves the column out. #}
{% macro added_term(number, k) -%}
{% if number %}terms.{{ nbsql.candidate_term(number) }}_{{ k }}{% else %}0{% endif %}
{%- endmacro %}

{# The standing of every row with some candidates added and some removed. #}
{% macro scores_with_candidates(standing, terms, added, removed, classes) -%}
SELECT
  standing.nbsql_key,
  standing.nbsql_slice,
  standing.weight,
  standing.truth
  {%- for k in range(1, classes + 1) %},
  standing.joint_{{ k }}
    {%- for number in added %} + {{ nbsql.added_term(number, k) }}{% endfor %}
    {%- for number in removed %} - {{ nbsql.added_term(number, k) }}{% endfor %} AS joint_{{ k }}
  {%- endfor %}

FROM {{ standing }} AS standing
JOIN {{ terms }} AS terms ON terms.nbsql_key = standing.nbsql_key
{%- endmacro %}

{#
  The loss if each of some candidates of a column took the place of the chosen one. One row: weight, rows, and for each candidate the sum
  of the losses, of the gains over the first candidate, and of the squared gains, by row.

  chosen: the number of the candidate that the sums of the standing include, 0 for none. temperature: the divisor of the sums.
#}
{% macro losses_of_candidates(standing, terms, chosen, candidates, classes, temperature) -%}
SELECT
  sum(weight) AS weight,
  count(*) AS rows
  {%- for number in candidates %}
  {%- set gain %}loss_{{ candidates[0] }} - loss_{{ number }}{% endset %},
  sum(weight * loss_{{ number }}) AS losses_{{ number }},
  sum(weight * ({{ gain }})) AS gains_{{ number }},
  sum(weight * ({{ gain }}) * ({{ gain }})) AS squares_{{ number }}
  {%- endfor %}

FROM (
  SELECT
    weight
    {%- for number in candidates %},
    {{ nbsql.loss_of_joints(nbsql.word('joint_' ~ number), classes, temperature) | indent(4) }} AS loss_{{ number }}
    {%- endfor %}

  FROM (
    SELECT
      joints.*
      {%- for number in candidates %},
      {{ nbsql.highest_of_joints(nbsql.word('joint_' ~ number), classes) | indent(6) }}
      {%- endfor %}

    FROM (
      SELECT
        standing.weight,
        standing.truth
        {%- for number in candidates %}
        {%- for k in range(1, classes + 1) %},
        {% set change %} - {{ nbsql.added_term(chosen, k) }} + {{ nbsql.added_term(number, k) }}{% endset %}
        standing.joint_{{ k }}{% if number != chosen %}{{ change }}{% endif %} AS joint_{{ number }}_{{ k }}
        {%- endfor %}
        {%- endfor %}

      FROM {{ standing }} AS standing
      JOIN {{ terms }} AS terms ON terms.nbsql_key = standing.nbsql_key
      {{- nbsql.optimisation_fence() | indent(6) }}
    ) AS joints
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS joints
) AS losses
{%- endmacro %}

{# From the columns <joint>_k: <joint>_highest, and <joint>_truth, that of the true class. #}
{% macro highest_of_joints(joint, classes) -%}
greatest(
  {%- for k in range(1, classes + 1) %}{{ joint }}_{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor -%}
) AS {{ joint }}_highest,
CASE truth{% for k in range(1, classes + 1) %} WHEN {{ k }} THEN {{ joint }}_{{ k }}{% endfor %} END AS {{ joint }}_truth
{%- endmacro %}

{#
  The log loss of a row, from the columns <joint>_k and those of highest_of_joints: -ln of the posterior of the true class, which is kept
  away from 0 and 1 as in evaluate.sql. A class that the model of the other folds does not have is NULL, and its posterior 0; greatest and
  least pass over a NULL. temperature: an expression.
#}
{% macro loss_of_joints(joint, classes, temperature) -%}
least(greatest(coalesce(
  ln(
    {%- for k in range(1, classes + 1) -%}
    {% set power %}({{ joint }}_{{ k }} - {{ joint }}_highest) / {{ temperature }}{% endset -%}
    {{ nbsql.exp(power) }}{% if not loop.last %} + {% endif %}
    {%- endfor -%}
  )
    + ({{ joint }}_highest - {{ joint }}_truth) / {{ temperature }},
  -ln({{ nbsql.epsilon() }})), -ln(1 - {{ nbsql.epsilon() }})), -ln({{ nbsql.epsilon() }}))
{%- endmacro %}

{# The rows of a standing with joint_highest and joint_truth. #}
{% macro highest_scores(standing, classes) -%}
(
  SELECT
    standing.*,
    {{ nbsql.highest_of_joints(nbsql.word('joint'), classes) | indent(4) }}
  FROM {{ standing }} AS standing
  {{- nbsql.optimisation_fence() | indent(2) }}
)
{%- endmacro %}

{# The sums of the losses at each of some temperatures, one row a fold: fold, weight, loss_1, loss_2, ... #}
{% macro losses_of_temperatures(standing, temperatures, classes) -%}
SELECT
  CAST(nbsql_slice AS {{ nbsql.string() }}){{ nbsql.binary() }} AS fold,
  sum(weight) AS weight
  {%- for temperature in temperatures %},
  sum(weight * {{ nbsql.loss_of_joints(nbsql.word('joint'), classes, nbsql.number(temperature)) | indent(2) }}) AS loss_{{ loop.index }}
  {%- endfor %}

FROM {{ nbsql.highest_scores(standing, classes) }} AS standing
GROUP BY nbsql_slice
{%- endmacro %}

{# The loss of each row at the temperature of its fold: nbsql_key, weight, loss. temperatures: pairs of a fold and a number. #}
{% macro losses_of_rows(standing, temperatures, classes) -%}
SELECT nbsql_key, weight, {{ nbsql.loss_of_joints(nbsql.word('joint'), classes, nbsql.word('temperature')) }} AS loss
FROM (
  SELECT standing.*, temperatures.temperature
  FROM {{ nbsql.highest_scores(standing, classes) | indent(2) }} AS standing
  JOIN (
    VALUES
      {% for fold, temperature in temperatures %}
      ({{ nbsql.text(fold) }}, {{ nbsql.number(temperature) }}){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS temperatures(fold, temperature) ON temperatures.fold = CAST(standing.nbsql_slice AS {{ nbsql.string() }}){{ nbsql.binary() }}
) AS standing
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
  {%- endfor %}

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
  The results that were tried, the best setting first, or column by column. rows: tuples in the order of the columns; texts: the numbers
  of the columns of text.
#}
{% macro ranked_rows(rows, columns, texts) -%}
SELECT {% for column in columns %}{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}

FROM (
  VALUES
    {% for row in rows %}
    ({{ loop.index }}{% for value in row %}, {{ nbsql.ranked_value(value, loop.index0 in texts) }}{% endfor %}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS ranked(place{% for column in columns %}, {{ nbsql.word(column) }}{% endfor %})
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
