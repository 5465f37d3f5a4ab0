{#
  The tokens that are most informative of the class, chosen by their counts. Those of `all_counts` with the largest mutual information or
  chi_square (relevance.sql) become the `counts` from which the families estimate. The choice is a query on additive cells, so it is made
  again whenever the model learns, and in every fold. With chi_square it is that of scikit-learn's SelectKBest(chi2) on the same weighted
  counts, among the tokens that occur often enough; in a tie the last token wins, as there.

  The last digits of a score depend on the order of summation, so they do not decide.
#}
{% macro best_counts(priors, features) -%}
{% set considered %}(
      SELECT all_counts.feature, all_counts.value, all_counts.class, all_counts.n
      FROM all_counts
      JOIN (
        SELECT all_counts.feature, all_counts.value
        FROM all_counts
        JOIN choices ON choices.feature = all_counts.feature
        WHERE all_counts.value IS NOT NULL
        GROUP BY all_counts.feature, all_counts.value
        HAVING sum(all_counts.n) >= max(choices.min_count)
      ) AS often USING (feature, value)
    ){% endset -%}
choices AS (
  SELECT * FROM {% call(feature, _) nbsql.constants(features, 'choices', ['feature', 'most', 'by_chi_square', 'min_count'], 2) -%}
{% set family, by_chi_square = feature.family, nbsql.boolean(feature.family.best_by == 'chi_square') -%}
{{ nbsql.text(feature.name) }}, {{ family.best }}, {{ by_chi_square }}, {{ family.least_count }}
{%- endcall +%}
),
best_values AS (
  SELECT feature, value
  FROM (
    SELECT
      feature,
      value,
      most,
      row_number() OVER (
        PARTITION BY feature
        ORDER BY {{ nbsql.round_to_twelve_digits(nbsql.word('score')) }} DESC NULLS LAST, value DESC NULLS LAST
      ) AS place
    FROM (
      SELECT
        scores.feature,
        scores.value,
        choices.most,
        CASE WHEN choices.by_chi_square THEN scores.chi_square ELSE scores.mutual_information END AS score
      FROM {{ nbsql.subquery(nbsql.scores_of_values(considered, priors)) | indent(6) }} AS scores
      JOIN choices ON choices.feature = scores.feature
    ) AS scored
  ) AS ranked
  WHERE place <= most
),
counts AS (
  SELECT all_counts.*
  FROM all_counts
  LEFT JOIN best_values ON best_values.feature = all_counts.feature AND best_values.value = all_counts.value
  WHERE best_values.value IS NOT NULL OR all_counts.value IS NULL OR all_counts.feature NOT IN ({{ nbsql.feature_names(features) }})
)
{%- endmacro %}
