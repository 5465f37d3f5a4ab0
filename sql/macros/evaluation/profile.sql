{# How a feature relates to the classes: values and words by their counts, a number by its density over a histogram. #}

{#
  For categories, words and count columns, one row per class and value, the most frequent values first:

    class, value
    n           how often the value was counted in the class
    share       n of all that was counted in the class
    likelihood  P(value | class), as the model has it
    log_odds    ln P(value | class) / P(value | another class), with the other classes weighted by their priors
    of_value    n over all classes
#}
{% macro profile_of_values(likelihoods, statistics, priors, feature) -%}
WITH {{ nbsql.counted_cells(statistics, [feature]) }},
-- grouped rather than joined: an engine that guesses few rows would compare each with each
said AS (
  SELECT class, value, max(likelihood) AS likelihood, sum(n) AS n
  FROM (
    SELECT class, value, likelihood, {{ nbsql.number(0) }} AS n
    FROM {{ likelihoods }} AS likelihoods
    WHERE feature = {{ nbsql.text(feature.name) }} AND likelihood IS NOT NULL
    UNION ALL
    SELECT class, value, NULL, n
    FROM counts
    WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS parts
  GROUP BY class, value
),
anywhere AS (
  SELECT
    said.class,
    said.value,
    said.likelihood,
    said.n,
    priors.prior,
    sum(priors.prior * said.likelihood) OVER (PARTITION BY said.value) AS anywhere
  FROM said
  JOIN {{ priors }} AS priors ON priors.class = said.class
  WHERE said.likelihood IS NOT NULL
),
-- what rounding leaves of the only class that has a value is nothing
elsewhere AS (
  SELECT
    *,
    CASE WHEN anywhere - prior * likelihood > 1e-15 * anywhere AND prior < 1
      THEN (anywhere - prior * likelihood) / (1 - prior) END AS in_others
  FROM anywhere
)
SELECT
  class,
  value,
  n,
  n / nullif(sum(n) OVER (PARTITION BY class), 0) AS share,
  likelihood,
  CASE WHEN likelihood > 0 AND in_others > 0 THEN ln(likelihood / in_others) END AS log_odds,
  sum(n) OVER (PARTITION BY value) AS of_value
FROM elsewhere
ORDER BY of_value DESC NULLS LAST, value ASC NULLS LAST, class ASC NULLS LAST
{%- endmacro %}

{#
  profile_of_values (a query of it) with only its most frequent values, and the others of each class folded into one row: its columns,
  folded (0 or 1), and how many values a row stands for. least: the minimum count of a value; most: how many values to keep.
#}
{% macro folded_profile(profile, least, most) -%}
SELECT
  class,
  CASE WHEN kept THEN value END AS value,
  CASE WHEN kept THEN 0 ELSE 1 END AS folded,
  count(*) AS how_many,
  sum(n) AS n,
  sum(share) AS share,
  sum(likelihood) AS likelihood,
  max(CASE WHEN kept THEN log_odds END) AS log_odds,
  sum(of_value) AS of_value,
  min(place) AS place
FROM (
  SELECT *, place <= {{ most }} AND of_value >= {{ nbsql.number(least) }} AS kept
  FROM (
    SELECT *, dense_rank() OVER (ORDER BY of_value DESC NULLS LAST, value ASC NULLS LAST) AS place
    FROM {{ nbsql.subquery(profile) | indent(4) }} AS profile
  ) AS placed
) AS parted
GROUP BY class, CASE WHEN kept THEN value END, kept
ORDER BY place ASC NULLS LAST, class ASC NULLS LAST
{%- endmacro %}

{#
  The rows of profile_of_values (a query of it) for the most distinctive words, with two ranks, from 1: place_in_class, of the words for
  the class by their log-odds; and place, of the words by the largest log-odds of a class times the root of the word's count. least: the
  minimum count of a word; of_class, of_all: how many words to keep by each rank.
#}
{% macro distinctive_words(profile, least, of_class, of_all) -%}
SELECT class, value, n, share, likelihood, log_odds, of_value, place_in_class, place
FROM (
  SELECT
    *,
    {% set positive_log_odds %}CASE WHEN log_odds > 0 THEN log_odds END{% endset %}
    rank() OVER (PARTITION BY class ORDER BY {{ positive_log_odds }} DESC NULLS LAST, value ASC NULLS LAST) AS place_in_class,
    dense_rank() OVER (ORDER BY weight DESC NULLS LAST, value ASC NULLS LAST) AS place
  FROM (
    SELECT *, max(coalesce(abs(log_odds), 0)) OVER (PARTITION BY value) * sqrt(of_value) AS weight
    FROM {{ nbsql.subquery(profile) | indent(4) }} AS profile
    WHERE of_value >= {{ nbsql.number(least) }} AND value IS NOT NULL
  ) AS weighed
) AS placed
WHERE place <= {{ of_all }} OR (place_in_class <= {{ of_class }} AND log_odds > 0)
ORDER BY class ASC NULLS LAST, place_in_class ASC NULLS LAST
{%- endmacro %}

{# One row: the least and the largest number of a column, NULL without numbers. #}
{% macro range_of_numbers(source, column) -%}
{% set x = nbsql.finite(nbsql.number_of(column)) -%}
SELECT min({{ x }}) AS least, max({{ x }}) AS largest FROM {{ source }} AS source
{%- endmacro %}

{#
  For a number, one row per class and place:

    class
    part     'density': p(x | class) of its family at `lower`; 'histogram': that of the rows from `lower` up to `upper`;
             'probability': of a zero-inflated number, P(0 | class), at `lower` = 0, where the others have no zeros
    lower, upper
    n        of the histogram: the rows there, by weight
    density  of the histogram: n / (the rows of the class * width); of the part 'probability': that probability

  explained: the query of `explain` over the places, which gives ln p(x | class) of any family, times the weight of the feature in the table
  `weights`, if the model has one weight per feature. histogram: that of the rows, if there are any.
#}
{% macro profile_of_numbers(explained, feature, histogram=none, weights=none) -%}
SELECT class, part, lower, upper, n, density
FROM (
  SELECT
    class,
    {% set is_zero %}CAST(value AS {{ nbsql.double() }}) = 0{% endset %}
    {%+ if feature.family.zeros %}CASE WHEN {{ is_zero }} THEN 'probability' ELSE 'density' END{% else %}'density'{%+ endif %} AS part,
    CAST(value AS {{ nbsql.double() }}) AS lower,
    {{ nbsql.null_columns(['upper', 'n']) | indent(4) }},
    {% set log_density %}contribution{% if weights is not none %} / nullif(weight, {{ nbsql.number(0) }}){% endif %}{% endset %}
    {{ nbsql.exp(log_density) }} AS density
  FROM {{ nbsql.subquery(explained) | indent(2) }} AS explained
  {% if weights is not none %}
  JOIN (SELECT class AS weighted_class, feature AS weighted_feature, weight FROM {{ weights }}) AS weights
    ON weighted_class = class AND weighted_feature = feature
  {% endif %}
  WHERE feature = {{ nbsql.text(feature.name) }}
  {% if histogram is not none %}
  UNION ALL
  SELECT class, 'histogram', lower, upper, n, density
  FROM {{ nbsql.subquery(histogram) | indent(2) }} AS histogram
  {% endif %}
) AS parts
ORDER BY class ASC NULLS LAST, part ASC NULLS LAST, lower ASC NULLS LAST
{%- endmacro %}

{# Places on a line, one row per place: the column x. zero: whether 0 is one of them in any case. #}
{% macro grid_of_numbers(column, low, step, count, zero=false) -%}
{% set place %}{{ nbsql.number(low) }} + {{ nbsql.number(step) }} * place{% endset -%}
(
  SELECT {{ place }} AS {{ nbsql.ident(column) }}
  FROM (
    SELECT {{ nbsql.whole_numbers(0, count) | indent(4) }} AS place
  ) AS places
  {% if zero %}
  WHERE {{ place }} <> 0
  UNION ALL
  SELECT {{ nbsql.number(0) }} AS {{ nbsql.ident(column) }}
  {% endif %}
)
{%- endmacro %}

{# The `most` most frequent values of each of some features that were counted at least `least` times, in this order: feature, value. #}
{% macro frequent_values(statistics, features, least, most) -%}
WITH {{ nbsql.counted_cells(statistics, features) }},
totals AS (
  SELECT feature, value, sum(n) AS n
  FROM counts
  WHERE value IS NOT NULL AND feature IN ({{ nbsql.feature_names(features) }})
  GROUP BY feature, value
),
placed AS (
  SELECT feature, value, row_number() OVER (PARTITION BY feature ORDER BY n DESC NULLS LAST, value ASC NULLS LAST) AS place
  FROM totals
  WHERE n >= {{ nbsql.number(least) }}
)
SELECT feature, value FROM placed WHERE place <= {{ most }} ORDER BY feature ASC NULLS LAST, place ASC NULLS LAST
{%- endmacro %}

{#
  Rows assembled from texts, one row each: nbsql_choice, from 0, and the columns of features. types: of the columns; rows: for each row
  one text a column, none if it is missing. For a bag of tokens it is its only token.
#}
{% macro rows_of_choices(features, types, rows) -%}
(
  {% for row in rows %}
  {% set at = namespace(column=0) %}
  SELECT
    {{ loop.index0 }} AS nbsql_choice
    {%- for feature in features %}{% for column in feature.columns %},
    {% set value = row[at.column] %}
    {% if value is not none and feature.family.bag and not feature.family.over_columns %}{{ nbsql.bag_of_one(feature, nbsql.text(value)) }}
    {%- else %}CAST({% if value is none %}NULL{% else %}{{ nbsql.text(value) }}{% endif %} AS {{ types[at.column] }}){% endif %}
 AS {{ nbsql.ident(column) }}
    {%- set at.column = at.column + 1 %}{% endfor %}{% endfor %}
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor +%}
)
{%- endmacro %}

{# A bag, or a text, that contains a single token once. #}
{% macro bag_of_one(feature, token) -%}
{% if 'tokens' in feature.family.accepts -%}
{{ nbsql.list_of(token, nbsql.string()) }}
{%- elif 'token counts' in feature.family.accepts -%}
{{ nbsql.map_of_one(token) }}
{%- else -%}
{{ token }}
{%- endif %}
{%- endmacro %}

{#
  One row per class and bin of a number of a source: class, lower, upper, n, density. Rows below `low` or beyond the last bin are left out,
  and without `zeros` those of exactly 0, which count for the density all the same.
#}
{% macro histogram(model, source, column, low, width, bins, zeros) -%}
{% set x = nbsql.number_of(column) -%}
{% set binned %}{% if zeros %}{{ nbsql.finite(x) }}{% else %}nullif({{ nbsql.finite(x) }}, 0){% endif %}{% endset -%}
{% set bin %}floor((({{ binned }}) - {{ nbsql.number(low) }}) / {{ nbsql.number(width) }}){% endset -%}
SELECT
  class,
  {{ nbsql.number(low) }} + {{ nbsql.number(width) }} * bin AS lower,
  {{ nbsql.number(low) }} + {{ nbsql.number(width) }} * (bin + 1) AS upper,
  CAST(n AS {{ nbsql.double() }}) AS n,
  CAST(n AS {{ nbsql.double() }}) / (of_class * {{ nbsql.number(width) }}) AS density
FROM (
  SELECT class, bin, n, sum(n) OVER (PARTITION BY class) AS of_class
  FROM (
    SELECT
      {{ nbsql.target(model) }} AS class,
      {{ bin }} AS bin,
      {%+ if model.spec.weight %}sum({{ nbsql.weight(model) }}){% else %}count(*){%+ endif %} AS n
    FROM {{ source }} AS source
    WHERE source.{{ nbsql.ident(model.spec.target) }} IS NOT NULL AND {{ nbsql.finite(x) }} IS NOT NULL
    {%- if model.spec.weight %} AND {{ nbsql.counts_by_weight(model) }}{% endif +%}
    GROUP BY {{ nbsql.target(model) }}, {{ bin }}
  ) AS counted
) AS bins
WHERE bin BETWEEN 0 AND {{ bins - 1 }}
{%- endmacro %}

{# The likelihoods of a feature, one row per class and value: class, value, mean, variance, rate. #}
{% macro likelihoods_of(likelihoods, feature) -%}
SELECT class, value, mean, variance, rate
FROM {{ likelihoods }} AS likelihoods
WHERE feature = {{ nbsql.text(feature) }}
ORDER BY class ASC NULLS LAST, value ASC NULLS LAST
{%- endmacro %}

{# The first and the last grid cell in which a class's kernel density is above a five hundredth of its maximum. #}
{% macro reach_of_kernel(likelihoods, feature) -%}
{% set value = nbsql.word('value') -%}
SELECT min(cell) AS first_cell, max(cell) AS last_cell
FROM (
  SELECT {{ nbsql.cell_number(value) }} AS cell, likelihood, max(likelihood) OVER (PARTITION BY class) AS highest
  FROM {{ likelihoods }} AS likelihoods
  WHERE feature = {{ nbsql.text(feature) }}
) AS cells
WHERE likelihood > 0.002 * highest
{%- endmacro %}
