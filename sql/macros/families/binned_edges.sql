{# What a fit in Python does with bins: their edges from the data, and numbers of a bin, drawn at random or its middle. #}

{#
  One row per feature that has a value: the index of the feature, the smallest value, and the edges between the bins. All features have the
  same options.

    width     least + i (largest - least) / bins
    quantile  the smallest value that i / bins of the rows, or of their weight, do not exceed
#}
{% macro default__binned_edges(model, source, features) -%}
{% set bins = features[0].family.bins -%}
{% set by_width = features[0].family.by == 'width' -%}
SELECT
  feature,
  min(x) AS least
  {%- for i in range(1, bins) %},
  {% if by_width %}
  min(x) + {{ i }} * (max(x) - min(x)) / {{ bins }} AS edge_{{ i }}
  {%- else %}
  min(CASE WHEN up_to * {{ bins }} >= everything * {{ i }} THEN x END) AS edge_{{ i }}
  {%- endif %}
  {%- endfor +%}
FROM (
  SELECT
    feature,
    x
    {%- if not by_width %},
    sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS up_to,
    sum(n) OVER (PARTITION BY feature) AS everything
    {%- endif +%}
  FROM {{ nbsql.subquery(nbsql.weighted_numbers(model, source, features)) | indent(2) }} AS numbers
) AS cumulated
GROUP BY feature
{%- endmacro %}

{# One row per feature and number that occurs: feature (its index), x, and n, its weight. #}
{% macro weighted_numbers(model, source, features) -%}
SELECT feature, x, sum(weight) AS n
FROM {{ nbsql.subquery(nbsql.numbers_of_features(model, source, features)) }} AS numbers
WHERE x IS NOT NULL
GROUP BY feature, x
{%- endmacro %}

{# One row per row and feature of one number: class, weight, feature (its index) and x, NULL if it is missing, or a special code. #}
{% macro numbers_of_features(model, source, features) -%}
{% set numbers %}{% call(feature) nbsql.values_of_features(model, source, features) %}{{ nbsql.uncoded(feature) }}{% endcall %}{% endset -%}
SELECT class, weight, feature, {{ nbsql.finite(nbsql.word('x')) }} AS x
FROM {{ nbsql.subquery(numbers) }} AS numbers
{%- endmacro %}

{# The number of a feature; NULL if it is missing, or a special code, which is no number to cut. #}
{% macro uncoded(feature) -%}
{% set codes = feature.family.special | default([]) -%}
{% for _ in codes %}nullif({% endfor -%}
{{ nbsql.number_of(feature.column) }}
{%- for code in codes %}, {{ nbsql.number(code) }}){% endfor -%}
{%- endmacro %}

{# A number drawn uniformly from the drawn bin; NULL if there is one bin only, which has no ends. #}
{% macro binned_drawn(feature, seed, position) -%}
{% if not feature.family.edges %}{{ nbsql.nullable_double(none) }}{% else -%}
{% set u %}{{ nbsql.uniform(seed, feature.index, 1) }}{% endset -%}
{% set number -%}
CASE drawn.value{{ nbsql.feature_suffix(feature) }}
{%- for label, low, high in feature.family.spans %}
{%- set drawn %}{{ nbsql.number(low) }} + {{ nbsql.number(high - low) }} * {{ u }}{% endset %} WHEN {{ nbsql.text(label) }} THEN {{ drawn }}
{%- endfor %} END
{%- endset -%}
{% if feature.whole %}floor({{ number }}){% else %}{{ number }}{% endif %}
{%- endif %}
{%- endmacro %}

{# The middle of the row's most likely bin; if the numbers are whole, a whole number (impute.sql). #}
{% macro binned_middle(feature) -%}
CASE drawn.value{{ nbsql.feature_suffix(feature) }}
{%- for label, low, high in feature.family.spans %}
{%- set middle = nbsql.number((low + high) / 2) %} WHEN {{ nbsql.text(label) }} THEN
{%- if feature.whole %} greatest(floor({{ middle }}), ceil({{ nbsql.number(low) }})){% else %} {{ middle }}{% endif %}
{%- endfor %} END
{%- endmacro %}
