{#
  A category that depends on another column within a class, or on which another depends, from the rest of its row:

    p(x = v | rest) = p(x = v, rest) / sum over the values w of p(x = w, rest)

  p(x = v, rest) is the evidence of the row with v in place of x, the sum over the classes of p(x = v, rest, c), or for a class that is
  taken as certain that joint likelihood alone. Other missing values are left out, as in any score: a missing child adds nothing, and if
  the parent of x is missing, P(v | c) applies.
#}

{#
  The copies to score, one row a missing value and possible value: nbsql_of_row, nbsql_value, and the columns that the model reads, with
  the value in that of x.

  columns: those that the model reads, except for x, and the target if classes are taken as certain. gaps: whether only rows without x are
  completed. kind: the family in the model.
#}
{% macro copies_with_values(imputation, columns, likelihoods, gaps, kind) -%}
{% set value = nbsql.word('value') -%}
SELECT
  scores.nbsql_row AS nbsql_of_row,
  drawn.value{{ nbsql.feature_suffix(imputation.feature) }} AS nbsql_value,
  {{ nbsql.listed_columns(nbsql.word('scores'), columns) | indent(2) }}
  {{ nbsql.completed_value(imputation) }} AS {{ nbsql.ident(imputation.feature.column) }}
FROM scores
CROSS JOIN (
  SELECT DISTINCT {% if kind == 'conditional' %}{{ nbsql.json_element(value, 0) }}{% else %}{{ value }}{% endif %} AS value
  {{- nbsql.feature_suffix(imputation.feature) }}
  FROM {{ likelihoods }} AS known
  WHERE feature = {{ nbsql.text(imputation.feature.name) }} AND value IS NOT NULL
) AS drawn
{%- if gaps %}

WHERE {{ nbsql.is_missing(imputation.feature, imputation.column, nbsql.word('scores')) }}
{%- endif %}
{%- endmacro %}

{# One row a missing value and possible value: nbsql_row, feature, value, mass, which is proportional to p(x = v, rest). #}
{% macro likelihoods_of_copies(model, scored, parameters, imputation, labelled) -%}
SELECT
  nbsql_of_row AS nbsql_row,
  {{ nbsql.text(imputation.feature.name) }} AS feature,
  nbsql_value AS value,
  {% set below %}joint - highest{% endset %}
  CASE WHEN highest > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(below) }} ELSE 0 END AS mass
FROM (
  SELECT
    source.nbsql_of_row,
    source.nbsql_value,
    {% set evidence %}source.nbsql_log_evidence{% endset %}
    {% set joint %}
    {%- if labelled %}CASE WHEN numbered.class_no IS NULL THEN {{ evidence }} ELSE {{ nbsql.numbered_joint(model) }} END
    {%- else %}{{ evidence }}{% endif %}
    {%- endset %}
    {{ joint }} AS joint,
    max({{ joint }}) OVER (PARTITION BY source.nbsql_of_row) AS highest
  FROM {{ scored }} AS source
  {% if labelled %}
  LEFT JOIN (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS numbered ON numbered.class = {{ nbsql.target(model) }}
  {% endif %}
) AS joints
{%- endmacro %}
