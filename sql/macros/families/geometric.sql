{#
  A count of the failures before a success, 0, 1, 2, ..., with a geometric distribution in every class:

    ln p(x | c) = ln q_c + x ln(1 - q_c)        q_c = (n + a) / (n + sum of x + a + b)

  a and b are those of a Beta prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data Analysis, section 2.4); its
  mode has a - 1 and b - 1. `rate` is q, and `mean` that of the distribution, (1 - q) / q. A class without a value takes the mean over all
  classes. 0 ln 0 is 0. A negative number is outside the distribution.
#}

{# The mean or the rate q of a class, or of all classes if it has no value. #}
{% macro geometric_estimate(quantity, get) -%}
{% set n %}({{ get('n') }} + {{ get('a') }}){% endset -%}
{% set sum %}({{ n }} + {{ nbsql.total_with_prior(get, 'b') }}){% endset -%}
{% if quantity == 'mean' -%}
CASE WHEN {{ sum }} > 0 THEN {{ nbsql.total_with_prior(get, 'b') }} / nullif({{ n }}, 0) ELSE {{ get('pooled_mean') }} END
{%- elif quantity == 'rate' -%}
CASE WHEN {{ sum }} > 0 THEN {{ n }} / {{ sum }} ELSE 1 / (1 + {{ get('pooled_mean') }}) END
{%- endif %}
{%- endmacro %}

{# The parameters, with 1 - q from the mean, because near q = 1 the difference has no digits left. #}
{% macro geometric_parameter(quantity, get) -%}
{% set failure %}coalesce({{ get('mean') }} * {{ get('rate') }}, 1){% endset -%}
{% if quantity == 'log_success' %}{{ nbsql.safe_ln(get('rate')) }}
{%- elif quantity == 'log_failure' %}CASE WHEN {{ get('rate') }} IS NOT NULL THEN {{ nbsql.safe_ln(failure) }} END
{%- endif %}
{%- endmacro %}

{% macro geometric_density(x, get) -%} {{ get('success') }} + {{ x }} * {{ get('failure') }} {%- endmacro %}

{% macro geometric_at_zero(get) -%} {{ get('success') }} {%- endmacro %}

{% macro geometric_inside(x) -%} {{ x }} >= 0 {%- endmacro %}

{% macro geometric_drawn(feature, seed, position) -%}
{% set rate %}numbers.rate{{ nbsql.feature_suffix(feature) }}{% endset -%}
CASE WHEN {{ rate }} < 1 THEN floor(ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }}) / ln(1 - {{ rate }})) WHEN {{ rate }} = 1 THEN 0 END
{%- endmacro %}

{% macro geometric_weights(feature, column, degree) -%}
{% set slope %}failure{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, nbsql.of_feature('success', feature), '1') }}, {{ nbsql.linear_weight(feature, column, slope) }}
{%- endmacro %}

{% macro geometric_moment(quantity) -%} {% if quantity == 'mean' %}mean{% else %}mean * (1 + mean){% endif %} {%- endmacro %}
