{#
  The weights of a weighted model (learning/weighted.sql) in the tables that scoring reads:

    score of a class  =  ln P(c) + offset of c + sum over the features of w_cf ln p(x_f | c)

  A parameter is multiplied by the weight of its feature, so that scoring, explanations and all else that reads these tables stay as they
  are. The relation of the weights has one row per class and feature: class, feature, value (NULL), weight, mean (NULL); the row without a
  feature holds the offset of the class.
#}

{#
  The likelihoods whose scores are laid out. Centred, the score of a value is ln p(x | c) - ln p(x), where p(x) is the sum over the classes
  of P(c) p(x | c), so that a missing value, which adds 0, speaks for no class whatever their weights.
#}
{% macro scored_likelihoods(model, statistics, priors, features) -%}
{% if model.options.centred -%}
SELECT
  likelihoods.class,
  likelihoods.feature,
  likelihoods.value,
  likelihoods.unseen,
  likelihoods.likelihood,
  likelihoods.log_likelihood,
  likelihoods.score - ln(sum(priors.prior * {{ nbsql.exp(nbsql.word('likelihoods.score')) }}) OVER (
    PARTITION BY likelihoods.feature, likelihoods.value, likelihoods.unseen
  )) AS score,
  likelihoods.mean,
  likelihoods.variance,
  likelihoods.rate
FROM {{ nbsql.subquery(nbsql.smoothed_likelihoods(model, statistics, priors, features)) }} AS likelihoods
JOIN {{ priors }} AS priors ON priors.class = likelihoods.class
{%- else -%}
{{ nbsql.smoothed_likelihoods(model, statistics, priors, features) }}
{%- endif %}
{%- endmacro %}

{# The priors with the offsets of the classes, as a relation; of a linear model their biases are in the place of the log-priors. #}
{% macro priors_with_offsets(priors, weights, is_linear=false) -%}
(
  SELECT priors.class, priors.n, priors.prior, {% if not is_linear %}priors.log_prior + {% endif %}coalesce(weights.weight, 0) AS log_prior
  FROM {{ priors }} AS priors
  LEFT JOIN {{ weights }} AS weights ON weights.class = priors.class AND weights.feature IS NULL
)
{%- endmacro %}

{#
  One row per class and feature, from the relation `classes`: class_no, feature, weight. A class that the weights were not learnt with has
  the mean weight of the others.
#}
{% macro weights_by_class(weights) -%}
SELECT classes.class_no, known.feature, coalesce(own.weight, known.weight) AS weight
FROM classes
CROSS JOIN (
  SELECT feature, avg(weight) AS weight FROM {{ weights }} AS weights WHERE feature IS NOT NULL GROUP BY feature
) AS known
LEFT JOIN {{ weights }} AS own ON own.class = classes.class AND own.feature = known.feature
{%- endmacro %}

{#
  The parameters times their weights: class_no, position, number. What is impossible stays so, and a place, such as a mean, as it is. A
  matrix is squared in the score; one that all classes share adds the same to each.
#}
{% macro numbers_with_weights(model) -%}
SELECT
  numbers.class_no,
  numbers.position,
  CASE
    {% for item in model.form.column_parameters if item.parameter.neutral is none %}
    WHEN numbers.position = {{ item.position }} THEN numbers.number
    {% endfor %}
    WHEN numbers.number = -{{ nbsql.infinity() }} THEN numbers.number
    {% for item in model.form.column_parameters if item.parameter.paired %}
    WHEN numbers.position = {{ item.position }}
      THEN {% if not item.parameter.common %}sqrt(weights.weight) * {% endif %}numbers.number
    {% endfor %}
    {% for item in model.form.column_parameters if item.parameter.neutral %}
    {% set neutral = nbsql.number(item.parameter.neutral) %}
    WHEN numbers.position = {{ item.position }} THEN {{ neutral }} + weights.weight * (numbers.number - {{ neutral }})
    {% endfor %}
    ELSE weights.weight * numbers.number
  END AS number
FROM numbers_without_weights AS numbers
JOIN wanted ON wanted.position = numbers.position
LEFT JOIN weights ON weights.class_no = numbers.class_no AND weights.feature = wanted.feature
{%- endmacro %}

{# The lookups times the weights of their features. #}
{% macro weighted_lookups(model, lookups, priors) -%}
{% set class_no, weight = nbsql.word('weights.class_no'), nbsql.word('weights.weight') -%}
WITH classes AS {{ nbsql.subquery(nbsql.classes(priors)) }},
weights AS {{ nbsql.subquery(nbsql.weights_by_class(model.options.weights)) }}
SELECT
  lookups.feature,
  lookups.value,
  {% if model.facts.features | selectattr('family.tfidf') | list %}
  lookups.idf,
  {% endif %}
  {% for k in model.form.class_numbers %}
  {% set score %}lookups.class_{{ k }}{% endset %}
  {{ nbsql.weighted_score(score, nbsql.word('weights.class_' ~ k)) }} AS class_{{ k }}{{ nbsql.comma(loop) }}
  {% else %}
  {% set score = nbsql.weighted_score(nbsql.element(nbsql.word('lookups.scores'), nbsql.word('number')),
    nbsql.element(nbsql.word('weights.scores'), nbsql.word('number'))) %}
  {{ nbsql.list_mapped(nbsql.word('weights.numbers'), score, 'number') }} AS scores
  {% endfor %}
FROM {{ nbsql.subquery(lookups) }} AS lookups
JOIN (
  SELECT
    weights.feature,
    {% if not model.form.class_numbers %}
    {{ nbsql.ordered_list(class_no, class_no) }} AS numbers,
    {% endif %}
    {{ nbsql.scores_by_class(model, weight, class_no) | indent(2) }}
  FROM weights
  GROUP BY weights.feature
) AS weights ON weights.feature = lookups.feature
{%- endmacro %}

{# A score times its weight; what is impossible stays so. #}
{% macro weighted_score(score, weight) -%}
CASE WHEN {{ score }} > -{{ nbsql.infinity() }} THEN {{ score }} * {{ weight }} ELSE {{ score }} END
{%- endmacro %}

{# One row per feature: feature, and its least and its largest weight in a class. #}
{% macro weights_of_features(weights) -%}
SELECT feature, min(weight) AS least, max(weight) AS most FROM {{ weights }} AS weights WHERE feature IS NOT NULL GROUP BY feature
{%- endmacro %}
