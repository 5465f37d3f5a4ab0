{#
  A feature as a logistic model scores it (logistic/weights.sql):

    weight_c (x - mean)      mean: over all rows that have x; yes is 1, no is 0

  so that a missing value, which adds nothing, counts as the mean. With nulls='category' it has a weight of its own.
#}

{% macro weighted_inputs(feature, centre, careful, centred) -%}
{{ nbsql.weighted_number(feature) }} AS nbsql_x{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro weighted_number(feature) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
{% if feature.family.binary %}CASE WHEN {{ x }} IN (0, 1) THEN {{ x }} END{% else %}{{ nbsql.finite(x) }}{% endif %}
{%- endmacro %}

{% macro weighted_quantities() %}

WHEN 'location' THEN smoothed.mean
{%- endmacro %}

{% macro weighted_term(feature, k, part=none) -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(parameters.weight{{ i }} * (number.nbsql_x{{ nbsql.sub(feature) }} - parameters.mean{{ i }})
{%- if feature.family.nulls == 'category' %}, CASE WHEN number.nbsql_x{{ nbsql.sub(feature) }} IS NULL THEN parameters.missing{{ i }} END{% endif %}, 0)
{%- endmacro %}

{% macro weighted_weights(feature, column, degree) -%}
{% set i = nbsql.sub(feature) -%}
{% set weight %}weight{{ i }}{% endset -%}
{% set constant %}-weight{{ i }} * mean{{ i }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, weight) }}
{%- if feature.family.nulls == 'category' %}
{%- set missing %}coalesce(missing{{ i }}, 0) + coalesce(weight{{ i }} * mean{{ i }}, 0){% endset -%}
, {{ nbsql.weight_of(feature, column, missing, 'is') }}
{%- endif %}
{%- endmacro %}

{#
  The table `weights` as the likelihoods of some features (likelihoods.sql), which scoring lays out: dense, with a score of 0 where a
  class has no weights. The weight of a number, which has a mean, is told from that of its missing value by `unseen`.
#}
{% macro weights_as_likelihoods(weights, priors, features) -%}
SELECT
  classes.class,
  known.feature,
  known.value,
  known.unseen,
  CAST(NULL AS {{ nbsql.double() }}) AS likelihood,
  CAST(NULL AS {{ nbsql.double() }}) AS log_likelihood,
  coalesce(weights.weight, 0) AS score,
  known.mean,
  CAST(NULL AS {{ nbsql.double() }}) AS variance,
  CAST(NULL AS {{ nbsql.double() }}) AS rate
FROM (
  SELECT feature, value, mean IS NOT NULL AS unseen, max(mean) AS mean
  FROM {{ weights }} AS weights
  WHERE feature IN ({{ nbsql.names(features) }})
  GROUP BY feature, value, mean IS NOT NULL
) AS known
CROSS JOIN (
  SELECT class FROM {{ priors }} AS priors
) AS classes
LEFT JOIN {{ weights }} AS weights
  ON weights.class = classes.class
  AND weights.feature = known.feature
  AND weights.value IS NOT DISTINCT FROM known.value
  AND (weights.mean IS NOT NULL) = known.unseen
{%- endmacro %}

{# The priors with the bias of every class where the logarithm of its prior stands. #}
{% macro biased(priors, weights) -%}
(
  SELECT priors.class, priors.prior, coalesce(weights.weight, 0) AS log_prior
  FROM {{ priors }} AS priors
  LEFT JOIN {{ weights }} AS weights ON weights.class = priors.class AND weights.feature IS NULL
)
{%- endmacro %}
