{#
  Expectation-maximisation over rows without a class (Nigam, McCallum, Thrun and Mitchell, Text classification from labeled and unlabeled
  documents using EM, Machine Learning 39, 2000). The two steps are a score and a count; the queries here connect them.
#}

{#
  One row per counted row: nbsql_number, which identifies it, and some columns of the source. Texts are cut once and are lists of their
  terms from here on.

  texts: the features of those texts.
#}
{% macro numbered_rows(model, source, columns, texts) -%}
{% set rows = namespace(relation=source) -%}
{% for feature in texts -%}
{% set rows.relation -%}
(
  SELECT
    {% for column in columns %}
    {% set x %}source.{{ nbsql.ident(column) }}{% endset %}
    {% if column == feature.column %}
    CASE WHEN {{ x }} IS NOT NULL THEN {{ nbsql.token_terms(feature.family) }} END AS {{ nbsql.ident(column) }}
    {%- else %}
    {{ x }}
    {%- endif %}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ nbsql.subquery(nbsql.words(feature, rows.relation)) | indent(2) }} AS source
)
{%- endset -%}
{% endfor -%}
SELECT
  {{ nbsql.row_id() }} AS nbsql_number,
  {% for column in columns %}
  source.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ rows.relation }} AS source
{%- if model.spec.weight +%}
WHERE {{ nbsql.weight(model) }} > 0
{%- endif %}
{%- endmacro %}

{#
  The expectation, one row per row: nbsql_number, class_no (of its class; NULL if it has none), weight, joints (a list by class),
  nbsql_highest and nbsql_relative_evidence, and common, the part that all joint log-likelihoods leave out (score.sql).

  scored: the numbered rows, scored (predict.sql). share: the factor of the weight of a row without a class.
#}
{% macro expected_classes(model, scored, parameters, share) -%}
SELECT
  source.nbsql_number,
  numbered.class_no,
  {{ nbsql.row_weight(model) }} * CASE WHEN numbered.class_no IS NULL THEN {{ nbsql.number(share) }} ELSE 1 END AS weight,
  {{ nbsql.list_of_joints(model) }} AS joints,
  source.nbsql_highest,
  source.nbsql_relative_evidence,
  CAST(0 AS {{ nbsql.double() }}){{ nbsql.plus_common(model) }} AS common
FROM {{ scored }} AS source
LEFT JOIN {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS numbered ON numbered.class = {{ nbsql.target(model) }}
{%- endmacro %}

{#
  One row: evidence, the log-likelihood of all rows, ln p(x, c) for those with a class and ln p(x) for the others, each times its weight;
  weight, their total weight; soft, the number of rows without a class, and unexplained, the number of these that fit no class and count
  for nothing.
#}
{% macro evidence_of_rows(expected) -%}
{% set joint = nbsql.element(nbsql.word('expected.joints'), nbsql.word('expected.class_no')) -%}
{% set evidence = nbsql.log_sum(nbsql.word('expected.nbsql_highest'), nbsql.word('expected.nbsql_relative_evidence')) -%}
SELECT
  sum(CASE WHEN explained THEN weight * (joint + common) ELSE 0 END) AS evidence,
  sum(CASE WHEN explained THEN weight ELSE 0 END) AS weight,
  count(CASE WHEN class_no IS NULL THEN 1 END) AS soft,
  count(CASE WHEN class_no IS NULL AND NOT explained THEN 1 END) AS unexplained
FROM (
  SELECT
    expected.class_no,
    expected.weight,
    expected.common,
    CASE WHEN expected.class_no IS NULL THEN {{ evidence }} ELSE {{ joint }} END AS joint,
    coalesce(expected.nbsql_highest > -{{ nbsql.infinity() }}, FALSE) AS explained
  FROM {{ expected }} AS expected
) AS explained
{%- endmacro %}

{#
  The rows that the maximisation counts, one row per row without a class and class that it may have: some columns of the row, the class
  under the name of the target, and nbsql_weight, the posterior times the weight of the row. A posterior below 2^-60, which would not
  change a sum of others, gives no row.

  parameters: of the model that scored the rows.
#}
{% macro posterior_weighted_rows(model, rows, expected, parameters, columns) -%}
{% set joint = nbsql.element(nbsql.word('expected.joints'), nbsql.word('numbered.class_no')) -%}
{% set log_posterior = nbsql.log_posterior(joint, 'expected') -%}
(
  SELECT
    {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(4) }}
    numbered.class AS {{ nbsql.ident(model.spec.target) }},
    expected.weight * {{ nbsql.exp(log_posterior) }} AS nbsql_weight
  FROM {{ rows }} AS source
  JOIN {{ expected }} AS expected ON expected.nbsql_number = source.nbsql_number
  JOIN {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) | indent(2) }} AS numbered ON TRUE
  WHERE expected.class_no IS NULL
    AND expected.nbsql_highest > -{{ nbsql.infinity() }}
    AND {{ log_posterior }} > -41.6
)
{%- endmacro %}
