{#
  Several numbers with a multivariate normal density in every class:

    ln p(x | c) = -(p ln 2 pi + ln |S_c| + (x - m_c)' S_c^-1 (x - m_c)) / 2

  S_c is the co-moments over n, or over n - 1; shared, those of all classes together: (1 / N) sum_c sum_i (x_i - m_c)(x_i - m_c)' (Hastie,
  Tibshirani and Friedman, The Elements of Statistical Learning, section 4.3). Shrunk, it is (1 - s) S + s tr(S) / p I, or toward S of all
  classes together (1 - s) S_c + s S (Friedman, Regularized discriminant analysis, JASA 84, 1989).

  Each column has a cell with its mean and m2. Each pair has a cell with the value ["a","b"] and the mean and m2 of the sum
  a / scale_a + b / scale_b, so that cells of pairs add up like all others (likelihoods.sql, `pooled_moments`). A co-moment is half of the
  excess of the m2 of the sum over those of its parts. The scales, powers of two, keep columns of very different sizes from cancelling.

  covariance.sql computes the matrices and their inverses, and multivariate_gaussian_terms.sql scores rows by them.
#}

{#
  The numbers of a row less their centres, as columns, and in a careful scan the centres. A row counts whole or not at all; nbsql_whole,
  in a step of its own, saves writing the condition once a column. In a score, the sum over the columns is NULL if one of them is.
#}
{% macro multivariate_gaussian_inputs(feature, centre, careful, centred) -%}
{% set means = feature.family.means -%}
{% for column in feature.columns -%}
{% set j = nbsql.feature_suffix(feature, loop.index) -%}
{% set x = nbsql.number_of(column) -%}
{% set middle %}{% if centred %}means.centre{{ j }}{% elif centre is not none %}{{ centre[loop.index0] }}{% endif %}{% endset -%}
{% if means is not none %}coalesce({{ nbsql.finite(x) }}, {{ nbsql.number(means[loop.index0]) }})
{%- elif middle %}{{ nbsql.scan_value(x, false) }}
{%- else %}{{ nbsql.finite(x) }}
{%- endif %}
{%- if middle %} - {{ middle }}{% endif %}
{%- if middle and means is none %} + source.nbsql_whole{{ nbsql.feature_suffix(feature) }}{% endif %} AS nbsql_x{{ j }}
{%- if centred %},
{{ middle }} AS centre{{ j }}
{%- endif %}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# 0 for a row with all its numbers, else NULL. A scan that is not careful keeps NaN, which then shows in its sums. #}
{% macro multivariate_gaussian_whole(feature, careful) -%}
0 * (
{%- for column in feature.columns -%}
{{ nbsql.scan_value(nbsql.number_of(column), careful) }}{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- endmacro %}

{# The aggregates of a scan: n, and as lists the centres, the sums, and the sums of the products of the numbers, pair by pair. #}
{% macro multivariate_gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set p = feature.columns | length -%}
,
  {{ nbsql.weighted_count(model, nbsql.of_feature('nbsql_x', feature, 1)) }} AS n{{ i }},
  {% set x %}nbsql_x{{ i }}_{% endset %}
  {% set centres -%}
  {% for j in range(1, p + 1) -%}
  {% if careful %}max(centre{{ i }}_{{ j }}){% else %}{{ centre[j - 1] }}{% endif %}{{ nbsql.comma(loop) }}
  {%- endfor %}
  {%- endset %}
  {% set sums %}{% for j in range(1, p + 1) %}{{ nbsql.class_total(model, x ~ j) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
  {% set products -%}
  {% for j in range(1, p + 1) -%}
  {% set outer = loop -%}
  {% for k in range(j, p + 1) -%}
  {% set one, other = x ~ j, x ~ k -%}
  {{ nbsql.class_total(model, nbsql.product(one, other, careful)) }}{% if not (loop.last and outer.last) %}, {% endif %}
  {%- endfor -%}
  {%- endfor %}
  {%- endset %}
  {{ nbsql.list_of(centres, nbsql.double()) }} AS centres{{ i }},
  {{ nbsql.list_of(sums, nbsql.double()) }} AS sums{{ i }},
  {{ nbsql.list_of(products, nbsql.double()) }} AS products{{ i }}
{%- endmacro %}

{#
  One row per pair of columns i <= j, including each column with itself: i, j, k (its number, row by row), value (of its cell), scale_i,
  scale_j.
#}
{% macro column_pairs(feature) -%}
{% set p = feature.columns | length -%}
{% set before %}(i - 1) * (2 * {{ p }} + 2 - i){% endset -%}
{% set scales %}{% for scale in feature.family.scales %}{{ nbsql.number(scale) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set names %}{% for column in feature.columns %}{{ nbsql.text(column) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set quoted %}{% for column in feature.family.quoted_columns %}{{ nbsql.text(column) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set i, j = nbsql.word('i'), nbsql.word('j') -%}
{% set quoted_i, quoted_j = nbsql.element(nbsql.word('quoted'), i), nbsql.element(nbsql.word('quoted'), j) -%}
SELECT
  i,
  j,
  {{ nbsql.whole_quotient(before, 2) }} + j - i + 1 AS k,
  CASE WHEN i = j THEN {{ nbsql.element(nbsql.word('names'), i) }} ELSE '[' || {{ quoted_i }} || ',' || {{ quoted_j }} || ']' END AS value,
  {{ nbsql.element(nbsql.word('scales'), i) }} AS scale_i,
  {{ nbsql.element(nbsql.word('scales'), j) }} AS scale_j
FROM (
  SELECT {{ nbsql.whole_numbers(1, p + 1) | indent(2) }} AS i
) AS rows
CROSS JOIN (
  SELECT {{ nbsql.whole_numbers(1, p + 1) | indent(2) }} AS j
) AS columns
CROSS JOIN (
  SELECT
    {{ nbsql.list_of(names, nbsql.string()) }} AS names,
    {{ nbsql.list_of(quoted, nbsql.string()) }} AS quoted,
    {{ nbsql.list_of(scales, nbsql.double()) }} AS scales
) AS names
WHERE i <= j
{%- endmacro %}

{# The parameters of pairs of columns, of which the first has a position, as `listed_parameters` lists parameters. #}
{% macro multivariate_gaussian_pairs(feature, first) -%}
{% set before %}j * (j - 1){% endset -%}
SELECT {{ first - 1 }} + {{ nbsql.whole_quotient(before, 2) }} + i, {{ nbsql.text(feature.name) }}, 'score', value, FALSE, FALSE
FROM {{ nbsql.subquery(nbsql.column_pairs(feature)) }} AS pairs
{%- endmacro %}

{# One row per class and pair of columns, as the scan summed them: the columns of `summed_cells`. #}
{% macro multivariate_gaussian_sums(model, scan, feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set p = feature.columns | length -%}
{% set before_i %}(i - 1) * (2 * {{ p }} + 2 - i){% endset -%}
{% set before_j %}(j - 1) * (2 * {{ p }} + 2 - j){% endset -%}
{% set place_i %}{{ nbsql.whole_quotient(before_i, 2) }} + 1{% endset -%}
{% set place_j %}{{ nbsql.whole_quotient(before_j, 2) }} + 1{% endset -%}
{% set column_i, column_j, pair = nbsql.word('i'), nbsql.word('j'), nbsql.word('k') -%}
{% set centres, sums, products = nbsql.word('centres'), nbsql.word('sums'), nbsql.word('products') -%}
{% set centre_i, centre_j = nbsql.element(centres, column_i), nbsql.element(centres, column_j) -%}
{% set sum_i, sum_j = nbsql.element(sums, column_i), nbsql.element(sums, column_j) -%}
{% set square_i, square_j = nbsql.element(products, place_i), nbsql.element(products, place_j) -%}
{% set product = nbsql.element(products, pair) -%}
SELECT
  {{ nbsql.class_and_slice(model) }},
  {{ feature.index }} AS index,
  {{ nbsql.text(feature.name) }} AS feature,
  value,
  n,
  CASE WHEN i = j THEN {{ centre_i }} ELSE {{ centre_i }} / scale_i + {{ centre_j }} / scale_j END AS centre,
  CASE WHEN i = j THEN {{ sum_i }} ELSE {{ sum_i }} / scale_i + {{ sum_j }} / scale_j END AS total,
  CASE
    WHEN i = j THEN {{ product }}
    ELSE {{ square_i }} / (scale_i * scale_i) + {{ square_j }} / (scale_j * scale_j) + 2 * {{ product }} / (scale_i * scale_j)
  END AS squares
FROM (
  SELECT scan.*, n{{ i }} AS n, centres{{ i }} AS centres, sums{{ i }} AS sums, products{{ i }} AS products, pairs.*
  FROM (
    SELECT {{ nbsql.class_and_slice(model) }}, n{{ i }}, centres{{ i }}, sums{{ i }}, products{{ i }}
    FROM {{ scan }} AS scan
    WHERE class IS NOT NULL
  ) AS scan
  CROSS JOIN {{ nbsql.subquery(nbsql.column_pairs(feature)) | indent(2) }} AS pairs
) AS sums
{%- endmacro %}

{#
  One row that a fit reads before it counts: spreads (of the first rows of each column), means (to impute), and fourth, for the shrinkage
  of Ledoit and Wolf: by class the mean of |z|^4, where z are the numbers of a row, standardised in the class.
#}
{% macro multivariate_gaussian_question(model, source, feature) -%}
{% set family = feature.family -%}
{% set spreads -%}
{% for column in feature.columns -%}
{% set x %}CAST({{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset -%}
stddev_pop({{ nbsql.finite(x) }}){{ nbsql.comma(loop) }}
{%- endfor %}
{%- endset -%}
{% set means -%}
{% if family.impute -%}
{% for column in feature.columns -%}
{% set finite, weight = nbsql.finite(nbsql.number_of(column)), nbsql.weight(model) if model.spec.weight else none -%}
{% if weight %}sum({{ weight }} * {{ finite }}) / sum(CASE WHEN {{ finite }} IS NOT NULL THEN {{ weight }} END)
{%- else %}avg({{ finite }})
{%- endif %}{{ nbsql.comma(loop) }}
{%- endfor %}
{%- endif %}
{%- endset -%}
{% set power %}label, CAST(fourth AS {{ nbsql.string() }}){% endset -%}
SELECT
  (
    SELECT {{ nbsql.list_of(spreads, nbsql.double()) }}
    FROM (SELECT * FROM {{ source }} AS source LIMIT 500) AS sample
  ) AS spreads,
  (
    SELECT {{ nbsql.list_of(means, nbsql.double()) }}
    {% if family.impute %}
    FROM {{ source }} AS source
    WHERE {{ nbsql.is_counted(model) }}
    {% endif %}
  ) AS means,
  (
    {% if family.ledoit_wolf %}
    SELECT {{ nbsql.ordered_list(nbsql.list_of(power, nbsql.string()), nbsql.word('label')) }} FROM (
      {{ nbsql.fourth_powers(model, source, feature) | indent(6) }}
    ) AS powers
    {%- else %}
    SELECT NULL
    {%- endif +%}
  ) AS fourth
{%- endmacro %}

{#
  One row per class and column or pair of columns of such a feature, and one row for the constant that a class adds to every score: the
  columns of likelihoods (likelihoods.sql).
#}
{% macro multivariate_gaussian_likelihoods(features) -%}
{% for feature in features -%}
{% set family = feature.family -%}
{% set p = feature.columns | length -%}
{% set of_class %}{% if family.shared %}CROSS JOIN{% else %}JOIN{% endif %}{% endset -%}
SELECT *
FROM (
  WITH RECURSIVE {{ nbsql.covariance_steps(feature) | indent(2) }},
  whites AS MATERIALIZED (
    SELECT class, i, j, matrix[j][{{ p }} + i] / sqrt(matrix[j][j]) / nullif(deviations[i], 0) AS white
    FROM whitened
    CROSS JOIN pairs
    WHERE matrix[j][j] > 0
  ),
  peaks AS (
    SELECT class, -0.5 * ({{ p }} * ln({{ nbsql.number(6.283185307179586) }}) + {{ nbsql.log_determinant(p) }}) AS log_peak
    FROM whitened
  )
  {%- if family.shared %},
  middle AS {{ nbsql.subquery(nbsql.middle_of_classes()) | indent(2) }},
  projected AS MATERIALIZED (
    SELECT centres.class, whites.j, sum(whites.white * (centres.means[whites.i] - middle.means[whites.i])) AS z
    FROM centres
    CROSS JOIN middle
    CROSS JOIN whites
    GROUP BY centres.class, whites.j
  )
  {%- endif +%}
  SELECT
    centres.class,
    {{ nbsql.text(feature.name) }} AS feature,
    pairs.value,
    FALSE AS unseen,
    {{ nbsql.null_columns(['likelihood', 'log_likelihood']) | indent(4) }},
    whites.white AS score,
    CASE WHEN pairs.i = pairs.j THEN centres.means[pairs.i] END AS mean,
    covariances.covariance AS variance,
    CAST(NULL AS {{ nbsql.double() }}) AS rate
  FROM centres
  {{ of_class }} covariances {% if not family.shared %}ON covariances.class = centres.class{% endif +%}
  JOIN pairs ON pairs.i = covariances.i AND pairs.j = covariances.j
  LEFT JOIN whites ON whites.class = covariances.class AND whites.i = covariances.i AND whites.j = covariances.j
  UNION ALL
  SELECT
    centres.class,
    {{ nbsql.text(feature.name) }},
    NULL,
    TRUE,
    NULL,
    NULL,
    peaks.log_peak
    {%- if family.shared %} - 0.5 * (
      SELECT sum({{ nbsql.square(nbsql.word('z')) }}) FROM projected WHERE projected.class = centres.class
    )
    {%- endif %},
    NULL,
    NULL,
    NULL
  FROM centres
  {{ of_class }} peaks {% if not family.shared %}ON peaks.class = centres.class{% endif +%}
  {%- if family.shared +%}
  UNION ALL
  SELECT
    projected.class,
    {{ nbsql.text(feature.name) }},
    pairs.value,
    TRUE,
    NULL,
    NULL,
    sum(whites.white * projected.z),
    max(middle.means[pairs.i]),
    NULL,
    NULL
  FROM projected
  JOIN middle ON TRUE
  JOIN whites ON whites.j = projected.j
  JOIN pairs ON pairs.i = whites.i AND pairs.j = whites.i
  GROUP BY projected.class, pairs.value
  {%- endif +%}
) AS likelihoods{{ feature.index }}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  One row, from `entries`: means, a list, the point about which the linear scores are taken. It is the median of the class means of each
  column, weighted by rows. The mean would be drawn by a distant class away from all others, whose scores would then cancel.
#}
{% macro middle_of_classes() -%}
SELECT {{ nbsql.ordered_list(nbsql.word('mean'), nbsql.word('i')) }} AS means
FROM (
  SELECT i, min(mean) AS mean
  FROM (
    SELECT i, mean, 2 * sum(n) OVER (PARTITION BY i ORDER BY mean ASC NULLS LAST) >= sum(n) OVER (PARTITION BY i) AS reached
    FROM entries
    WHERE i = j
  ) AS halves
  WHERE reached
  GROUP BY i
) AS medians
{%- endmacro %}

{% macro multivariate_gaussian_quantities() %}

WHEN 'location' THEN smoothed.mean
{%- endmacro %}

{# One row: n, the number of rows, or their weight, that lack one of the numbers of a feature. #}
{% macro rows_missing_a_number(statistics, feature) -%}
SELECT
  coalesce(sum(CASE WHEN feature IS NULL THEN n END), 0)
    - coalesce(sum(CASE WHEN feature = {{ nbsql.text(feature.name) }} AND value = {{ nbsql.text(feature.column) }} THEN n END), 0) AS n
FROM {{ statistics }} AS statistics
{%- endmacro %}
