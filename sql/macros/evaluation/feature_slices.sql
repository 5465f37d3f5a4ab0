{#
  Where a model is worst: the values of its features as slices, one row each: feature, slice (the value as text; NULL if it is missing),
  n, accuracy, low, high (intervals.sql), of_all (the accuracy over all rows). The slices that are most certainly worse come first.
  features: their names, in the order of nbsql_by_1, ... in `judged`; least: the minimum number of rows of a slice.
#}
{% macro feature_slices(judged, features, least) -%}
{% set names %}{% call(name) nbsql.array_of_each(features) %}{{ nbsql.text(name) }}{% endcall %}{% endset -%}
{% set values -%}
{% call(number) nbsql.array_of_each(range(1, features | length + 1)) -%}
{% set column %}nbsql_by_{{ number }}{% endset %}{{ nbsql.as_text_if(column, true) }}
{%- endcall %}
{%- endset -%}
WITH {{ judged }},
shares AS (
  SELECT
    feature AS nbsql_by_1, slice AS nbsql_by_2, NULL AS class, 'accuracy' AS metric, 1 AS position,
    sum(CASE WHEN is_right = 1 THEN weight ELSE 0 END) AS hits, sum(weight) AS n
  FROM (
    SELECT
      weight,
      CASE WHEN prediction = class THEN 1 ELSE 0 END AS is_right,
      {{ nbsql.unnested([names, values], ['feature', 'slice']) | indent(6) }}
    FROM judged
  ) AS values_of_features
  GROUP BY feature, slice
),
numbers AS {{ nbsql.subquery(nbsql.numbers_of_shares(2)) }},
{{ nbsql.interval_bounds() }}
SELECT
  nbsql_by_1 AS feature, nbsql_by_2 AS slice, of_rows AS n, value AS accuracy, low, high,
  (SELECT sum(CASE WHEN prediction = class THEN weight ELSE 0 END) / sum(weight) FROM judged) AS of_all
FROM bounded
WHERE of_rows >= {{ least }}
ORDER BY {{ nbsql.sort_key(nbsql.word('high'), 12) }} ASC NULLS LAST, nbsql_by_1 ASC NULLS LAST, nbsql_by_2 ASC NULLS LAST
{%- endmacro %}
