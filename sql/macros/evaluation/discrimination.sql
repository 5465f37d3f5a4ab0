{#
  The evidence between two classes, one row per feature and value with a likelihood in both, the strongest evidence first. Last are values
  that neither class has, because of these only the smoothing tells the classes apart.

    feature, value
    n, other_n                    how often the value was counted in the one class and in the other
    likelihood, other_likelihood  P(value | class) and P(value | other class), as the model has them
    log_ratio                     the logarithm of their ratio: the evidence of the value for the one class against the other; infinite
                                  if only one has it

  class, other: labels, as expressions of the type of the classes.
#}
{% macro discrimination(likelihoods, statistics, features, class, other) -%}
{% set paired = features | selectattr('family.kind', 'equalto', 'pairs') | list -%}
{% set reversed %}({{ nbsql.reversed_pairs(nbsql.word('counts'), paired) | indent(4) }}) AS turned{% endset -%}
WITH {{ nbsql.counted_cells(statistics, features) }},
ratios AS {{ nbsql.subquery(nbsql.likelihood_ratios(likelihoods, class, other)) }},
-- grouped rather than joined: an engine that guesses few rows would compare each with each
said AS (
  SELECT
    feature,
    value,
    sum(n) AS n,
    sum(other_n) AS other_n,
    max(likelihood) AS likelihood,
    max(other_likelihood) AS other_likelihood,
    max(log_ratio) AS log_ratio,
    max(compared) AS compared
  FROM (
    SELECT
      feature, value,
      {{ nbsql.number(0) }} AS n,
      {{ nbsql.number(0) }} AS other_n,
      likelihood, other_likelihood, log_ratio,
      1 AS compared
    FROM ratios
    {% for counted in [nbsql.word('counts')] + ([reversed] if paired else []) %}
    UNION ALL
    SELECT
      feature, value,
      CASE WHEN class = {{ class }} THEN n ELSE 0 END,
      CASE WHEN class = {{ other }} THEN n ELSE 0 END,
      NULL, NULL, NULL,
      0
    FROM {{ counted }}
    {% endfor %}
  ) AS parts
  GROUP BY feature, value
)
SELECT feature, value, n, other_n, likelihood, other_likelihood, log_ratio
FROM said
WHERE compared = 1
ORDER BY
  CASE WHEN coalesce(n, 0) + coalesce(other_n, 0) > 1e-6 THEN 0 ELSE 1 END ASC NULLS LAST,
  abs(log_ratio) DESC NULLS LAST,
  feature ASC NULLS LAST,
  value ASC NULLS LAST
{%- endmacro %}

{#
  The importance of the features, one row per feature, the most informative first: feature, mutual_information (nats, above chance),
  symmetrical_uncertainty (relevance.sql), and missing, the share of the rows without a value. missing is NULL for words and count
  columns, whose counts are not of rows.
#}
{% macro ranking_of_features(statistics, priors, features) -%}
{% set occurring = features | selectattr('family.bag') | list + features | selectattr('family.over_columns') | list -%}
SELECT
  ranked.feature,
  CASE WHEN ranked.mutual_information IS NOT NULL
    THEN greatest(ranked.mutual_information - ranked.by_chance, 0) END AS mutual_information,
  ranked.symmetrical_uncertainty,
  {{ nbsql.missing_share(nbsql.word('ranked'), nbsql.word('learnt'), occurring) }} AS missing
FROM {{ nbsql.subquery(nbsql.unsorted_relevance(statistics, features)) }} AS ranked
JOIN (
  SELECT sum(n) AS n FROM {{ priors }} AS priors
) AS learnt ON TRUE
ORDER BY ranked.mutual_information - ranked.by_chance DESC NULLS LAST, ranked.feature ASC NULLS LAST
{%- endmacro %}
