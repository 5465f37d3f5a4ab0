{#
  Spark's forms for numbers with a covariance matrix: matrices are arrays of arrays (covariance.sql), and the estimates of a class are in
  one row.
#}

{#
  One row per class and column or pair of columns of such a feature, and one row for the constant that a class adds to every score: the
  columns of likelihoods (likelihoods.sql).
#}
{% macro spark__multivariate_gaussian_likelihoods(features) -%}
{% for feature in features -%}
{% set p = feature.columns | length -%}
{% set i, j = nbsql.word('i'), nbsql.word('j') -%}
{% set value %}pair_values[{{ nbsql.pair_place(p, i, j) }}]{% endset -%}
{% set column %}pair_values[{{ nbsql.pair_place(p, i, i) }}]{% endset -%}
{% set log_peak %}-0.5 * ({{ p }} * ln({{ nbsql.number(6.283185307179586) }}) + {{ nbsql.log_determinant(p) }}){% endset -%}
{% set from_middle %}whites[place][other] * (means[other] - middle[other]){% endset -%}
{% set before %}sequence(0, place){% endset -%}
{% set projected %}transform({{ nbsql.index_range(p) }}, place -> {{ nbsql.sum_over_indexes(before, 'other', from_middle) }}){% endset -%}
{% set slope %}whites[place][i] * projected[place]{% endset -%}
SELECT
  class,
  {{ nbsql.text(feature.name) }} AS feature,
  value,
  unseen,
  {{ nbsql.null_columns(['likelihood', 'log_likelihood']) | indent(2) }},
  score,
  mean,
  variance,
  CAST(NULL AS {{ nbsql.double() }}) AS rate
FROM {{ nbsql.subquery(nbsql.matrices(feature)) }} AS matrices
{{ nbsql.lateral_step([('whites', nbsql.whitening(p)), ('log_peak', log_peak), ('pair_values', nbsql.pair_values(feature))]) }}
{% if feature.family.shared %}
{{ nbsql.lateral_step([('projected', projected)]) }}
{% endif %}
LATERAL VIEW inline(concat(
  flatten(transform({{ nbsql.index_range(p) }}, i -> transform(sequence(i, {{ p - 1 }}), j -> struct(
    {{ value }} AS value,
    FALSE AS unseen,
    whites[j][i] AS score,
    CASE WHEN i = j THEN means[i] END AS mean,
    covariance[i][j] AS variance
  )))),
  array(struct(
    CAST(NULL AS {{ nbsql.string() }}) AS value,
    TRUE AS unseen,
    log_peak{% if feature.family.shared %} - 0.5 * {{ nbsql.sum_of_squares(nbsql.word('projected')) }}{% endif %} AS score,
    {{ nbsql.null_columns(['mean', 'variance']) | indent(4) }}
  ))
  {%- if feature.family.shared %},
  {% set below %}sequence(i, {{ p - 1 }}){% endset %}
  transform({{ nbsql.index_range(p) }}, i -> struct(
    {{ column }} AS value,
    TRUE AS unseen,
    {{ nbsql.sum_of_present(below, slope) }} AS score,
    middle[i] AS mean,
    CAST(NULL AS {{ nbsql.double() }}) AS variance
  ))
  {%- endif +%}
)) step AS value, unseen, score, mean, variance
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{# The numbers of a row as the text of a list, for an explanation. #}
{% macro spark__multivariate_gaussian_value(feature, relation) -%}
concat('[', array_join(array(
{%- for column in feature.columns -%}
CAST(CAST({{ relation }}.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}) AS {{ nbsql.string() }}){{ nbsql.comma_blank(loop) }}
{%- endfor %}), ', ', 'NULL'), ']')
{%- endmacro %}

{# One row per class: class, the means, and the Cholesky factor of its covariance matrix, row by row (sample_vectors.sql). #}
{% macro spark__cholesky_factors(feature) -%}
{% set p = feature.columns | length -%}
{% set numbers %}mean, variance{% endset -%}
{% set first %}least(i, j){% endset -%}
{% set last %}greatest(i, j){% endset -%}
{% set element %}cells[{{ nbsql.pair_place(p, first, last) }}].variance{% endset -%}
factor{{ nbsql.feature_suffix(feature) }} AS (
  SELECT
    class
    {%- for j in range(p) %},
    cells[{{ nbsql.pair_place(p, j, j) }}].mean AS mean{{ nbsql.feature_suffix(feature, j + 1) }}
    {%- for k in range(j + 1) %},
    deviations[{{ j }}] * matrix[{{ k }}][{{ j }}] / sqrt(nullif(matrix[{{ k }}][{{ k }}], 0))
      AS lower{{ nbsql.feature_suffix(feature, j * (j + 1) // 2 + k + 1) }}
    {%- endfor %}
    {%- endfor +%}
  FROM (
    SELECT class, {{ nbsql.cells_in_order(feature, numbers) | indent(4) }} AS cells
    FROM likelihoods
    WHERE feature = {{ nbsql.text(feature.name) }}
    GROUP BY class
  ) AS cells
  {{ nbsql.lateral_step([('covariance', nbsql.square_matrix(p, element))]) | indent(2) }}
  {{ nbsql.elimination_steps(p) | indent(2) }}
)
{%- endmacro %}
