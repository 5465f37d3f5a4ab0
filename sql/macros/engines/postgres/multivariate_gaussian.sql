{#
  PostgreSQL's forms for numbers with a covariance matrix: a matrix is a two-dimensional array, whose rows cannot be selected, and a
  number beyond the range of a double, or below it, is an error.
#}

{# A number so near 0 that its product would fall below the range of a double counts as 0. A product with NULL is NULL. #}
{% macro postgres__product(a, b, careful=false) -%}
{% if careful -%}
CASE WHEN abs({{ a }}) <= 1e-140 OR abs({{ b }}) <= 1e-140 THEN 0 ELSE {{ a }} * {{ b }} END
{%- else -%}
{{ a }} * {{ b }}
{%- endif %}
{%- endmacro %}

{# One row per class and elimination step of its correlations beside the unit matrix: class, k, matrix. #}
{% macro postgres__elimination_matrices(p) -%}
{% set share %}matrix[i][k] / nullif(matrix[k][k], 0){% endset -%}
{% set ahead %}matrix[k][j]{% endset -%}
SELECT
  class,
  1 AS k,
  array_agg(
    correlations || ARRAY(
      SELECT CASE WHEN j = i THEN float8 '1' ELSE float8 '0' END FROM generate_series(1, {{ p }}) AS j ORDER BY j ASC NULLS LAST
    )
    ORDER BY i ASC NULLS LAST
  ) AS matrix
FROM correlations
GROUP BY class
UNION ALL
SELECT
  class,
  k + 1,
  ARRAY(
    SELECT
      ARRAY(
        SELECT
          CASE
            WHEN i <= k OR matrix[i][k] = 0 THEN matrix[i][j]
            ELSE matrix[i][j] - {{ nbsql.product(share, ahead, true) }}
          END
        FROM generate_series(1, {{ 2 * p }}) AS j
        ORDER BY j ASC NULLS LAST
      )
    FROM generate_series(1, {{ p }}) AS i
    ORDER BY i ASC NULLS LAST
  )
FROM eliminated
WHERE k < {{ p }}
{%- endmacro %}
