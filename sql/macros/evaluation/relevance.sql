{#
  How informative each feature is of the class, from the counts alone. With p(v, c) = n_vc / n, over the rows in which the feature is
  present (for tokens and count columns: over the occurrences), and natural logarithms:

    mutual_information       sum of p(v, c) ln(p(v, c) / (p(v) p(c))), also called information gain
    symmetrical_uncertainty  2 mutual_information / (H(feature) + H(class)), from 0 to 1
    chi_square               sum of (n_vc - e_vc)^2 / e_vc, e_vc = n_v n_c / n: Pearson's test of independence
    f_statistic              of numbers: (sum of n_c (mean_c - mean)^2 / (C - 1)) / (sum of m2_c / (n - C)), the analysis of variance

  Mutual information is the increase in the mean log-likelihood of a value if each class has its own distribution. 2n times it is the
  likelihood-ratio statistic (Wilks 1938; for counts, the G of the G-test). This also holds for numbers:

    gaussian, lognormal      -ln(1 - e) / 2, with e = 1 - (sum of m2_c) / m2, the correlation ratio (Fisher 1925): that of normal
                             distributions of one variance, as the analysis of variance has them; chi_square is n e
    poisson, exponential,    h(mean) - sum of n_c / n h(mean_c), with h(m) = -m ln m, ln m and (1 + m) ln(1 + m) - m ln m, their
    geometric                entropies except for terms that cancel

  It is at most the entropy of the class, because nothing is more informative. By chance alone it is above 0, and the more so the more
  values a feature has: a column of keys has all the information there could be about the rows that were counted, and none about others.

    by_chance                the expected mutual information if the classes were dealt to the rows at random, with n_v and n_c as they are
                             (Vinh, Epps and Bailey, ICML 2009): sum over v and c of p(v) p(c) E[ln(m n / (n_v n_c))], where m - 1 is
                             hypergeometric, of n_v - 1 draws among n - 1 with n_c - 1 hits. The logarithm is expanded to second order
                             about the mean of m, which is exact where n_v is 1 or n. For large n_v it tends to (V - 1) (C - 1) / 2n
                             (Miller 1955). Of numbers: (ln((n - 1) / (n - C)) + 1 / (n - C) - 1 / (n - 1)) / 2 for normal
                             distributions, for each column; (C - 1) / 2n for others
    gain                     mutual_information - by_chance, by which the features are ordered; about 0 for a feature that tells nothing

  Columns that share a covariance matrix are evaluated together (covariance_distance.sql); solved: what was found so already, for each such
  feature the numbers of its row.
#}
{% macro relevance(statistics, features, solved=none) -%}
SELECT
  feature,
  mutual_information,
  symmetrical_uncertainty,
  chi_square,
  f_statistic,
  by_chance,
  mutual_information - by_chance AS gain
FROM {{ nbsql.subquery(nbsql.unsorted_relevance(statistics, features, solved)) }} AS relevant
ORDER BY gain DESC NULLS LAST, mutual_information DESC NULLS LAST, f_statistic DESC NULLS LAST, feature ASC NULLS LAST
{%- endmacro %}

{#
  The same with n, the rows (or occurrences) of the feature, in no order. A number whose zeros are counted apart is informative by whether
  it is 0, and then by its value: I(x; C) = I([x = 0]; C) + P(x <> 0) I(x; C | x <> 0).
#}
{% macro unsorted_relevance(statistics, features, solved) -%}
{% if features | selectattr('family.zeros') | list -%}
SELECT
  feature,
  max(n) AS n,
  sum(n * mutual_information) / max(n) AS mutual_information,
  max(symmetrical_uncertainty) AS symmetrical_uncertainty,
  sum(chi_square) AS chi_square,
  max(f_statistic) AS f_statistic,
  sum(n * by_chance) / max(n) AS by_chance
FROM {{ nbsql.subquery(nbsql.relevance_parts(statistics, features, solved)) }} AS parts
GROUP BY feature
{%- else -%}
{{ nbsql.relevance_parts(statistics, features, solved) }}
{%- endif %}
{%- endmacro %}

{# The same, with two rows for a number whose zeros are counted apart: one for whether it is 0, and one for its nonzero values. #}
{% macro relevance_parts(statistics, features, solved) -%}
WITH {{ nbsql.counted_cells(statistics, features) }},
of_values AS (
  SELECT
    feature,
    max(total) AS n,
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
chances AS {{ nbsql.subquery(nbsql.information_by_chance(nbsql.word('counts'))) }},
entropies AS (
  SELECT feature, sum(entropy) AS entropy, sum(of_class) AS of_class
  FROM (
    SELECT feature, -sum(share * ln(share)) AS entropy, 0 AS of_class
    FROM (
      SELECT feature, sum(n) / sum(sum(n)) OVER (PARTITION BY feature) AS share FROM counts GROUP BY feature, value
    ) AS values_of
    GROUP BY feature
    UNION ALL
    SELECT feature, -sum(share * ln(share)), -sum(share * ln(share))
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
    sum(n) AS n,
    -sum(n * ln(n / total)) / sum(n) AS of_class,
    {{ nbsql.information_of_number(features) | indent(4) }} AS gain,
    {{ nbsql.chance_of_number(features) | indent(4) }} AS by_chance,
    CASE WHEN max(pooled_m2) > 0 THEN sum(n) * (1 - sum(m2) / max(pooled_m2)) END AS chi_square,
    CASE WHEN count(*) > 1 AND sum(n) > count(*) AND sum(m2) > 0
      THEN (max(pooled_m2) - sum(m2)) / (count(*) - 1) / (sum(m2) / (sum(n) - count(*))) END AS f_statistic
  FROM moments
  JOIN (
    SELECT feature, n AS total, mean AS pooled_mean, m2 AS pooled_m2 FROM (
      {{ nbsql.merged_moments(nbsql.word('moments'), ['feature']) | indent(6) }}
    ) AS pooled
  ) AS pooled USING (feature)
  GROUP BY feature
)
SELECT
  feature,
  of_values.n,
  of_values.mutual_information,
  CASE WHEN entropies.entropy > 0 THEN 2 * of_values.mutual_information / entropies.entropy ELSE 0 END AS symmetrical_uncertainty,
  of_values.chi_square,
  CAST(NULL AS {{ nbsql.double() }}) AS f_statistic,
  least(chances.by_chance, entropies.of_class) AS by_chance
FROM of_values
JOIN entropies USING (feature)
JOIN chances USING (feature)
UNION ALL
SELECT
  feature,
  n,
  CASE WHEN gain < 0 THEN 0 WHEN gain < of_class THEN gain WHEN gain >= of_class THEN of_class END, -- below 0 is rounding
  NULL,
  chi_square,
  f_statistic,
  least(coalesce(by_chance, of_class), of_class)
FROM of_numbers
{%- for feature in features | selectattr('family.kind', 'equalto', 'matrix') if solved is none or feature.name in solved +%}
UNION ALL
{% if solved is none %}{{ nbsql.multivariate_relevance(feature.unregularised) }}
{%- else -%}
SELECT {{ nbsql.text(feature.name) }}
{%- for number in solved[feature.name] %}, {{ nbsql.number_or_null(number) }}{% endfor %}
{%- endif %}
{%- endfor %}
{%- endmacro %}

{# One row per feature: by_chance, as above. counts: feature, value, class, n. Values of the same n_v are taken together. #}
{% macro information_by_chance(counts) -%}
{% set mean %}(1 + (of_value - 1) * hit){% endset -%}
{% set variance %}greatest((of_value - 1) * hit * (1 - hit) * (total - of_value) / nullif(total - 2, 0), 0){% endset -%}
SELECT
  feature,
  greatest(
    sum(
      times * of_value * of_class / (total * total)
      * coalesce(ln({{ mean }} * total / (of_value * of_class)) - {{ variance }} / (2 * {{ mean }} * {{ mean }}), 0)
    ),
    0
  ) AS by_chance
FROM (
  SELECT sizes.*, classes.of_class, classes.total, greatest(classes.of_class - 1, 0) / nullif(classes.total - 1, 0) AS hit
  FROM (
    SELECT feature, of_value, count(*) AS times
    FROM (
      SELECT feature, sum(n) AS of_value FROM {{ counts }} AS counts GROUP BY feature, value
    ) AS by_value
    GROUP BY feature, of_value
  ) AS sizes
  JOIN (
    SELECT feature, sum(n) AS of_class, sum(sum(n)) OVER (PARTITION BY feature) AS total
    FROM {{ counts }} AS counts
    GROUP BY feature, class
  ) AS classes USING (feature)
) AS margins
GROUP BY feature
{%- endmacro %}

{# The same of a number, an aggregate over the classes. #}
{% macro chance_of_number(features) -%}
{% set others = features | rejectattr('family.divergence', 'equalto', 'normal') | list -%}
{% set classes %}count(*){% endset -%}
{% set rows %}sum(n){% endset -%}
CASE
  {%- for feature in others %} WHEN feature = {{ nbsql.text(feature.name) }} THEN (count(*) - 1) / (2 * sum(n))
  {%- endfor %} WHEN sum(n) > count(*) THEN {{ nbsql.normal_chance(classes, rows) }} END
{%- endmacro %}

{# The same of a number of normal distributions, by the number of classes and that of rows. #}
{% macro normal_chance(classes, n) -%}
{% set left %}({{ n }} - {{ classes }}){% endset -%}
(ln(({{ n }} - 1) / {{ left }}) + 1 / {{ left }} - 1 / ({{ n }} - 1)) / 2
{%- endmacro %}

{# The mutual information of a number and the class, an aggregate over the classes. It is 0 for a number with a single value. #}
{% macro information_of_number(features) -%}
{% set others = features | rejectattr('family.divergence', 'equalto', 'normal') | list -%}
{% set normal -%}
CASE WHEN sum(m2) > 0 THEN 0.5 * ln(max(pooled_m2) / sum(m2)) WHEN max(pooled_m2) > 0 THEN {{ nbsql.infinity() }} END
{%- endset -%}
{% if others -%}
CASE
  {%- for feature in others %}
  {%- set entropy = nbsql[feature.family.divergence ~ '_entropy'] %} WHEN feature = {{ nbsql.text(feature.name) }}
    THEN sum(n * ({{ entropy(nbsql.word('pooled_mean')) }} - {{ entropy(nbsql.word('mean')) }})) / sum(n)
  {%- endfor %} ELSE {{ normal }} END
{%- else -%}
{{ normal }}
{%- endif %}
{%- endmacro %}

{% macro poisson_entropy(mean) -%} CASE WHEN {{ mean }} > 0 THEN -{{ mean }} * ln({{ mean }}) ELSE 0 END {%- endmacro %}

{# A mean is at least 1e-9 of that of all classes (families/exponential.sql). #}
{% macro exponential_entropy(mean) -%}
CASE WHEN pooled_mean > 0 THEN ln(greatest({{ mean }}, 1e-9 * pooled_mean)) ELSE 0 END
{%- endmacro %}

{% macro geometric_entropy(mean) -%}
CASE WHEN {{ mean }} > 0 THEN (1 + {{ mean }}) * ln(1 + {{ mean }}) - {{ mean }} * ln({{ mean }}) ELSE 0 END
{%- endmacro %}

{#
  The sums of the cells of all batches and slices: counts(feature, value, class, n) and moments. Of tokens only the occurrences count, not
  the bags that TF-IDF and presence count beside them. Columns that share a covariance matrix are left out; other queries read them.
#}
{% macro counted_cells(statistics, features) -%}
cells AS {{ nbsql.subquery(nbsql.folded_cells(statistics, '1')) }},
counts AS {{ nbsql.subquery(nbsql.summed_values(nbsql.word('cells'), features, 'class')) }},
moments AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.number_cells(nbsql.word('cells')), ['class', 'feature'])) }}
{%- endmacro %}

{#
  The same by value: how informative the rows (or occurrences) of a value are of the class, compared with all others.

    chi_square  sum over the classes of (n_vc - n_v P(c))^2 / (n_v P(c)), P(c) by rows; scikit-learn's `chi2` of the counts

  Columns that share a covariance matrix have one row per column, as if it were a single number.
#}
{% macro relevance_of_values(statistics, priors, features) -%}
WITH {{ nbsql.counted_cells(statistics, features) }}
{{ nbsql.scores_of_values(nbsql.word('counts'), priors) }}
{% for feature in features | selectattr('family.kind', 'equalto', 'matrix') %}
UNION ALL
{{ nbsql.relevance_of_columns(feature) }}
{% endfor %}
ORDER BY mutual_information DESC NULLS LAST, feature ASC NULLS LAST, value ASC NULLS LAST
{%- endmacro %}

{# The same from counts (feature, value, class, n), in no order. #}
{% macro scores_of_values(counts, priors) -%}
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
  FROM (
    SELECT
      feature,
      value,
      class,
      n,
      sum(n) OVER (PARTITION BY feature) AS total,
      sum(n) OVER (PARTITION BY feature, value) AS of_value,
      sum(n) OVER (PARTITION BY feature, class) AS of_class
    FROM {{ counts }} AS counts
  ) AS by_value
  JOIN (
    SELECT class, n / sum(n) OVER () AS share FROM {{ priors }} AS priors
  ) AS shares USING (class)
) AS cells
GROUP BY feature, value, of_value
{%- endmacro %}
