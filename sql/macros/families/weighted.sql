{#
  A feature as a logistic model scores it (learning/logistic/weights.sql):

    weight_c (x - mean)      mean: over all rows that have x; true is 1, false is 0

  Squared given weights (estimating/given_weights.sql) add square_c (x - mean)^2.

  x may also be the product of two columns. A missing value adds nothing, so it counts as the mean. With nulls='category' it has a weight
  of its own.
#}

{# The number of a row, or the product of two, as a column. #}
{% macro weighted_inputs(feature, centre, careful, centred) -%}
{% if feature.family.product -%}
{% for column in feature.columns -%}
{{ nbsql.finite(nbsql.number_of(column)) }}{% if not loop.last %} * {% endif %}
{%- endfor %}
{%- else -%}
{{ nbsql.weighted_number(feature) }}
{%- endif %} AS nbsql_x{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{# The two numbers of a product, for an explanation. #}
{% macro weighted_value(feature, relation) -%} {{ nbsql.multivariate_gaussian_value(feature, relation) }} {%- endmacro %}

{# The number of a row. The cast is for DuckDB 1.5, which exports the literals of a macro as decimals. #}
{% macro weighted_number(feature) -%}
{% set column %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if feature.family.binary -%}
CAST({{ nbsql.yes_or_no(column, nbsql.number(1), nbsql.number(0)) }} AS {{ nbsql.double() }})
{%- else -%}
{{ nbsql.finite(nbsql.number_of(feature.column)) }}
{%- endif %}
{%- endmacro %}

{% macro weighted_quantities() %}

WHEN 'location' THEN smoothed.mean
{%- endmacro %}

{#
  The weight in class k times the distance of a row's number from the mean; the weight of a missing number if missing is a value, else 0.
#}
{% macro weighted_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% set deviation %}({{ x }} - {{ nbsql.parameter_column(feature, 'mean', k) }}){% endset -%}
coalesce({{ nbsql.parameter_column(feature, 'weight', k) }} * {{ deviation }}
{%- if feature.family.squared %}
{%- set square = nbsql.parameter_column(feature, 'square', k) %}
{%- set size %}abs({{ square }}){% endset %} + sign({{ square }}) * {{ nbsql.weighted_square(size, deviation) }}
{%- endif %}
{%- if feature.family.nulls == 'category' -%}
, CASE WHEN {{ x }} IS NULL THEN {{ nbsql.parameter_column(feature, 'missing', k) }} END
{%- endif %}, 0)
{%- endmacro %}

{# Its weights in a linear form: the constant, that of x, and that of a missing value if it has one. #}
{% macro weighted_weights(feature, column, degree) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set weight %}weight{{ i }}{% endset -%}
{% set square %}{% if feature.family.squared %} + square{{ i }} * mean{{ i }} * mean{{ i }}{% endif %}{% endset -%}
{% set constant %}-weight{{ i }} * mean{{ i }}{{ square }}{% endset -%}
{% set slope %}{{ weight }}{% if feature.family.squared %} - 2 * square{{ i }} * mean{{ i }}{% endif %}{% endset -%}
{{ nbsql.linear_weight(feature, column, constant, '1') }},
{%- if feature.family.product %}
{%- set first, second = nbsql.text(feature.columns[0]), nbsql.text(feature.columns[1]) %}
{{ nbsql.linear_weight(feature, column, weight, 'x y', first, second) }}
{%- else %} {{ nbsql.linear_weight(feature, column, slope) }}
{%- endif %}
{%- if feature.family.squared %}
{%- set curve %}square{{ i }}{% endset -%}
, {{ nbsql.linear_weight(feature, column, curve, 'x^2') }}
{%- endif %}
{%- if feature.family.nulls == 'category' %}
{%- set missing %}coalesce(missing{{ i }}, 0) + coalesce(weight{{ i }} * mean{{ i }}, 0){% endset -%}
, {{ nbsql.linear_weight(feature, column, missing, 'is') }}
{%- endif %}
{%- endmacro %}

{#
  The table `weights` as the likelihoods of some features (likelihoods.sql), which scoring lays out. The relation is dense, with a score
  of 0 where a class has no weights. `unseen` distinguishes the weight of a number, which has a mean, from that of its missing value.
#}
{% macro weights_as_likelihoods(weights, priors, features) -%}
SELECT
  classes.class,
  known.feature,
  known.value,
  known.unseen,
  {{ nbsql.null_columns(['likelihood', 'log_likelihood']) | indent(2) }},
  coalesce(weights.weight, 0) AS score,
  known.mean,
  {{ nbsql.null_columns(['variance', 'rate']) | indent(2) }}
FROM (
  SELECT feature, value, mean IS NOT NULL AS unseen, max(mean) AS mean
  FROM {{ weights }} AS weights
  WHERE feature IN ({{ nbsql.feature_names(features) }})
  GROUP BY feature, value, mean IS NOT NULL
) AS known
JOIN (
  SELECT class FROM {{ priors }} AS priors
) AS classes ON TRUE
LEFT JOIN {{ weights }} AS weights
  ON weights.class = classes.class
  AND weights.feature = known.feature
  AND {{ nbsql.same_value(nbsql.word('weights'), nbsql.word('known')) }}
  AND (weights.mean IS NOT NULL) = known.unseen
{%- endmacro %}
