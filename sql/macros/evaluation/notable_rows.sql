{#
  Notable rows of a source, `count` of each kind, one row each:

    nbsql_position          from 1
    nbsql_kind              'surest right', 'surest wrong', 'nearest call' (the least probable prediction) or 'least evidence' (ln p(x))
    nbsql_class             the row's class, as text; NULL if it has none
    nbsql_prediction, nbsql_probability, nbsql_evidence
    ...                     the columns that the model reads

  scored: predict.sql; labelled: whether the source has the class.
#}
{% macro notable_rows(model, scored, columns, count, labelled) -%}
{% set known %}{% if labelled %}source.{{ nbsql.ident(model.spec.target) }}{% else %}NULL{% endif %}{% endset -%}
WITH nbsql_rows AS {{ nbsql.materialized() }}(
  SELECT
    {{ nbsql.text_of(known) }} AS nbsql_class,
    {{ nbsql.text_of(nbsql.word('source.nbsql_prediction')) }} AS nbsql_prediction,
    source.nbsql_probability,
    source.nbsql_log_evidence AS nbsql_evidence
    {%- for column in columns %},
    source.{{ nbsql.ident(column) }}
    {%- endfor +%}
  FROM {{ scored }} AS source
  WHERE source.nbsql_prediction IS NOT NULL
)
SELECT row_number() OVER (ORDER BY nbsql_order ASC NULLS LAST, nbsql_place ASC NULLS LAST) AS nbsql_position, chosen.*
FROM (
  {% set right %}nbsql_class = nbsql_prediction{% endset %}
  {% set wrong %}nbsql_class <> nbsql_prediction{% endset %}
  {% set any %}nbsql_probability IS NOT NULL{% endset %}
  {{ nbsql.rows_of_kind(1, 'surest right', right, 'nbsql_probability', true, columns, count) | indent(2) }}
  UNION ALL
  {{ nbsql.rows_of_kind(2, 'surest wrong', wrong, 'nbsql_probability', true, columns, count) | indent(2) }}
  UNION ALL
  {{ nbsql.rows_of_kind(3, 'nearest call', any, 'nbsql_probability', false, columns, count) | indent(2) }}
  UNION ALL
  {{ nbsql.rows_of_kind(4, 'least evidence', any, 'nbsql_evidence', false, columns, count) | indent(2) }}
) AS chosen
{%- endmacro %}

{# A query of rows that folds have judged, with a comment for a reader, who does not have their tables. #}
{% macro with_fold_comment(query) -%}
-- The rows were evaluated by folds, in temporary tables of the report. With folds=None you get a query that runs by itself.
{{ query }}
{%- endmacro %}

{# The rows of one kind, as in `notable_rows`; falling: whether the largest measure comes first. #}
{% macro rows_of_kind(number, kind, condition, measure, falling, columns, count) -%}
{% set other %}{% if measure == 'nbsql_probability' %}nbsql_evidence{% else %}nbsql_probability{% endif %}{% endset -%}
{% set sign %}{% if falling %}-{% endif %}{% endset -%}
SELECT
  {{ number }} AS nbsql_order,
  nbsql_place,
  {{ nbsql.text(kind) }} AS nbsql_kind,
  nbsql_class,
  nbsql_prediction,
  nbsql_probability,
  nbsql_evidence
  {%- for column in columns %},
  {{ nbsql.ident(column) }}
  {%- endfor +%}
FROM (
  SELECT *, row_number() OVER (ORDER BY {{ sign }}{{ nbsql.word(measure) }} ASC NULLS LAST, {{ other }} DESC NULLS LAST) AS nbsql_place
  FROM nbsql_rows
  WHERE {{ condition }}
) AS ranked
WHERE nbsql_place <= {{ count }}
{%- endmacro %}
