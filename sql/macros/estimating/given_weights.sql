{#
  Models of given weights (nbsql/library/from_weights.py). Their table `weights` has the form of that of logistic regression
  (learning/logistic/weights.sql), and scoring reads it in the same way.
#}

{#
  One row per weight of a relation: label, feature, value, times, weight, mean. A number is named by its column, and the product of two
  numbers by the JSON list of both.
#}
{% macro given_weights_of(relation, columns) -%}
{% set is_number %}source.times IN ('x', 'x^2', 'x y'){% endset -%}
{% set name -%}
coalesce(
    CASE WHEN {{ is_number }} THEN CAST(source.value AS {{ nbsql.string() }}) END,
    CAST(source.feature AS {{ nbsql.string() }})
  )
{%- endset -%}
{% set other %}{% if 'other' in columns %}source.other{% else %}NULL{% endif %}{% endset -%}
{% set both %}{{ name }}, CAST({{ other }} AS {{ nbsql.string() }}){% endset -%}
SELECT
  {{ nbsql.text_of(nbsql.word('source.class')) }} AS label,
  CASE WHEN source.times = 'x y' THEN {{ nbsql.json_list(both) }} ELSE {{ name }}{{ nbsql.binary() }} END AS feature,
  CAST(CASE WHEN {{ is_number }} THEN NULL ELSE source.value END AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value,
  {{ nbsql.text_of(nbsql.word('source.times')) }} AS times,
  CAST(source.weight AS {{ nbsql.double() }}) AS weight,
  {% if 'mean' in columns %}
  CAST(source.mean AS {{ nbsql.double() }}) AS mean
  {% else %}
  CAST(NULL AS {{ nbsql.double() }}) AS mean
  {% endif %}
FROM {{ relation }} AS source
{%- endmacro %}

{# One row per label with weights: label. #}
{% macro given_weight_classes(weights) -%}
SELECT DISTINCT label FROM {{ weights }} AS weights WHERE label IS NOT NULL ORDER BY label ASC NULLS LAST
{%- endmacro %}

{#
  One row per feature and kind of factor of its weights: feature (NULL: the bias), times, whether a weight has no value, how many times the
  same weight is given at most, how many weights are not numbers, and the first and the last value.
#}
{% macro given_weight_kinds(weights) -%}
SELECT
  feature,
  times,
  max(CASE WHEN value IS NULL THEN 1 ELSE 0 END) AS of_no_value,
  max(n) AS most,
  sum(wrong) AS wrong,
  min(value) AS first_value,
  max(value) AS last_value
FROM (
  SELECT
    feature,
    times,
    value,
    count(*) AS n,
    sum(
      CASE
        WHEN label IS NULL OR NOT coalesce(abs(weight) < {{ nbsql.infinity() }}, FALSE) THEN 1
        WHEN NOT coalesce(abs(mean) < {{ nbsql.infinity() }}, TRUE) THEN 1
        ELSE 0
      END
    ) AS wrong
  FROM {{ weights }} AS weights
  GROUP BY label, feature, times, value
) AS given
GROUP BY feature, times
ORDER BY feature ASC NULLS FIRST, times ASC NULLS FIRST
{%- endmacro %}

{#
  The table `weights`: class, feature, value, weight, mean. A mean distinguishes the weight of a number, or of the values of a category
  without weights, from that of a missing value. The weight of the square of a number has the value 'x^2'.
#}
{% macro given_weights(weights, classes) -%}
SELECT
  classes.class,
  weights.feature,
  CASE WHEN weights.times = 'x^2' THEN 'x^2'{{ nbsql.binary() }} ELSE weights.value END AS value,
  weights.weight,
  CASE WHEN weights.times IN ('x', 'x^2', 'x y', 'unseen') THEN coalesce(weights.mean, 0) ELSE weights.mean END AS mean
FROM {{ weights }} AS weights
JOIN {{ classes }} AS classes ON classes.label = weights.label
{%- endmacro %}

{# One row per feature and token whose weight is multiplied by its count and its idf: feature, value, idf. #}
{% macro given_idf(weights, features) -%}
SELECT feature, value, max(mean) AS idf
FROM {{ weights }} AS weights
WHERE feature IN ({{ nbsql.feature_names(features) }})
GROUP BY feature, value
{%- endmacro %}
