{# Edges at quantiles (families/binned_edges.sql), which DuckDB selects without a sort of the numbers. #}

{#
  The smallest value that i / bins of the rows do not exceed is that of rank i rows / bins, rounded up: a hair less, so that a product of
  doubles which should be a whole number is not above it. Rows with weights, and edges of equal width, have the general macro.
#}
{% macro duckdb__binned_edges(model, source, features) -%}
{% set bins = features[0].family.bins -%}
{% if features[0].family.by == 'width' or model.spec.weight -%}
{{ nbsql.default__binned_edges(model, source, features) }}
{%- else -%}
{% set fractions %}{% for i in range(1, bins) %}{{ nbsql.number(i / bins - 1e-12) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT
  feature,
  least
  {%- for i in range(1, bins) %},
  edges[{{ i }}] AS edge_{{ i }}
  {%- endfor +%}
FROM (
  SELECT feature, min(x) AS least, quantile_disc(x, [{{ fractions }}]) AS edges
  FROM {{ nbsql.subquery(nbsql.numbers_of_features(model, source, features)) | indent(2) }} AS numbers
  WHERE x IS NOT NULL
  GROUP BY feature
) AS quantiles
{%- endif %}
{%- endmacro %}
