{#
  The gain of pairs of columns on the residuals of a weighted model (weighted.sql), by which Lou, Caruana, Gehrke and Hooker rank them
  (Accurate intelligible models with pairwise interactions, KDD 2013). A row has for each class the residual r = [y = c] - P(c | x), by the
  weights and the counts of the other folds. The mean residual of the cell of two values, shrunk to 0, corrects the rows of a fold by those
  of the other folds, and the gain is what that takes from the sum of the squared residuals:

    gain  =  sum over cells, folds and classes of 2 m R - m^2 n        m = R_others / (n_others + 5)

  R is the sum of the residuals of the cell in the fold, by weight, and n the weight of its rows. The variance of the gain is the sum of the
  squares of what each row adds, 2 m r - m^2 for each class; of two classes the residuals are opposite, so that twice its sum over the
  classes is that of their sum, and of more classes two of the residuals of a row are most of it.
#}

{# One row per scored row: fold, weight, r_1, r_2, ..., times the weight, and value_3, the value or bin of the third feature, as text. #}
{% macro residuals_of_rows(rows, scores, features, classes) -%}
SELECT
  scores.nbsql_slice AS fold,
  scores.weight
  {%- for k in range(1, classes + 1) %},
  {% set distance %}scores.joint_{{ k }} - scores.highest{% endset %}
  scores.weight * (CASE WHEN scores.truth = {{ k }} THEN 1 ELSE 0 END - {{ nbsql.exp(distance) }} / scores.mass) AS r_{{ k }}
  {%- endfor %}
  {%- for feature in features %},
  {{ nbsql[feature.family.macros.value](feature, nbsql.word('source')) }} AS value{{ nbsql.feature_suffix(feature) }}
  {%- endfor +%}
FROM {{ rows }} AS source
JOIN (
  SELECT
    scores.*,
    {% for k in range(1, classes + 1) %}
    {% set distance %}scores.joint_{{ k }} - scores.highest{% endset %}
    {{ nbsql.exp(distance) }}{% if loop.last %} AS mass{% else %} +{% endif +%}
    {% endfor %}
  FROM (
    SELECT
      scores.*, greatest({% for k in range(1, classes + 1) %}scores.joint_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}) AS highest
    FROM {{ scores }} AS scores
  ) AS scores
) AS scores ON scores.nbsql_key = source.nbsql_row
{%- endmacro %}

{# One row per pair of columns: a, b, gain, error, its standard error. `coded` has the residuals of the rows; few: whether there are few. #}
{% macro gains_of_pairs(coded, pairs, classes, few) -%}
{% set sums %}sum(weight){% for k in range(1, classes + 1) %}, sum(r_{{ k }}), sum(r_{{ k }} * r_{{ k }} / weight){% endfor %}{% endset -%}
{% set n = nbsql.list_of(sums, nbsql.double()) -%}
WITH cells AS {{ nbsql.subquery(nbsql.cells_of_pairs(coded, pairs, n, ['fold'], few=few)) }},
sums AS (
  SELECT
    a,
    b,
    {% set own = nbsql.element(nbsql.word('n'), 1) %}
    {{ own }} AS n,
    {% for k in range(1, classes + 1) %}
    {% set r = nbsql.element(nbsql.word('n'), 2 * k) %}
    {{ r }} AS r_{{ k }},
    {{ nbsql.element(nbsql.word('n'), 2 * k + 1) }} AS q_{{ k }},
    (sum({{ r }}) OVER cell - {{ r }}) / (sum({{ own }}) OVER cell - {{ own }} + 5) AS m_{{ k }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM cells
  WINDOW cell AS (PARTITION BY a, b, x, y)
)
SELECT
  a,
  b,
  sum(
    {% for k in range(1, classes + 1) %}
    2 * m_{{ k }} * r_{{ k }} - m_{{ k }} * m_{{ k }} * n{% if not loop.last %} +{% endif +%}
    {% endfor %}
  ) AS gain,
  sqrt(2 * greatest(0, sum(
    {% for k in range(1, classes + 1) %}
    {% set m %}m_{{ k }}{% endset %}
    {{ m }} * {{ m }} * (4 * q_{{ k }} - 4 * {{ m }} * r_{{ k }} + {{ m }} * {{ m }} * n){% if not loop.last %} +{% endif +%}
    {% endfor %}
  ))) AS error
FROM sums
GROUP BY a, b
{%- endmacro %}

{# The cells of a model, and those of further features of the same rows. #}
{% macro all_cells(cells, others) -%}
SELECT * FROM {{ cells }} AS cells
UNION ALL
SELECT * FROM {{ others }} AS others WHERE feature IS NOT NULL
{%- endmacro %}
