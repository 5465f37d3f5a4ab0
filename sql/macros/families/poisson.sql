{#
  A count with a Poisson distribution in every class:

    ln p(x | c) = x ln r_c - r_c - ln x!        r_c = (sum of x + a) / (n + b)

  a and b are the shape and the rate of a Gamma prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data
  Analysis, section 2.6); its mode has a - 1. A class without a value takes the rate over all classes. 0 ln 0 is 0. A negative
  number is outside the distribution: no class explains it.
#}

{% macro poisson_inputs(feature, centre, careful, centred) -%}
{{ nbsql.input(feature, feature.column, careful=careful or feature.floating) }}
{%- endmacro %}

{% macro poisson_aggregates(model, feature, centre, careful) -%}
{% set x %}nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
,
  {{ nbsql.tally(model, x) }} AS n{{ nbsql.sub(feature) }},
  {{ nbsql.total(model, x) }} AS sum{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro poisson_cells(feature, column) -%}
{% set n %}n{{ nbsql.sub(feature) }}{% endset -%}
{% set total %}sum{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, centre=0, total=total) }}
{%- endmacro %}

{% macro poisson_likelihoods(features) -%}
{% set rate %}CASE WHEN n > 0 THEN total / n ELSE pooled_mean END{% endset -%}
SELECT
  {{ nbsql.number_likelihood(rate=rate) }}
FROM (
  {{ nbsql.rated(features, of_total=true) | indent(2) }}
) AS evidence
{%- endmacro %}

{% macro poisson_quantities() %}

WHEN 'rate' THEN smoothed.rate
WHEN 'log_rate' THEN {{ nbsql.log(nbsql.word('rate')) }}
{%- endmacro %}

{% macro poisson_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE
  WHEN {{ x }} > 0 THEN {{ x }} * parameters.log_rate{{ i }} - parameters.rate{{ i }} - {{ nbsql.log_factorial_of(feature) }}
  WHEN {{ x }} = 0 THEN -parameters.rate{{ i }}
  WHEN {{ x }} < 0 THEN -{{ nbsql.infinity() }}
END, 0)
{%- endmacro %}

{% macro poisson_drawn(feature, seed, position) -%}
count{{ nbsql.sub(feature) }}.value
{%- endmacro %}

{% macro poisson_weights(feature, column, degree) -%}
{% set constant %}-rate{{ nbsql.sub(feature) }}{% endset -%}
{% set slope %}log_rate{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, slope) }}
{%- endmacro %}
