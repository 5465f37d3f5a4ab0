{#
  A count of the failures before a success, 0, 1, 2, ..., with a geometric distribution in every class:

    ln p(x | c) = ln q_c + x ln(1 - q_c)        q_c = (n + a) / (n + sum of x + a + b)

  a and b are those of a Beta prior, both 0 for the maximum-likelihood estimate (Gelman et al., Bayesian Data Analysis, section
  2.4); its mode has a - 1 and b - 1. `rate` is q, and `mean` that of the distribution, (1 - q) / q. A class without a value takes
  the mean over all classes. 0 ln 0 is 0. A negative number is outside the distribution: no class explains it.
#}

{% macro geometric_inputs(feature, centre, careful, centred) -%}
{{ nbsql.input(feature, feature.column, careful=careful or feature.floating) }}
{%- endmacro %}

{% macro geometric_aggregates(model, feature, centre, careful) -%}
{{ nbsql.poisson_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro geometric_cells(feature, column) -%}
{{ nbsql.poisson_cells(feature, column) }}
{%- endmacro %}

{% macro geometric_likelihoods(features) -%}
{% set mean %}CASE WHEN n + total > 0 THEN total / nullif(n, 0) ELSE pooled_mean END{% endset -%}
{% set rate %}CASE WHEN n + total > 0 THEN n / (n + total) ELSE 1 / (1 + pooled_mean) END{% endset -%}
SELECT
  {{ nbsql.number_likelihood(mean=mean, rate=rate) }}
FROM (
  {{ nbsql.rated(features) | indent(2) }}
) AS evidence
{%- endmacro %}

{# 1 - q from the mean, because near q = 1 the difference has no digits left. #}
{% macro geometric_quantities() %}
{% set failure %}coalesce(smoothed.mean * smoothed.rate, 1){% endset %}

WHEN 'log_success' THEN {{ nbsql.log(nbsql.word('rate')) }}
WHEN 'log_failure' THEN CASE WHEN smoothed.rate IS NOT NULL THEN {{ nbsql.log(failure) }} END
{%- endmacro %}

{% macro geometric_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE
  WHEN {{ x }} > 0 THEN parameters.success{{ i }} + {{ x }} * parameters.failure{{ i }}
  WHEN {{ x }} = 0 THEN parameters.success{{ i }}
  WHEN {{ x }} < 0 THEN -{{ nbsql.infinity() }}
END, 0)
{%- endmacro %}

{% macro geometric_drawn(feature, seed, position) -%}
{% set rate %}numbers.rate{{ nbsql.sub(feature) }}{% endset -%}
CASE WHEN {{ rate }} < 1 THEN floor(ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }}) / ln(1 - {{ rate }})) WHEN {{ rate }} = 1 THEN 0 END
{%- endmacro %}

{% macro geometric_weights(feature, column, degree) -%}
{% set constant %}success{{ nbsql.sub(feature) }}{% endset -%}
{% set slope %}failure{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, slope) }}
{%- endmacro %}
