{#
  Several numbers with a covariance matrix, drawn: x = m + L z, with independent z of mean 0 and variance 1 and S = L L', the Cholesky
  factor of the class's covariances (Gentle, Random Number Generation and Monte Carlo Methods, 2003, section 5.3).
#}

{# One row per class and column or pair of columns of such a feature: label, as text, value, mean, covariance. #}
{% macro covariances_to_factor(likelihoods, feature) -%}
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS label, value, mean, variance AS covariance
FROM {{ likelihoods }} AS likelihoods
WHERE feature = {{ nbsql.text(feature.name) }}
{%- endmacro %}

{# The numbers that sampling reads of a feature, one row per class: label, mean_3_1, ... of its columns, lower_3_1, ... of L row by row. #}
{% macro cholesky_factors(feature, rows) -%}
{% set p, names = feature.columns | length, namespace(found=['label']) -%}
{% for name, count in [('mean', p), ('lower', p * (p + 1) // 2)] -%}
{% for j in range(1, count + 1) %}{% set names.found = names.found + [name ~ nbsql.feature_suffix(feature, j)] %}{% endfor -%}
{% endfor -%}
factor{{ nbsql.feature_suffix(feature) }} AS (
  SELECT * FROM {% call(row, _) nbsql.constants(rows, 'factors', names.found, 2) -%}
{{ nbsql.text(row[0]) }}{% for number in row[1] %}, {{ nbsql.number_or_null(number) }}{% endfor %}
{%- endcall +%}
)
{%- endmacro %}

{# Column `position`, from 0, of m + L z. #}
{% macro multivariate_gaussian_drawn(feature, seed, position) -%}
{% set factor %}factor{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% set j = position + 1 -%}
{{ factor }}.mean{{ nbsql.feature_suffix(feature, j) }}
{%- for k in range(1, j + 1) %} + {{ factor }}.lower{{ nbsql.feature_suffix(feature, j * (j - 1) // 2 + k) }} * drawn.z
{{- nbsql.feature_suffix(feature, k) }}
{%- endfor %}
{%- endmacro %}
