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
{% set rows -%}
{{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) }} AS posteriors
CROSS JOIN (
  SELECT
    {%+ call(threshold) nbsql.array_of_each(thresholds) %}{{ nbsql.nullable_double(threshold) }}{% endcall %} AS nbsql_thresholds
) AS thresholds
{%- endset -%}
{% set threshold = nbsql.element(nbsql.word('nbsql_thresholds'), nbsql.word('k')) -%}
{% set if_reached %}CASE WHEN p >= {{ threshold }} THEN p ELSE -1 END{% endset -%}
{% set if_without %}CASE WHEN {{ threshold }} IS NULL THEN p ELSE -1 END{% endset -%}
{% set posteriors, reached, others = nbsql.word('nbsql_posteriors'), nbsql.word('nbsql_reached'), nbsql.word('nbsql_others') -%}
{% set choice -%}
CASE WHEN nbsql_highest > -{{ nbsql.infinity() }} THEN CASE
  WHEN {{ nbsql.list_highest(reached) }} >= 0 THEN {{ nbsql.list_place(reached, nbsql.list_highest(reached)) }}
  WHEN {{ nbsql.list_highest(others) }} >= 0 THEN {{ nbsql.list_place(others, nbsql.list_highest(others)) }}
END END
{%- endset -%}
{% set rows = nbsql.with_columns(rows, [
  ('nbsql_reached', nbsql.list_mapped(posteriors, if_reached, 'p', 'k')),
  ('nbsql_others', nbsql.list_mapped(posteriors, if_without, 'p', 'k'))
]) -%}
SELECT
  {{ nbsql.passed_columns(model) }}{{
    nbsql.plain_label(nbsql.value_of_chosen_class('nbsql_labels'), model.spec.target_type) }} AS prediction,
  {{ nbsql.value_of_chosen_class('nbsql_posteriors') }} AS probability
FROM {{ nbsql.with_columns(rows, [('nbsql_choice', choice)], 'source') }}{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}
