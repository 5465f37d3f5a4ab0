{#
  The input of the search for a tree of categories (nbsql/learning/one_dependence.py). One row per counted row: class, n (its weight) and
  for each category its value as the statistics name it, as value_1, value_2, ...
#}
{% macro coded_categories(model, source, features) -%}
SELECT
  {{ nbsql.target(model) }} AS class,
  {{ nbsql.row_weight(model) }} AS n
  {%- for feature in features %},
  {{ nbsql[feature.family.macros.value](feature, nbsql.word('source')) }} AS value{{ nbsql.feature_suffix(feature) }}
  {%- endfor +%}
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{#
  One row per category: place (in the list of numbers, from 1) and size, the number of its values. gaps: the places of those in which a
  missing value is a value. It reads the rows once, as counts of distinct values of each category cost more than all else.
#}
{% macro sizes_of_categories(coded, numbers, gaps) -%}
{% set values -%}
{% for number in numbers %}coded.value_{{ number }}{{ nbsql.binary() }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
SELECT
  place,
  {{ nbsql.count_of_values(nbsql.word('value')) }}
  {%- if gaps %} + max(CASE WHEN value IS NULL AND place IN (
    {%- for gap in gaps %}{{ gap }}{{ nbsql.comma_blank(loop) }}{% endfor %}) THEN 1 ELSE 0 END){% endif %} AS size
FROM (
  SELECT {{ nbsql.unnested_with_places(nbsql.array_of(values), 'place', 'value') }} FROM {{ coded }} AS coded
) AS values_of_rows
GROUP BY place
{%- endmacro %}

{#
  The same rows with a small whole number in place of each class and of each value of the categories `few`, which have few values: to group
  by such numbers takes a fifth of the time. numbers: of all categories; others: further columns.
#}
{% macro numbered_categories(coded, numbers, few, others=['n']) -%}
SELECT
  {% for other in others %}
  {{ nbsql.word(other) }},
  {% endfor %}
  {{ nbsql.place_among_values(coded, nbsql.word('class'), nbsql.word('integer')) }} AS class
  {%- for number in numbers %}{% set value %}value_{{ number }}{% endset %},
  {% if number in few %}{{ nbsql.place_among_values(coded, value, nbsql.word('utinyint')) }} AS {% endif %}{{ value }}
  {%- endfor +%}
FROM {{ coded }} AS coded
{%- endmacro %}

{# The place of the value of a column among its different values, as a number of some type; NULL if it is missing. #}
{% macro place_among_values(coded, name, type) -%}
CAST(list_position({{ nbsql.listed_values(coded, name) }}, {{ nbsql.text_of(name) }}) AS {{ type }})
{%- endmacro %}

{# The list of the different values of a column, as texts in their order. #}
{% macro listed_values(coded, name) -%}
{% set value = nbsql.text_of(name) -%}
(
    SELECT list(DISTINCT {{ value }} ORDER BY {{ value }} ASC NULLS LAST) FROM {{ coded }} AS coded WHERE {{ name }} IS NOT NULL
  )
{%- endmacro %}

{# The values of a category, one row per value. #}
{% macro values_of_category(coded, place) -%}
SELECT DISTINCT value_{{ place }} AS value
FROM {{ coded }} AS coded
WHERE value_{{ place }} IS NOT NULL
ORDER BY value ASC NULLS LAST
{%- endmacro %}

{#
  One row per pair of categories: a, b, and the increase in the log-likelihood of the rows if the pair is modelled together, within the
  classes: n times I(X; Y | C), over the n rows that have both (dependence.sql). few: whether there are few rows; numbered: whether values
  are numbers.
#}
{% macro information_of_pairs(coded, pairs, gaps, few, numbered) -%}
WITH {{ nbsql.counted_pairs(coded, pairs, nbsql.word('n'), gaps, few, numbered) }}
SELECT a, b, sum(information) AS information
FROM by_class
GROUP BY a, b
{%- endmacro %}

{#
  One row per category of `numbers`: number, and n times I(X; C) over the n rows that have a value. gaps: the
  numbers of the categories in which a missing value is a value.
#}
{% macro information_on_class(coded, numbers, gaps) -%}
{% for number in numbers -%}
SELECT {{ number }} AS number, sum(n * ln(n * total / (of_value * of_class))) AS information
FROM (
  SELECT
    n,
    sum(n) OVER () AS total,
    sum(n) OVER (PARTITION BY value_{{ number }}) AS of_value,
    sum(n) OVER (PARTITION BY class) AS of_class
  FROM (
    SELECT class, value_{{ number }}, sum(n) AS n
    FROM {{ coded }} AS coded
    {%- if number not in gaps +%}
    WHERE value_{{ number }} IS NOT NULL
    {%- endif +%}
    GROUP BY class, value_{{ number }}
  ) AS cells
) AS sums
{% if not loop.last %}
UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}
