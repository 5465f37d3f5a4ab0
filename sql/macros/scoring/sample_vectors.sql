{#
  Several numbers with a covariance matrix, drawn: x = m + L z, with independent z of mean 0 and variance 1 and S = L L', the Cholesky
  factor of the class's covariances (Gentle, Random Number Generation and Monte Carlo Methods, 2003, section 5.3).

  With the correlations R = C D C', which elimination leaves as [D C', C^-1] (covariance.sql), row j of L is that of C D^1/2 times the
  standard deviation of column j.
#}

{# The numbers that sampling reads of a feature, one row per class: class, mean_3_1, ... of its columns, lower_3_1, ... of L row by row. #}
{% macro cholesky_factors(feature) -%}
{% set p = feature.columns | length -%}
factor{{ nbsql.feature_suffix(feature) }} AS MATERIALIZED (
  WITH RECURSIVE pairs AS MATERIALIZED {{ nbsql.subquery(nbsql.column_pairs(feature)) | indent(2) }},
  entries AS MATERIALIZED (
    SELECT likelihoods.class, pairs.i, pairs.j, likelihoods.mean, likelihoods.variance AS covariance
    FROM likelihoods
    JOIN pairs ON pairs.value = likelihoods.value
    WHERE likelihoods.feature = {{ nbsql.text(feature.name) }}
  ),
  covariances AS (
    SELECT class, i, j, covariance FROM entries
  ),
  {{ nbsql.elimination(p) | indent(2) }}
  SELECT
    whitened.class
    {%- for j in range(1, p + 1) %},
    centres.means[{{ j }}] AS mean{{ nbsql.feature_suffix(feature, j) }}
    {%- for k in range(1, j + 1) %},
    whitened.deviations[{{ j }}] * whitened.matrix[{{ k }}][{{ j }}] / sqrt(whitened.matrix[{{ k }}][{{ k }}])
      AS lower{{ nbsql.feature_suffix(feature, j * (j - 1) // 2 + k) }}
    {%- endfor %}
    {%- endfor +%}
  FROM whitened
  JOIN (
    SELECT class, {{ nbsql.ordered_list(nbsql.word('mean'), nbsql.word('i')) }} AS means FROM entries WHERE i = j GROUP BY class
  ) AS centres ON centres.class = whitened.class
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
