{#
  A number of at least 0 with an exponential density in every class:

    ln p(x | c) = ln r_c - r_c x        r_c = (n + a) / (sum of x + b)

  a and b are the shape and the rate of a Gamma prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data Analysis,
  section 2.6); its mode has a - 1. The mean, sum of x over n, is at least 1e-9 of the mean over all classes, so that a class of zeros has
  a finite density. A class without a value takes the mean over all classes. A column of only zeros adds nothing to a score. A negative
  number is outside the distribution.
#}

{# The rate of a class, or of all classes if it has no value. #}
{% macro exponential_estimate(quantity, get) -%}
{% set n %}({{ get('n') }} + {{ get('a') }}){% endset -%}
{% set mean %}CASE WHEN {{ n }} > 0 THEN {{ nbsql.total_with_prior(get, 'b') }} / {{ n }} ELSE {{ get('pooled_mean') }} END{% endset -%}
{% set least %}1e-9 * {{ get('pooled_mean') }}{% endset -%}
{% if quantity == 'rate' %}1 / nullif({{ nbsql.largest([mean, least]) }}, 0){% endif %}
{%- endmacro %}

{% macro exponential_density(x, get) -%} {{ get('log_rate') }} - {{ get('rate') }} * {{ x }} {%- endmacro %}

{% macro exponential_inside(x) -%} {{ x }} >= 0 {%- endmacro %}

{% macro exponential_drawn(feature, seed, position) -%}
-ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }}) / numbers.rate{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{% macro exponential_weights(feature, column, degree) -%}
{% set slope %}-rate{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, nbsql.of_feature('log_rate', feature), '1') }}, {{ nbsql.linear_weight(feature, column, slope) }}
{%- endmacro %}

{% macro exponential_moment(quantity) -%} {% if quantity == 'mean' %}1 / rate{% else %}1 / (rate * rate){% endif %} {%- endmacro %}
