{#
  How much each feature tells of the class, from the counts alone. With p(v, c) = n_vc / n, over the rows where the feature is
  present (of tokens and count columns: over the occurrences), and natural logarithms:

    mutual_information       sum of p(v, c) ln(p(v, c) / (p(v) p(c))), also called information gain
    symmetrical_uncertainty  2 mutual_information / (H(feature) + H(class)), from 0 to 1
    chi_square               sum of (n_vc - e_vc)^2 / e_vc, e_vc = n_v n_c / n: Pearson's test of independence
    f_statistic              of numbers: (sum of n_c (mean_c - mean)^2 / (C - 1)) / (sum of m2_c / (n - C)), the analysis of variance
#}
{% macro relevance(statistics) -%}
WITH {{ nbsql.counted_cells(statistics) }},
of_values AS (
  SELECT
    feature,
    sum(n * ln(n * total / (of_value * of_class))) / max(total) AS mutual_information,
    total * (sum(n * n / (of_value * of_class)) - 1) AS chi_square
  FROM (
    SELECT
      feature,
      n,
      sum(n) OVER (PARTITION BY feature) AS total,
      sum(n) OVER (PARTITION BY feature, value) AS of_value,
      sum(n) OVER (PARTITION BY feature, class) AS of_class
    FROM counts
  ) AS cells
  GROUP BY feature, total
),
entropies AS (
  SELECT feature, sum(entropy) AS entropy
  FROM (
    SELECT feature, -sum(share * ln(share)) AS entropy
    FROM (
      SELECT feature, sum(n) / sum(sum(n)) OVER (PARTITION BY feature) AS share FROM counts GROUP BY feature, value
    ) AS values_of
    GROUP BY feature
    UNION ALL
    SELECT feature, -sum(share * ln(share))
    FROM (
      SELECT feature, sum(n) / sum(sum(n)) OVER (PARTITION BY feature) AS share FROM counts GROUP BY feature, class
    ) AS classes_of
    GROUP BY feature
  ) AS sides
  GROUP BY feature
),
of_numbers AS (
  SELECT
    feature,
    CASE WHEN count(*) > 1 AND sum(n) > count(*) AND sum(m2) > 0
      THEN (max(pooled_m2) - sum(m2)) / (count(*) - 1) / (sum(m2) / (sum(n) - count(*))) END AS f_statistic
  FROM moments
  JOIN (
    SELECT feature, m2 AS pooled_m2 FROM (
      {{ nbsql.pooled(nbsql.word('moments'), ['feature']) | indent(6) }}
    ) AS pooled
  ) AS pooled USING (feature)
  GROUP BY feature
)
SELECT
  feature,
  of_values.mutual_information,
  CASE WHEN entropies.entropy > 0 THEN 2 * of_values.mutual_information / entropies.entropy ELSE 0 END AS symmetrical_uncertainty,
  of_values.chi_square,
  CAST(NULL AS {{ nbsql.double() }}) AS f_statistic
FROM of_values
JOIN entropies USING (feature)
UNION ALL
SELECT feature, NULL, NULL, NULL, f_statistic FROM of_numbers
ORDER BY mutual_information DESC NULLS LAST, f_statistic DESC NULLS LAST, feature
{%- endmacro %}

{# The sums of the cells of all batches and slices: counts(feature, value, class, n) and moments. #}
{% macro counted_cells(statistics) -%}
cells AS (
  {{ nbsql.folded(statistics, '1') | indent(2) }}
),
counts AS (
  SELECT feature, value, class, sum(n) AS n
  FROM cells
  WHERE feature IS NOT NULL AND mean IS NULL
  GROUP BY feature, value, class
),
moments AS (
  {{ nbsql.pooled(nbsql.apart_of(nbsql.word('cells')), ['class', 'feature']) | indent(2) }}
)
{%- endmacro %}

{#
  The same by value: what the rows (or occurrences) of a value tell of the class, against those of all others.

    chi_square  sum over the classes of (n_vc - n_v P(c))^2 / (n_v P(c)), P(c) by rows; scikit-learn's `chi2` of the counts
#}
{% macro relevance_of_values(statistics, priors) -%}
WITH {{ nbsql.counted_cells(statistics) }},
shares AS (
  SELECT class, n / sum(n) OVER () AS share FROM {{ priors }} AS priors
),
by_value AS (
  SELECT
    feature,
    value,
    class,
    n,
    sum(n) OVER (PARTITION BY feature) AS total,
    sum(n) OVER (PARTITION BY feature, value) AS of_value,
    sum(n) OVER (PARTITION BY feature, class) AS of_class
  FROM counts
)
SELECT
  feature,
  value,
  of_value AS n,
  sum(n * ln(n * total / (of_value * of_class))
    + CASE WHEN of_class > n THEN (of_class - n) * ln((of_class - n) * total / ((total - of_value) * of_class)) ELSE 0 END) / max(total)
    + max(CASE WHEN total > of_value THEN rest ELSE 0 END) / max(total) AS mutual_information,
  sum(n * n / (of_value * share)) - of_value AS chi_square
FROM (
  SELECT
    by_value.*,
    shares.share,
    -- the classes that never have the value, against it: the other values are all that these have
    (total - sum(of_class) OVER (PARTITION BY feature, value)) * ln(total / nullif(total - of_value, 0)) AS rest
  FROM by_value
  JOIN shares USING (class)
) AS cells
GROUP BY feature, value, of_value
ORDER BY mutual_information DESC, feature, value
{%- endmacro %}

{# The cells of numbers and weighed tokens, without those of columns that share a covariance matrix. #}
{% macro apart_of(cells) -%}
(SELECT * FROM {{ cells }} AS cells WHERE mean IS NOT NULL AND (value IS NULL OR m2 IS NULL))
{%- endmacro %}
