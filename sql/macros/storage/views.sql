{# The parts of a model that exist only for users to read. #}

{# One row per feature, in the order of the model: feature, family, columns, types, options (an object of JSON). #}
{% macro features(spec) -%}
SELECT
  feature ->> 'name' AS feature,
  feature ->> 'family' AS family,
  CAST(feature -> 'columns' AS VARCHAR[]) AS columns,
  CAST(feature -> 'types' AS VARCHAR[]) AS types,
  json_merge_patch(feature, {{ nbsql.non_option_fields() }}) AS options
FROM (
  SELECT unnest(CAST(json_extract(spec.spec, '$.features') AS JSON[])) AS feature
  FROM {{ spec }} AS spec
) AS features
{%- endmacro %}

{# A patch that removes everything but the options from a feature's entry in the spec (RFC 7396). #}
{% macro non_option_fields() -%}
'{
  {%- for name in ['name', 'columns', 'types', 'floating', 'whole', 'complete', 'near', 'few', 'family'] -%}
  "{{ nbsql.word(name) }}":null{{ nbsql.comma(loop) }}
  {%- endfor -%}
}'
{%- endmacro %}

{#
  How much likelier a value is in one class than in another, FROM spam.likelihood_ratios('spam', 'ham'). One row per feature and value with
  a likelihood in both classes, the strongest evidence first: feature, value, likelihood, other_likelihood, ratio, and log_ratio = ln
  P(value | class) / P(value | other class), the evidence of the value for the one class against the other. A value that only one of them
  has, as alpha = 0 allows, is infinitely likelier in it; for one that neither has there is no ratio.

  class, other: parameters of the macro.
  checks_classes: whether a class that the model does not have is an error; otherwise there is no row for it.
#}
{% macro likelihood_ratios(likelihoods, class, other, checks_classes=false) -%}
{% set log_ratio %}CASE WHEN likelihood > 0 OR other_likelihood > 0 THEN log_likelihood - other_log_likelihood END{% endset -%}
{% set no_class = 'the model does not have both classes; its view priors lists those that it has' -%}
SELECT
  feature,
  value,
  likelihood,
  other_likelihood,
  CASE
    WHEN other_likelihood > 0 THEN likelihood / other_likelihood
    WHEN likelihood > 0 THEN {{ nbsql.infinity() }}
  END AS ratio,
  {{ log_ratio }} AS log_ratio
FROM (
  SELECT
    likelihoods.feature,
    likelihoods.value,
    {% for name in [class, other] if checks_classes %}
    max(max(CASE WHEN likelihoods.class = {{ name }} THEN 1 ELSE 0 END)) OVER () AS has_{{ loop.index }},
    {% endfor %}
    {% for column in ['likelihood', 'log_likelihood'] %}
    max(CASE WHEN likelihoods.class = {{ class }} THEN likelihoods.{{ nbsql.word(column) }} END) AS {{ nbsql.word(column) }},
    {% set of_other %}CASE WHEN likelihoods.class = {{ other }} THEN likelihoods.{{ nbsql.word(column) }} END{% endset %}
    max({{ of_other }}) AS other_{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ likelihoods }} AS likelihoods
  GROUP BY likelihoods.feature, likelihoods.value
) AS ratios
WHERE {% if checks_classes %}CASE WHEN has_1 + has_2 = 2 THEN {% endif %}likelihood IS NOT NULL AND other_likelihood IS NOT NULL
  {%- if checks_classes %} ELSE {{ nbsql.raise_error(no_class, nbsql.word('feature')) }} END{% endif +%}
ORDER BY abs({{ log_ratio }}) DESC NULLS LAST, feature ASC NULLS LAST, value ASC NULLS LAST
{%- endmacro %}
