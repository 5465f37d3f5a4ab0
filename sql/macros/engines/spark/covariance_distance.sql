{# Spark's forms of the distances of covariance matrices (covariance_distance.sql): the two compared matrices are structs in one row. #}

{# One row, for two classes by name: structs of covariance, whites, and log_determinant, which is NULL without an inverse. #}
{% macro matrices_of_two_classes(feature, names) -%}
{% set p = feature.columns | length -%}
{% set left %}forall({{ nbsql.index_range(p) }}, j -> matrix[j][j] > 1e-10 AND deviations[j] > 0){% endset -%}
{% set log_determinant %}CASE WHEN {{ left }} THEN {{ nbsql.log_determinant(p) }} END{% endset -%}
SELECT
  {% for name in names %}
  any_value(of_class) FILTER (WHERE class = {{ nbsql.text(name) }}) AS of_{{ nbsql.word(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  SELECT class, struct(covariance, {{ nbsql.whitening(p) }} AS whites, {{ log_determinant }} AS log_determinant) AS of_class
  FROM {{ nbsql.subquery(nbsql.matrices(feature)) | indent(2) }} AS matrices
) AS matrices
{%- endmacro %}

{# The trace of the inverse of one matrix times the other; NULL without an inverse. #}
{% macro spark__trace_of(feature, one, other) -%}
{% set one, other = nbsql.word('of_' ~ one), nbsql.word('of_' ~ other) -%}
{% set up_to %}sequence(0, j){% endset -%}
{% set each %}{{ one }}.whites[j][l] * {{ other }}.covariance[i][l]{% endset -%}
{% set row %}{{ one }}.whites[j][i] * {{ nbsql.sum_over_indexes(up_to, 'l', each) }}{% endset -%}
{% set of_row, indexes = nbsql.sum_over_indexes(up_to, 'i', row), nbsql.index_range(feature.columns | length) -%}
CASE WHEN {{ one }}.log_determinant IS NOT NULL THEN {{ nbsql.sum_over_indexes(indexes, 'j', of_row) }} END
{%- endmacro %}
