{#
  Models of given probabilities. Their cells hold the given numbers instead of counts, so that they are read like those of any other
  model:

    class    n is the prior
    value    n is the likelihood; if its logarithm was given, which may have any sign, m2 is that
    pair     of numbers with a covariance matrix: n is 1, and mean and m2 are as in families/multivariate_gaussian.sql
    number   mean and m2 are the mean and the variance; or mean is the rate, and m2 is NULL
#}

{# One row per class of a dictionary of priors: class, label, prior. #}
{% macro given_prior_rows(rows, type) -%}
{% set class %}CAST(label AS {{ type }}){% endset -%}
SELECT {{ nbsql.as_label(class, type) }} AS class, label{{ nbsql.binary() }} AS label, CAST(prior AS {{ nbsql.double() }}) AS prior
FROM {% call(row, _) nbsql.constants(rows, 'given', ['label', 'prior']) %}{{ nbsql.text(row[0]) }}, {{ nbsql.number(row[1]) }}{% endcall +%}
{%- endmacro %}

{# One row per given label: class, label, prior. #}
{% macro given_priors_of(relation, type) -%}
SELECT
  {{ nbsql.as_label(nbsql.word('source.class'), type) }} AS class,
  {{ nbsql.text_of(nbsql.word('source.class')) }} AS label,
  CAST(source.prior AS {{ nbsql.double() }}) AS prior
FROM {{ relation }} AS source
{%- endmacro %}

{#
  The likelihoods of a dictionary: label, feature, value, likelihood, log_likelihood, mean, variance, rate. A value may be a list, and a
  covariance is stored as the variance of a pair of columns.
#}
{% macro given_likelihood_rows(rows) -%}
SELECT
  {{ nbsql.text_of(nbsql.word('label')) }} AS label,
  {{ nbsql.text_of(nbsql.word('feature')) }} AS feature,
  {{ nbsql.text_of(nbsql.word('value')) }} AS value,
  {{ nbsql.given_numbers(['likelihood', 'log_likelihood', 'mean', 'variance', 'rate'], 'given') }}
FROM (
  VALUES
    {% for row in rows %}
    ({{ nbsql.text(row.label) }}, {{ nbsql.text(row.feature) }}, {{ nbsql.given_value(row.value) }}
    {%- for column in ['likelihood', 'log_likelihood', 'mean', 'variance', 'rate'] -%}
    , {% if row[column] is none %}NULL{% else %}{{ nbsql.number(row[column]) }}{% endif %}
    {%- endfor %}),
    {% endfor %}
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
) AS given(label, feature, value, likelihood, log_likelihood, mean, variance, rate)
WHERE label IS NOT NULL
{%- endmacro %}

{# The numbers of a row of likelihoods. If only the logarithm is given, the likelihood is computed from it. #}
{% macro given_numbers(columns, row) -%}
{% set log -%}
{% if 'log_likelihood' in columns %}CAST({{ nbsql.word(row) }}.log_likelihood AS {{ nbsql.double() }}){% else %}NULL{% endif %}
{%- endset -%}
{% for column in ['likelihood', 'log_likelihood', 'mean', 'variance', 'rate'] -%}
{% set number %}{% if column in columns %}{{ nbsql.word(row) }}.{{ nbsql.word(column) }}{% else %}NULL{% endif %}{% endset -%}
{% set given %}CAST({{ number }} AS {{ nbsql.double() }}){% endset -%}
{% if not loop.first %}  {% endif -%}
{% if column == 'likelihood' and 'log_likelihood' in columns -%}
coalesce({{ given }}, CASE WHEN {{ log }} > 709 THEN {{ nbsql.infinity() }} ELSE {{ nbsql.exp(log) }} END)
{%- else %}{{ given }}
{%- endif %} AS {{ nbsql.word(column) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# A value as text. Values of several columns are a JSON list of texts or NULLs. #}
{% macro given_value(value) -%}
{% if value is none %}NULL
{%- elif value is string %}{{ nbsql.text(value) }}
{%- else %}
{%- set parts -%}
{% for part in value %}{% if part is none %}NULL{% else %}{{ nbsql.text(part) }}{% endif %}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
{{ nbsql.json_list(parts) }}
{%- endif %}
{%- endmacro %}

{#
  The likelihoods of a relation. Missing columns are NULL, and a value may be a list of texts. A frame with a missing value has doubles for
  whole numbers: if all values of a feature are whole, they lose their points. kind: of the column `value`, none if there is no such column.
#}
{% macro given_likelihoods_of(relation, columns, kind) -%}
SELECT
  {{ nbsql.text_of(nbsql.word('source.class')) }} AS label,
  {{ nbsql.text_of(nbsql.word('source.feature')) }} AS feature,
  {% set value -%}
  {% if 'value' not in columns %}NULL
  {%- elif kind == 'tokens' %}CASE WHEN source.value IS NOT NULL THEN to_json(source.value) END
  {%- elif kind in ['float', 'decimal'] -%}
  CASE
    WHEN max(CASE WHEN source.value <> floor(source.value) OR abs(source.value) > 1e37 THEN 1 ELSE 0 END)
      OVER (PARTITION BY source.feature) = 0
      THEN CAST(CAST(source.value AS DECIMAL(38, 0)) AS {{ nbsql.string() }})
    ELSE {{ nbsql.untyped_as_text(nbsql.word('source.value')) }}
  END
  {%- else %}source.value
  {%- endif %}
  {%- endset %}
  {{ nbsql.text_of(value) }} AS value,
  {{ nbsql.given_numbers(columns, 'source') }}
FROM {{ relation }} AS source
{%- endmacro %}

{# One row per class, feature and column or pair of columns: label, feature, value, mean, covariance. #}
{% macro given_covariances(given) -%}
SELECT label, feature, value, mean, variance
FROM {{ given }} AS given
WHERE value IS NOT NULL AND variance IS NOT NULL AND feature IS NOT NULL
ORDER BY feature ASC NULLS LAST, label ASC NULLS LAST, value ASC NULLS LAST
{%- endmacro %}

{# The likelihoods, with the covariances replaced by the cells of pairs of numbers. #}
{% macro with_given_pairs(given, rows) -%}
SELECT * FROM {{ given }} AS given WHERE value IS NULL OR variance IS NULL OR feature IS NULL
UNION ALL
{{ nbsql.given_likelihood_rows(rows) }}
{%- endmacro %}

{# One row per label: label, times (how often it is given), prior. #}
{% macro given_prior_check(classes) -%}
SELECT label, count(*) AS times, max(prior) AS prior
FROM {{ classes }} AS classes
GROUP BY label
ORDER BY label ASC NULLS FIRST
{%- endmacro %}

{# The rows that may be wrong, the first of them first. #}
{% macro given_likelihood_check(given) -%}
SELECT label, feature, value, count(*) AS times, max(likelihood), max(mean), max(variance), max(rate), max(log_likelihood)
FROM {{ given }} AS given
GROUP BY label, feature, value
HAVING count(*) > 1
  OR NOT coalesce(max(log_likelihood) < {{ nbsql.infinity() }}, max(likelihood) BETWEEN 0 AND 1, TRUE)
  OR NOT coalesce(abs(max(mean)) < {{ nbsql.infinity() }}, TRUE)
  OR NOT coalesce(max(variance) > 0 AND max(variance) < {{ nbsql.infinity() }}, TRUE)
  OR NOT coalesce(max(rate) > 0 AND max(rate) <= 1, TRUE)
  OR NOT coalesce(max(mean) > 0 AND max(variance) < max(mean) * (1 - max(mean)), TRUE)
ORDER BY feature ASC NULLS LAST, label ASC NULLS LAST, value ASC NULLS LAST
{%- endmacro %}

{#
  One row per feature, value and kind, in the order of the features: feature, value, and how the rows describe a distribution: values,
  moments, covariance or rate; NULL if it is none of these.
#}
{% macro given_features(given) -%}
SELECT DISTINCT
  feature,
  value,
  CASE
    WHEN likelihood IS NOT NULL AND mean IS NULL AND variance IS NULL AND rate IS NULL THEN 'values'
    WHEN likelihood IS NULL AND value IS NULL AND mean IS NOT NULL AND variance IS NOT NULL AND rate IS NULL THEN 'moments'
    WHEN likelihood IS NULL AND mean IS NOT NULL AND variance IS NOT NULL AND rate IS NULL THEN 'covariance'
    WHEN likelihood IS NULL AND value IS NULL AND variance IS NULL AND rate IS NOT NULL THEN 'rate'
  END AS kind
FROM {{ given }} AS given
ORDER BY feature ASC NULLS LAST
{%- endmacro %}

{# One row per label and feature: label, feature, total (the sum of its likelihoods; NULL if it has none, or their logarithms). #}
{% macro given_sums(given) -%}
SELECT label, feature, CASE WHEN max(log_likelihood) IS NULL THEN sum(likelihood) END AS total
FROM {{ given }} AS given
GROUP BY label, feature
ORDER BY feature ASC NULLS FIRST, label ASC NULLS FIRST
{%- endmacro %}

{# One row per feature whose logarithms were given, which need not be those of probabilities: feature. #}
{% macro given_logarithms(statistics) -%}
SELECT DISTINCT feature
FROM {{ statistics }} AS statistics
WHERE value IS NOT NULL AND mean IS NULL AND m2 IS NOT NULL
ORDER BY feature ASC NULLS LAST
{%- endmacro %}

{# The cells of a model of given probabilities. #}
{% macro given_cells(classes, given) -%}
SELECT
  {{ nbsql.no_text() }} AS slice,
  class,
  {{ nbsql.no_text() }} AS feature,
  {{ nbsql.no_text() }} AS value,
  prior AS n,
  {{ nbsql.null_columns(['mean', 'm2']) | indent(2) }},
  '1' AS batch
FROM {{ classes }} AS classes
UNION ALL
SELECT NULL, classes.class, given.feature, given.value, coalesce(given.likelihood, 1), coalesce(given.rate, given.mean),
  coalesce(given.variance, given.log_likelihood), '1'
FROM {{ given }} AS given
JOIN {{ classes }} AS classes ON classes.label = given.label
{%- endmacro %}

{# The given priors. Nothing was counted. #}
{% macro given_priors(statistics) -%}
SELECT class, CAST(NULL AS {{ nbsql.double() }}) AS n, n AS prior, {{ nbsql.safe_ln(nbsql.word('n')) }} AS log_prior
FROM {{ statistics }} AS statistics
WHERE feature IS NULL
{%- endmacro %}

{# The given likelihoods, as `smoothed_likelihoods` (likelihoods.sql) has estimated ones. A value without a likelihood in a class has 0. #}
{% macro given_likelihoods(statistics, priors, features) -%}
{% set geometric = features | selectattr('family.name', 'equalto', 'geometric') | list -%}
SELECT
  class,
  feature,
  value,
  FALSE AS unseen,
  likelihood,
  {% set logarithm %}coalesce(log_likelihood, {{ nbsql.safe_ln(nbsql.word('likelihood')) }}){% endset %}
  {{ logarithm }} AS log_likelihood,
  {{ logarithm }} AS score,
  CASE
    WHEN m2 IS NOT NULL THEN mean
    {% if geometric %}
    WHEN feature IN ({{ nbsql.feature_names(geometric) }}) THEN (1 - mean) / mean
    {% endif %}
  END AS mean,
  m2 AS variance,
  CASE WHEN m2 IS NULL THEN mean END AS rate
FROM (
  SELECT
    classes.class,
    levels.feature,
    levels.value,
    CASE WHEN NOT levels.is_number THEN coalesce(cells.n, 0) END AS likelihood,
    CASE WHEN NOT levels.is_number THEN cells.m2 END AS log_likelihood,
    cells.mean,
    CASE WHEN levels.is_number THEN cells.m2 END AS m2
  FROM {{ priors }} AS classes
  JOIN (
    SELECT DISTINCT feature, value, mean IS NOT NULL AS is_number
    FROM {{ statistics }} AS statistics
    WHERE feature IN ({{ nbsql.feature_names(features) }})
  ) AS levels ON TRUE
  LEFT JOIN {{ statistics }} AS cells
    ON cells.class = classes.class AND cells.feature = levels.feature AND cells.value IS NOT DISTINCT FROM levels.value
) AS given
{%- endmacro %}
