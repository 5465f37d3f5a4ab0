{#
  The prediction if some classes have a threshold:

    a class with a threshold is predicted where its posterior reaches it, the most probable one of several
    where none does, the most probable class without a threshold; NULL if all classes have one

  So if a single class has a threshold, the rows predicted to be of that class are those that the table of thresholds (curves.sql) counts.

  thresholds: a number or none for every class, by number.

  Columns: those of the source, prediction, probability (its posterior). Both are NULL if no class is predicted, and if none explains the
  row. In a tie the smaller label wins.
#}
{% macro predict_at_thresholds(model, scored, parameters, thresholds) -%}
SELECT
  {{ nbsql.passed_columns(model) }}{{
    nbsql.plain_label(nbsql.value_of_chosen_class('nbsql_labels'), model.spec.target_type) }} AS prediction,
  {{ nbsql.value_of_chosen_class('nbsql_posteriors') }} AS probability
FROM (
  SELECT
    *,
    {% set reached, others = nbsql.word('nbsql_reached'), nbsql.word('nbsql_others') %}
    CASE WHEN nbsql_log_evidence > -{{ nbsql.infinity() }} THEN CASE
      WHEN {{ nbsql.list_highest(reached) }} >= 0 THEN {{ nbsql.list_place(reached, nbsql.list_highest(reached)) }}
      WHEN {{ nbsql.list_highest(others) }} >= 0 THEN {{ nbsql.list_place(others, nbsql.list_highest(others)) }}
    END END AS nbsql_choice
  FROM (
    {% set threshold = nbsql.element(nbsql.word('nbsql_thresholds'), nbsql.word('k')) %}
    {% set reached %}CASE WHEN p >= {{ threshold }} THEN p ELSE -1 END{% endset %}
    {% set others %}CASE WHEN {{ threshold }} IS NULL THEN p ELSE -1 END{% endset %}
    SELECT
      *,
      {{ nbsql.list_mapped(nbsql.word('nbsql_posteriors'), reached, 'p', 'k') }} AS nbsql_reached,
      {{ nbsql.list_mapped(nbsql.word('nbsql_posteriors'), others, 'p', 'k') }} AS nbsql_others
    FROM (
      {{ nbsql.with_posteriors(model, scored, parameters) | indent(6) }}
    ) AS posteriors
    CROSS JOIN (
      SELECT
        {%+ call(threshold) nbsql.array_of_each(thresholds) %}{{ nbsql.nullable_double(threshold) }}{% endcall %} AS nbsql_thresholds
    ) AS thresholds
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS held
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS source{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}
