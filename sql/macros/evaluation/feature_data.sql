{#
  What was counted of each feature, one row per feature:

    feature
    n         the rows, or their weight, in which it has a value; of a text its words
    levels    the number of its distinct values; NULL for numbers
    missing   the share of the rows in which it has none; NULL for a text, whose words are counted instead of rows
#}
{% macro feature_data(statistics, priors, features) -%}
{% set texts, nested = features | selectattr('family.bag') | list, features | selectattr('family.parent') | list -%}
{# A value without those of parents. #}
{% set own %}{% if nested %}CASE WHEN feature IN ({{ nbsql.feature_names(nested) }}) THEN {{
  nbsql.json_element(nbsql.word('value'), 0) }}{{ nbsql.binary() }} ELSE value END{% else %}value{% endif %}{% endset -%}
SELECT
  counted.feature,
  counted.n,
  counted.levels,
  {{ nbsql.missing_share(nbsql.word('counted'), nbsql.word('learnt'), texts) }} AS missing
FROM (
  SELECT feature, sum(n) AS n, CASE WHEN max(mean) IS NULL THEN count(DISTINCT {{ own }}) END AS levels
  FROM {{ statistics }} AS statistics
  WHERE feature IN ({{ nbsql.feature_names(features) }}) AND ({{ own }} IS NOT NULL OR mean IS NOT NULL)
  GROUP BY feature
) AS counted
JOIN (
  SELECT sum(n) AS n FROM {{ priors }} AS priors
) AS learnt ON TRUE
ORDER BY missing DESC NULLS LAST, counted.feature ASC NULLS LAST
{%- endmacro %}

{# The share of the learnt rows in which a feature has no value; NULL for those whose occurrences are counted instead of rows. #}
{% macro missing_share(feature, learnt, occurring) -%}
{% set share %}greatest(1 - {{ feature }}.n / {{ learnt }}.n, 0){% endset -%}
{% if occurring %}CASE WHEN {{ feature }}.feature NOT IN ({{ nbsql.feature_names(occurring) }}) THEN {{ share }} END
{%- else %}{{ share }}{% endif %}
{%- endmacro %}
