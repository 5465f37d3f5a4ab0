{# How well a model did on rows whose class is known: queries on a relation that `predict` scored. #}

{# A row a true class and prediction: class, prediction, n. A row that no class could explain has a NULL prediction. #}
{% macro confusion(scored, target) -%}
SELECT source.{{ nbsql.ident(target) }} AS class, source.prediction AS prediction, count(*) AS n
FROM {{ scored }} AS source
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
GROUP BY source.{{ nbsql.ident(target) }}, source.prediction
{%- endmacro %}

{#
  One row: n, accuracy (the share of rows whose prediction is their class) and majority (the share of the largest class,
  which is the accuracy of always predicting that class, and what a model has to beat).
#}
{% macro accuracy(scored, target) -%}
WITH confusion AS (
  {{ nbsql.confusion(scored, target) | indent(2) }}
),
classes AS (
  SELECT class, sum(n) AS n, sum(CASE WHEN prediction = class THEN n ELSE 0 END) AS hits
  FROM confusion
  GROUP BY class
)
SELECT
  sum(n) AS n,
  CAST(sum(hits) AS {{ nbsql.double() }}) / sum(n) AS accuracy,
  CAST(max(n) AS {{ nbsql.double() }}) / sum(n) AS majority
FROM classes
{%- endmacro %}
