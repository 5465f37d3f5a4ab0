{#
  A number of at least 0 with an exponential density in every class:

    ln p(x | c) = ln r_c - r_c x        r_c = (n + a) / (sum of x + b)

  a and b are the shape and the rate of a Gamma prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data
  Analysis, section 2.6); its mode has a - 1. No mean, sum of x over n, is under 1e-9 of that over all classes, so that a class
  of zeros has a finite density. A class without a value takes the mean over all classes; a column of zeros alone says nothing. A
  negative number is outside the distribution: no class explains it.
#}

{% macro exponential_inputs(feature, centre, careful, centred) -%}
{{ nbsql.input(feature, feature.column, careful=careful or feature.floating) }}
{%- endmacro %}

{% macro exponential_aggregates(model, feature, centre, careful) -%}
{{ nbsql.poisson_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro exponential_cells(feature, column) -%}
{{ nbsql.poisson_cells(feature, column) }}
{%- endmacro %}

{% macro exponential_likelihoods(features) -%}
{% set rate %}1 / nullif(greatest(CASE WHEN n > 0 THEN total / n ELSE pooled_mean END, 1e-9 * pooled_mean), 0){% endset -%}
SELECT
  {{ nbsql.number_likelihood(rate=rate) }}
FROM (
  {{ nbsql.rated(features) | indent(2) }}
) AS evidence
{%- endmacro %}

{% macro exponential_quantities() %}
{{ nbsql.poisson_quantities() }}
{%- endmacro %}

{% macro exponential_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE WHEN {{ x }} >= 0 THEN parameters.log_rate{{ i }} - parameters.rate{{ i }} * {{ x }} WHEN {{ x }} < 0 THEN -{{ nbsql.infinity() }} END, 0)
{%- endmacro %}

{% macro exponential_drawn(feature, seed, position) -%}
-ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }}) / numbers.rate{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro exponential_weights(feature, column, degree) -%}
{% set constant %}log_rate{{ nbsql.sub(feature) }}{% endset -%}
{% set slope %}-rate{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, slope) }}
{%- endmacro %}
