{#
  Categories, tokens and count columns, with a Dirichlet prior on their probabilities (a Beta prior for two):

    P(v | c) = (n_cv + alpha_v) / (n_c + sum of alpha)

  This is the mean of the posterior distribution. Its mode, (n_cv + alpha_v - 1) / (n_c + sum of alpha - K), is the same with
  pseudo-counts of one less, and the families pass these (Gelman et al., Bayesian Data Analysis, section 3.4). n_c is the sum of n_cv over
  the values, so it counts only values that are present. A class without any has 1 / K, the limit of smoothing. A token that occurs fewer
  than `min_count` times in all is not a value.
#}
{% macro dirichlet_likelihoods(features) -%}
SELECT
  {{ nbsql.likelihood_columns(unseen=nbsql.word('unseen')) | indent(2) }}
FROM {{ nbsql.subquery(nbsql.dirichlet_estimates(features, nbsql.word('counts'))) }} AS estimates
{%- endmacro %}

{# The options of counted features, a relation: options(feature, alpha, min_count). #}
{% macro options_of_counts(features) -%}
{% call(feature, _) nbsql.constants(features, 'options', ['feature', 'alpha', 'min_count']) -%}
{{ nbsql.option_values(feature) }}
{%- endcall %}
{%- endmacro %}

{# The options of a counted feature, elements of a row: its name, the pseudo-count of a value, and the minimum count of a value. #}
{% macro option_values(feature) -%}
{{ nbsql.text(feature.name) }}, {{ nbsql.number(feature.family.added_count) }}, {{ feature.family.least_count }}
{%- endmacro %}

{#
  The estimates from a relation of counts, which are those of each class or of all other classes: class, feature, value, unseen,
  likelihood. The values are those that any class has seen. The query is fenced, because an engine that filters it by one feature
  underestimates its rows and would search all counts for each value of each class.
#}
{% macro dirichlet_estimates(features, evidence) -%}
{% set n %}coalesce(counts.n, 0){% endset -%}
{% set k %}denominators.k{% endset -%}
{% set declared = features | selectattr('family.declared') | list -%}
{% set limited = features | selectattr('family.least_count') | list -%}
{% set smoothed = features | selectattr('family.unseen', 'equalto', 'smooth') | list -%}
WITH options AS (
  SELECT * FROM {% call(feature, _) nbsql.constants(features, 'options', ['feature', 'alpha', 'min_count', 'smooths'], 2) -%}
{{ nbsql.option_values(feature) }}, {{ nbsql.boolean(feature.family.unseen == 'smooth') }}
{%- endcall +%}
),
{% if declared %}values_of{% else %}pseudo_counts{% endif %} AS (
  SELECT counts.feature, counts.value, max(options.alpha) AS alpha
  FROM counts
  JOIN options ON options.feature = counts.feature
  GROUP BY counts.feature, counts.value
  {% if limited %}
  HAVING sum(counts.n) >= max(options.min_count)
  {% endif %}
),
{% if declared %}
pseudo_counts AS (
  SELECT feature, value, coalesce(max(declared_alpha), max(alpha)) AS alpha
  FROM (
    SELECT feature, value, alpha, CAST(NULL AS {{ nbsql.double() }}) AS declared_alpha FROM values_of
    UNION ALL
    SELECT feature, value, alpha, alpha
    FROM {{ nbsql.declared_values(declared) | indent(4) }}
  ) AS seen_or_declared
  GROUP BY feature, value
),
{% endif %}
sizes AS (
  SELECT
    pseudo_counts.feature,
    sum(pseudo_counts.alpha) AS alpha,
    {% if smoothed %}
    max(options.alpha) AS unseen_alpha,
    {{ nbsql.any_true(nbsql.word('options.smooths')) }} AS smooths,
    {% endif %}
    count(*) AS k
  FROM pseudo_counts
  {% if smoothed %}
  JOIN options ON options.feature = pseudo_counts.feature
  {% endif %}
  GROUP BY pseudo_counts.feature
),
totals AS (
  SELECT counts.class, counts.feature, sum(counts.n) AS n
  FROM {{ evidence }} AS counts
  {% if limited %}
  JOIN pseudo_counts AS kept ON kept.feature = counts.feature AND {{ nbsql.same_value(nbsql.word('kept'), nbsql.word('counts')) }}
  {% else %}
  JOIN options ON options.feature = counts.feature
  {% endif %}
  GROUP BY counts.class, counts.feature
),
denominators AS (
  SELECT
    classes.class,
    sizes.feature,
    coalesce(totals.n, 0) + sizes.alpha AS n,
    {% if smoothed %}
    sizes.unseen_alpha,
    sizes.smooths,
    {% endif %}
    sizes.k
  FROM classes
  JOIN sizes ON TRUE
  LEFT JOIN totals ON totals.class = classes.class AND totals.feature = sizes.feature
)
SELECT
  denominators.class,
  denominators.feature,
  pseudo_counts.value,
  FALSE AS unseen,
  {{ nbsql.dirichlet_likelihood(n, nbsql.word('pseudo_counts.alpha'), nbsql.word('denominators.n'), k) }} AS likelihood
FROM denominators
JOIN pseudo_counts ON pseudo_counts.feature = denominators.feature
LEFT JOIN {{ evidence }} AS counts
  ON counts.class = denominators.class
  AND counts.feature = pseudo_counts.feature
  AND {{ nbsql.same_value(nbsql.word('counts'), nbsql.word('pseudo_counts')) }}
{%- if smoothed +%}
UNION ALL
SELECT
  class,
  feature,
  NULL,
  TRUE,
  {{ nbsql.dirichlet_likelihood(0, nbsql.word('unseen_alpha'), nbsql.word('n'), nbsql.word('k')) }}
FROM denominators
WHERE smooths
{%- endif %}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{# n: the count of a value in a class; total: of the class, with all pseudo-counts; k: the number of values. #}
{% macro dirichlet_likelihood(n, alpha, total, k) -%}
CASE WHEN {{ total }} > 0 THEN ({{ n }} + {{ alpha }}) / {{ total }} ELSE 1 / CAST({{ k }} AS {{ nbsql.double() }}) END
{%- endmacro %}

{# The declared values, one row per feature and value: feature, value, and alpha, the number added to its count. #}
{% macro declared_values(features) -%}
{% set rows -%}
{% for feature in features -%}
{% for value, alpha in feature.family.declared -%}
({{ nbsql.text(feature.name) }}, {{ nbsql.text(value) }}, {{ nbsql.number(alpha) }}){{ nbsql.comma_line(loop) }}
{%- endfor %}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endset -%}
{{ nbsql.named_values(rows, 'declared', ['feature', 'value', 'alpha']) }}
{%- endmacro %}
