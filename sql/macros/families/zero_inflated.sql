{#
  A number that is often exactly 0:

    P(x = 0 | c) = z_c = (n_c0 + alpha) / (n_c + 2 alpha)
    p(x | c)     = (1 - z_c) p(x | c, x <> 0)              for any other x

  n_c0 of the n_c rows of a class are 0. z_c is the mean of the posterior of a Beta prior (Gelman et al., Bayesian Data Analysis, section
  2.4); its mode has alpha - 1. p(x | c, x <> 0) is that of the family `formula`, counted and estimated from the numbers that are not 0: a
  model in two parts (Duan, Manning, Morris and Newhouse, Journal of Business and Economic Statistics 1, 1983). A class without a nonzero
  number takes those of all classes, and a class without a value has z = 1/2. If the nonzero numbers never vary, only whether x is 0
  counts.

  A 0 has a probability in every class and any other number a density in every class, so quantities of the same kind are compared.

  There are two cells: one of value "zero", the number of zeros, and one without a value, n, mean and m2 of the other numbers. In the
  likelihoods mean and variance are those of the nonzero numbers (of their logarithms, for lognormal), and rate is z.
#}

{#
  A nonzero number of a row, or its logarithm, less its centre, as a column; a column for whether the number is 0; and in a careful scan
  the centre.
#}
{% macro zero_inflated_inputs(feature, centre, careful, centred) -%}
{% set value = nbsql.number_of(feature.column) -%}
{% set x %}nullif({{ value }}, 0){% endset -%}
{% set is_centred, is_log = centred or centre is not none, feature.family.formula == 'lognormal' -%}
{% set number = nbsql.log_of_input(x, is_centred, careful) if is_log else nbsql.scan_value(x, careful) -%}
{{ nbsql.centred_input(feature, number, centre, centred) }},
CASE WHEN {{ value }} = 0 THEN 1 END AS nbsql_zero{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{# The aggregates of a scan: those of a number, and the number of zeros. #}
{% macro zero_inflated_aggregates(model, feature, centre, careful) -%}
{{ nbsql.gaussian_aggregates(model, feature, centre, careful) }},
  {{ nbsql.weighted_count(model, nbsql.of_feature('nbsql_zero', feature)) }} AS zeros{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{# One column of its two cells. #}
{% macro zero_inflated_cells(feature, column) -%}
{% set n %}zeros{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.gaussian_cells(feature, column) }}, {{ nbsql.summed_cell(feature, column, n, value=nbsql.text('zero')) }}
{%- endmacro %}

{# The value that represents all nonzero numbers together, where values are compared. #}
{% macro nonzero_value() -%} CAST('other' AS {{ nbsql.string() }}){{ nbsql.binary() }} {%- endmacro %}

{# One row per group of the keys: the keys, share_a and share_b, the share of nonzero numbers in the counts of each side. #}
{% macro nonzero_shares(counts, features, keys) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT
  {{ by }}
  {%- for side in ['a', 'b'] %}
  {%- set n = nbsql.word(side) %}
  {%- set total %}sum({{ n }}){% endset %},
  sum(CASE WHEN value = {{ nbsql.nonzero_value() }} THEN {{ n }} ELSE 0 END) / {{ nbsql.null_if_zero(total) }} AS share_{{ n }}
  {%- endfor +%}
FROM {{ counts }} AS counts
WHERE feature IN ({{ nbsql.feature_names(features) }})
GROUP BY {{ by }}
{%- endmacro %}

{# One row per class and feature that the class has: class, feature, share (of zeros among its rows). #}
{% macro zero_shares(statistics, features) -%}
SELECT class, feature, sum(CASE WHEN value = 'zero' THEN n ELSE 0 END) / sum(n) AS share
FROM {{ statistics }} AS statistics
WHERE feature IN ({{ nbsql.feature_names(features) }})
GROUP BY class, feature
HAVING sum(n) > 0
{%- endmacro %}

{# The estimates of a class: rate is the probability of a 0, mean and variance are those of the nonzero numbers. #}
{% macro zero_inflated_estimate(quantity, get, formula) -%}
{% set n %}({{ get('zeros') }} + {{ get('n') }} + 2 * {{ get('added') }}){% endset -%}
{% set least %}1e-9 * {{ get('pooled_mean') }}{% endset -%}
{% set mean = nbsql.largest([nbsql.gaussian_estimate('mean', get), least]) -%}
{% if quantity == 'rate' -%}
CASE WHEN {{ n }} > 0 THEN ({{ get('zeros') }} + {{ get('added') }}) / {{ n }} ELSE 0.5 END
{%- elif formula == 'exponential' -%}
{% if quantity == 'mean' %}{{ mean }}{% else %}power({{ mean }}, 2){% endif %}
{%- else -%}
{{ nbsql[('gaussian' if formula == 'lognormal' else formula) ~ '_estimate'](quantity, get) }}
{%- endif %}
{%- endmacro %}

{# A parameter of the density of a class, or the logarithm of the probability that it is 0, or is not. #}
{% macro zero_inflated_parameter(quantity, get, formula) -%}
{% set rest %}(1 - {{ get('rate') }}){% endset -%}
{% if quantity == 'log_zero' %}{{ nbsql.safe_ln(get('rate')) }}
{%- elif quantity == 'log_other' %}{{ nbsql.safe_ln(rest) }}
{%- elif quantity == 'inverse_rate' %}1 / {{ get('mean') }}
{%- elif quantity == 'inverse_log_rate' %}-ln({{ get('mean') }})
{%- else %}{{ nbsql[('gaussian' if formula == 'lognormal' else formula) ~ '_parameter'](quantity, get) }}
{%- endif %}
{%- endmacro %}

{#
  Its term in class k, from the term of a nonzero number, which counts where is_scored is true; 0 if the number is missing. is_zero: the
  column that tells whether it is 0.
#}
{% macro zero_inflated_term(is_zero, zero, other, term, is_scored) -%}
CASE
  WHEN {{ is_zero }} = 1 THEN {{ zero }}
  WHEN {{ is_scored }} THEN {{ other }} + {{ term | indent(2) }}
  ELSE 0
END
{%- endmacro %}

{# 0, or a number of the other family. #}
{% macro zero_inflated_drawn(feature, seed, position) -%}
{% set i = nbsql.feature_suffix(feature) -%}
CASE WHEN {{ nbsql.uniform(seed, feature.index, 2) }} >= numbers.rate{{ i }} THEN
  {%- if feature.family.formula == 'exponential' %} -ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }}) * numbers.mean{{ i }}
  {%- else %} {{ nbsql[feature.family.formula ~ '_drawn'](feature, seed, position) }}
  {%- endif %} ELSE 0 END
{%- endmacro %}

{# The mean or the variance of the number itself, from those of the nonzero numbers. #}
{% macro zero_inflated_moment(quantity, mean, variance) -%}
{% if quantity == 'mean' %}(1 - rate) * {{ mean }}
{%- else %}(1 - rate) * ({{ variance }} + rate * power({{ mean }}, 2))
{%- endif %}
{%- endmacro %}
