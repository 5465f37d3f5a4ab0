{# Spark's form of given probabilities: its collecting aggregates ignore NULL. #}

{# One row per feature: feature, kinds (of its rows; NULL is one), levels (its values; NULL is one if it is given). #}
{% macro spark__given_features(given) -%}
{% set nothing %}CAST(array() AS ARRAY<{{ nbsql.string() }}>){% endset -%}
{% set null %}array(CAST(NULL AS {{ nbsql.string() }})){% endset -%}
SELECT
  feature,
  concat(collect_set(kind), CASE WHEN count(kind) < count(*) THEN {{ null }} ELSE {{ nothing }} END) AS kinds,
  concat(collect_set(value), CASE WHEN bool_or(value IS NULL AND kind = 'values') THEN {{ null }} ELSE {{ nothing }} END) AS levels
{{ nbsql.from_given_kinds(given) }}
{%- endmacro %}
