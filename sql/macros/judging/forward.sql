{#
  Forward selection without a second fit. Naive Bayes is a sum over the features, so the joint log-likelihoods of a row without some
  features are the sum of what the others add. The contribution of each feature to each row, by the model of the other folds, is computed
  once, as its score by that feature alone (folds.sql), and every step is an aggregate over it.

    contributions  row, feature (NULL: the prior), scores: the contributions to each class, in the order of the labels
    standing       row, weight, truth (the place of its class, NULL if the model has none), scores: the sum so far, and loss
#}

{# The rows with a key, by which their parts are joined. #}
{% macro rows_with_keys(folded_rows) -%}
SELECT {{ nbsql.row_id() }} AS nbsql_key, dealt.* FROM {{ folded_rows }} AS dealt
{%- endmacro %}

{#
  The contributions of one feature, or with none of the prior, to the rows. scored: the rows as the models of the other folds score them by
  it alone. A class that the other folds do not have is impossible.
#}
{% macro feature_contributions(model, scored, parameters, classes, feature) -%}
SELECT
  nbsql_key AS row,
  {%+ if feature is none %}CAST(NULL AS {{ nbsql.string() }}){% else %}{{ nbsql.text(feature.name) }}{%+ endif %} AS feature,
  nbsql_joints AS scores
FROM (
  {{ nbsql.out_of_fold(model, scored, parameters, classes, ['nbsql_key']) | indent(2) }}
) AS outcomes
{%- endmacro %}

{# The standing of every row by the prior alone. #}
{% macro scores_of_prior_alone(model, keyed, contributions, classes) -%}
SELECT row, weight, truth, scores, {{ nbsql.row_loss() }} AS loss
FROM (
  SELECT
    contributions.row,
    {{ nbsql.row_weight(model) }} AS weight,
    labels.class_no AS truth,
    contributions.scores
  FROM {{ contributions }} AS contributions
  JOIN {{ keyed }} AS source ON source.nbsql_key = contributions.row
  LEFT JOIN {{ classes }} AS labels ON labels.class = {{ nbsql.target(model) }}
  WHERE contributions.feature IS NULL AND {{ nbsql.is_counted(model) }}
) AS standing
{%- endmacro %}

{# The log loss of a row, from `scores` and `truth`. The posterior is kept away from 0 and 1 as in evaluate.sql. #}
{% macro row_loss() -%}
{% set scores, epsilon = nbsql.word('scores'), nbsql.epsilon() -%}
{% set truth %}{{ nbsql.element(scores, nbsql.word('truth')) }} - {{ nbsql.list_highest(scores) }}{% endset -%}
{% set share %}score - {{ nbsql.list_highest(scores) }}{% endset -%}
-ln(least(greatest(
  CASE WHEN {{ nbsql.list_highest(scores) }} > -{{ nbsql.infinity() }}
    THEN coalesce({{ nbsql.exp(truth) }}, 0) / {{ nbsql.list_total(nbsql.list_mapped(scores, nbsql.exp(share), 'score')) }} ELSE 0 END,
  {{ epsilon }}), 1 - {{ epsilon }}))
{%- endmacro %}

{# The rows of a standing with the sums that they would have with another feature. #}
{% macro with_feature(standing, contributions, condition) -%}
SELECT
  standing.row,
  standing.weight,
  standing.truth,
  contributions.feature,
  {% set sum %}score + coalesce({{ nbsql.element(nbsql.word('contributions.scores'), nbsql.word('place')) }}, 0){% endset %}
  {{ nbsql.list_mapped(nbsql.word('standing.scores'), sum, 'score', 'place') }} AS scores,
  standing.loss AS loss_before
FROM {{ standing }} AS standing
{{ condition }}
{%- endmacro %}

{# The mean log loss so far. #}
{% macro mean_loss(standing) -%}
SELECT sum(weight * loss) / sum(weight) AS loss FROM {{ standing }} AS standing
{%- endmacro %}

{# The change of the mean log loss if each feature were added: feature, change. #}
{% macro changes_of_loss(standing, contributions) -%}
{% set join -%}
JOIN {{ contributions }} AS contributions ON contributions.row = standing.row AND contributions.feature IS NOT NULL
{%- endset -%}
SELECT feature, sum(weight * (loss - loss_before)) / (SELECT sum(weight) FROM {{ standing }} AS standing) AS change
FROM (
  SELECT feature, weight, loss_before, {{ nbsql.row_loss() }} AS loss
  FROM (
    {{ nbsql.with_feature(standing, contributions, join) | indent(4) }}
  ) AS sums
) AS losses
GROUP BY feature
{%- endmacro %}

{# The standing of every row with another feature. #}
{% macro scores_with_feature(standing, contributions, feature) -%}
{% set join -%}
LEFT JOIN {{ contributions }} AS contributions ON contributions.row = standing.row AND contributions.feature = {{ nbsql.text(feature) }}
{%- endset -%}
SELECT row, weight, truth, scores, {{ nbsql.row_loss() }} AS loss
FROM (
  {{ nbsql.with_feature(standing, contributions, join) | indent(2) }}
) AS sums
{%- endmacro %}

{# Drops the contributions of a chosen feature, because the sums now include it. #}
{% macro drop_contributions(contributions, feature) -%}
DELETE FROM {{ contributions }} WHERE feature = {{ nbsql.text(feature) }}
{%- endmacro %}
