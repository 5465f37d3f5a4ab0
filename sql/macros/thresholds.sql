{#
  The prediction where some classes take a threshold:

    a class with a threshold is predicted where its posterior reaches it, the most probable one of several
    where none does, the most probable class without a threshold; NULL if all classes have one

  So the rows predicted to be of a class with a threshold, if it is the only one, are those that the table of thresholds
  (curves.sql) counts.

  thresholds: a number or none for every class, by number.

  Columns: those of the source, prediction, probability (its posterior). Both are NULL where no class is predicted, and where
  none can explain the row. Ties go to the larger prior, then to the smaller label.
#}
{% macro predict_at_thresholds(model, scored, parameters, thresholds) -%}
SELECT
  {{ nbsql.passed(model) }},
  source.nbsql_labels[source.nbsql_choice] AS prediction,
  source.nbsql_posteriors[source.nbsql_choice] AS probability
FROM (
  SELECT
    *,
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN CASE
      WHEN list_max(nbsql_reached) >= 0 THEN list_position(nbsql_reached, list_max(nbsql_reached))
      WHEN list_max(nbsql_others) >= 0 THEN list_position(nbsql_others, list_max(nbsql_others))
    END END AS nbsql_choice
  FROM (
    SELECT
      *,
      list_transform(nbsql_posteriors, lambda p, k: CASE WHEN p >= nbsql_thresholds[k] THEN p ELSE -1 END) AS nbsql_reached,
      list_transform(nbsql_posteriors, lambda p, k: CASE WHEN nbsql_thresholds[k] IS NULL THEN p ELSE -1 END) AS nbsql_others
    FROM (
      {{ nbsql.with_posteriors(model, scored, parameters) | indent(6) }}
    ) AS posteriors
    CROSS JOIN (
      SELECT [{% for threshold in thresholds %}{{ nbsql.optional(threshold) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}] AS nbsql_thresholds
    ) AS thresholds
  ) AS held
) AS source
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}
