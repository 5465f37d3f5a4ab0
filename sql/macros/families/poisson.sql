{#
  A count with a Poisson distribution in every class:

    ln p(x | c) = x ln r_c - r_c - ln x!        r_c = (sum of x + a) / (n + b)

  a and b are the shape and the rate of a Gamma prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data Analysis,
  section 2.6); its mode has a - 1. A class without a value takes the rate over all classes. 0 ln 0 is 0. A negative number is outside the
  distribution.
#}

{% macro poisson_inputs(feature, centre, careful, centred) -%}
{{ nbsql.number_input(feature, feature.column, careful=careful or feature.floating) }}
{%- endmacro %}

{# The aggregates of a scan: n and the sum of a count. #}
{% macro poisson_aggregates(model, feature, centre, careful) -%}
{% set x %}nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
,
  {{ nbsql.weighted_count(model, x) }} AS n{{ nbsql.feature_suffix(feature) }},
  {{ nbsql.class_total(model, x) }} AS sum{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{% macro poisson_cells(feature, column) -%}
{% set total %}sum{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, nbsql.of_feature('n', feature), centre=0, total=total) }}
{%- endmacro %}

{# The rate of a class, or of all classes if it has no value. #}
{% macro poisson_estimate(quantity, get) -%}
{% set n %}({{ get('n') }} + {{ get('b') }}){% endset -%}
{% if quantity == 'rate' -%}
CASE WHEN {{ n }} > 0 THEN {{ nbsql.total_with_prior(get, 'a') }} / {{ n }} ELSE {{ get('pooled_mean') }} END
{%- endif %}
{%- endmacro %}

{% macro poisson_parameter(quantity, get) -%}
{% if quantity == 'rate' %}{{ get('rate') }}{% elif quantity == 'log_rate' %}{{ nbsql.safe_ln(get('rate')) }}{% endif %}
{%- endmacro %}

{% macro poisson_density(x, get) -%} {{ x }} * {{ get('log_rate') }} - {{ get('rate') }} {%- endmacro %}

{% macro poisson_at_zero(get) -%} -{{ get('rate') }} {%- endmacro %}

{% macro poisson_inside(x) -%} {{ x }} >= 0 {%- endmacro %}

{% macro poisson_base(x, feature) -%}
{% if feature is none %}{{ nbsql.stirling(x) }}{% else %}{{ nbsql.log_factorial_of(feature) }}{% endif %}
{%- endmacro %}

{% macro poisson_drawn(feature, seed, position) -%} count{{ nbsql.feature_suffix(feature) }}.value {%- endmacro %}

{% macro poisson_weights(feature, column, degree) -%}
{% set constant %}-rate{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, constant, '1') }}, {{ nbsql.linear_weight(feature, column, nbsql.of_feature('log_rate', feature)) }}
{%- endmacro %}

{% macro poisson_moment(quantity) -%} rate {%- endmacro %}
