{#
  The input of the search for a tree of categories (nbsql/learning/one_dependence.py). One row a counted row: class, n (its weight) and
  for each category its value as the statistics name it, as value_1, value_2, ...
#}
{% macro coded_categories(model, source, features) -%}
SELECT
  {{ nbsql.target(model) }} AS class,
  {{ nbsql.row_weight(model) }} AS n
  {%- for feature in features %},
  {{ nbsql[feature.family.name ~ '_value'](feature, nbsql.word('source')) }} AS value{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}

FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# One row: the number of values of each category. gaps: the numbers of those in which a missing value is a value. #}
{% macro sizes_of_categories(coded, places, gaps) -%}
SELECT
  {% for place in places %}
  {% set value %}value_{{ place }}{% endset %}
  {{ nbsql.count_of_values(value, [place] if place in gaps else []) }} AS size_{{ place }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ coded }} AS coded
{%- endmacro %}

{# The values of a category, one row a value. #}
{% macro values_of_category(coded, place) -%}
SELECT DISTINCT value_{{ place }} AS value
FROM {{ coded }} AS coded
WHERE value_{{ place }} IS NOT NULL
ORDER BY value ASC NULLS LAST
{%- endmacro %}

{#
  One row a pair of categories: a, b, and the increase in the log-likelihood of the rows if the pair is modelled together, within the
  classes: n times I(X; Y | C), over the n rows that have both (dependence.sql).
#}
{% macro information_of_pairs(coded, pairs, gaps) -%}
WITH {{ nbsql.counted_pairs(coded, pairs, nbsql.word('n'), gaps) }}
SELECT a, b, sum(information) AS information
FROM by_class
GROUP BY a, b
{%- endmacro %}
