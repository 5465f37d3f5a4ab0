{# Spark's forms of decisions: a row already has its labels, and a ranking is an array that becomes rows. #}

{# One row per row of `scored`: its columns, and the lists nbsql_labels (the classes) and nbsql_posteriors (their probabilities). #}
{% macro spark__with_posteriors(model, scored, parameters) -%}
SELECT
  source.*,
  {{ nbsql.list_by_class(model, 'source.nbsql_class') }} AS nbsql_labels,
  {{ nbsql.posteriors(model) | indent(2) }} AS nbsql_posteriors
FROM {{ scored }} AS source{{ nbsql.run_once() }}
{%- endmacro %}

{#
  One row per row of the source and one of its most probable classes: the columns of the source, prediction, probability, rank.
  Probabilities are negated, so that the array sorts by falling probability and then by rising number.
#}
{% macro spark__predict_top_k(model, scored, parameters, top_k) -%}
SELECT
  {{ nbsql.passed_columns(model) }}element_at(source.nbsql_labels, source.nbsql_ranked.k) AS prediction,
  -source.nbsql_ranked.p AS probability,
  coalesce(source.nbsql_place, 0) + 1 AS rank
FROM (
  SELECT
    *,
    posexplode_outer(
      CASE WHEN nbsql_highest > -{{ nbsql.infinity() }}
        THEN slice(
          array_sort(zip_with(nbsql_posteriors, sequence(1, size(nbsql_posteriors)), (p, k) -> struct(-p AS p, k AS k))),
          1,
          {{ top_k }}
        )
      END
    ) AS (nbsql_place, nbsql_ranked)
  FROM {{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) | indent(2) }} AS posteriors
) AS source
{%- endmacro %}
