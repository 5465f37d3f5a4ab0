{#
  The most probable classes of a row, one row per source row and rank.

  Columns: those of the source, prediction, probability (its posterior), rank (from 1, the most probable first; in a tie the
  smaller label). A row that no class explains has a single row, of rank 1, with a NULL prediction.
#}
{% macro predict_top_k(model, scored, parameters, top_k) -%}
SELECT
  {% set label %}source.nbsql_labels[source.nbsql_ranked.k]{% endset %}
  {{ nbsql.passed_columns(model) }}{{ nbsql.plain_label(label, model.spec.target_type) }} AS prediction,
  CASE WHEN source.nbsql_ranked IS NOT NULL THEN -source.nbsql_ranked.p END AS probability,
  source.nbsql_rank AS rank
FROM (
  SELECT *, unnest(nbsql_ranking) AS nbsql_ranked, generate_subscripts(nbsql_ranking, 1) AS nbsql_rank
  FROM (
    SELECT
      *,
      {# Negated, so that the list sorts by falling posterior and then by rising number. #}
      CASE WHEN nbsql_highest > -{{ nbsql.infinity() }}
        THEN list_sort(list_transform(nbsql_posteriors, lambda p, k: {p: -p, k: k}), 'ASC', 'NULLS LAST')[:{{ top_k }}]
        ELSE [NULL]
      END AS nbsql_ranking
    FROM {{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) | indent(4) }} AS posteriors
  ) AS ranked
) AS source{{ nbsql.in_order_of_source(model, 'nbsql_rank') }}
{%- endmacro %}
