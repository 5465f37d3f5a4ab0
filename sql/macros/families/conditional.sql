{#
  A category v that depends on the class c and on the value u of another column, its parent:

    P(v | u, c) = (n_cuv + alpha) / (n_cu + alpha K)          or, with s for `shrinkage`,  (n_cuv + s P(v | c)) / (n_cu + s)
    P(v | c)    = (n_cv + alpha) / (n_c + alpha K)            where u is missing or was not seen by the fit

  K is the number of values v that any class has seen. The first estimate, Laplace's, is that of Friedman, Geiger and Goldszmidt (Bayesian
  network classifiers, Machine Learning 29, 1997, section 3). The second is their smoothed one, but toward P(v | c) instead of P(v). With
  further parents, P(v | u, w, c) follows from P(v | u, c) as that from P(v | c) (Sahami, Learning limited dependence Bayesian classifiers,
  KDD 1996). One relation of counts holds all: a value is the JSON text of the list [v, u, w], of [v, u] without a w, or of [v] without a u,
  and n_cv sums all of these. Values of parents that no longer occur together in any row count as never seen.

  An interaction has these likelihoods, and is scored by what the two values say together beyond what each says by itself:

    score = ln ratio,      ratio = (n_cuv + s) / (n_cu P(v | c) + s), and 1 where u is missing or was not seen by the fit
#}

{# The list of the value and the parents' values up to the first that is not known; NULL where the value is missing and that is no value. #}
{% macro conditional_value(feature, relation) -%}
{% set family = feature.family -%}
CASE
  {%- if family.nulls != 'category' %} WHEN {{ nbsql.conditional_given(feature, relation) }} IS NULL THEN NULL{% endif %}
  {%- for parent in family.all_parents %}
  {%- set depth = loop.revindex %} WHEN {% for parent in family.all_parents[:depth] -%}
  {{ nbsql.is_known_parent(feature, parent, relation) }}{% if not loop.last %} AND {% endif %}
  {%- endfor %} THEN {{ nbsql.json_list(nbsql.texts_of_value_and_parents(feature, relation, depth)) }}
  {%- endfor %} ELSE {{ nbsql.json_list(nbsql.texts_of_value_and_parents(feature, relation, 0)) }} END
{%- endmacro %}

{# The value and those of the first `depth` parents, separated by commas. #}
{% macro texts_of_value_and_parents(feature, relation, depth) -%}
{% set family = feature.family -%}
{{ nbsql.conditional_text(feature, feature.column, relation, family.edges, family.labels) }}
{%- for parent in family.all_parents[:depth] -%}
, {{ nbsql.conditional_text(feature, parent.column, relation, parent.edges, parent.labels) }}
{%- endfor %}
{%- endmacro %}

{# Whether the fit has seen the value of a parent. #}
{% macro is_known_parent(feature, parent, relation) -%}
{% set given = nbsql.conditional_text(feature, parent.column, relation, parent.edges, parent.labels) -%}
{% set missing %}{% if parent.edges is none %}{{ relation }}.{{ nbsql.ident(parent.column) }}{% else %}{{ given }}{% endif %}{% endset -%}
{% set is_listed -%}
{% if parent.edges is not none %}{{ given }} IS NOT NULL{% elif parent.labels %}{{ given }} IN (
  {%- for value in parent.labels %}{{ nbsql.text(value) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
){% endif %}
{%- endset -%}
{% set is_missing %}{% if feature.family.has_missing(parent) %}{{ missing }} IS NULL{% endif %}{% endset -%}
{% if is_missing | length and is_listed | length %}({{ is_missing }} OR {{ is_listed }})
{%- else %}{{ is_missing }}{{ is_listed }}{% if not is_missing | length + is_listed | length %}FALSE{% endif %}
{%- endif %}
{%- endmacro %}

{# An expression that is NULL where the value is missing. #}
{% macro conditional_given(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{% set number %}CAST({{ x }} AS {{ nbsql.double() }}){% endset -%}
{% if feature.family.nulls == 'category' %}TRUE{% elif feature.family.edges is none %}{{ x }}{% else %}{{ nbsql.finite(number) }}{% endif %}
{%- endmacro %}

{# The value of one of the columns, or of its bin, as text. #}
{% macro conditional_text(feature, column, relation, edges, labels) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
{% if edges is not none -%}
{{ nbsql.bin_of(column, relation, edges, labels) }}
{%- else -%}
{{ nbsql.text_as_fitted(feature, column, column in feature.family.integers, x) }}
{%- endif %}
{%- endmacro %}

{# The values of the first parent whose values are not known yet, one row per value, up to one more than the maximum. #}
{% macro conditional_parents(model, source, feature) -%}
{% set parent = feature.family.unknown_parent -%}
{% set x %}source.{{ nbsql.ident(parent) }}{% endset -%}
{% set value = nbsql.text_as_fitted(feature, parent, parent in feature.family.integers, x) -%}
SELECT DISTINCT {{ value }} AS value
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }} AND {{ x }} IS NOT NULL
ORDER BY value ASC NULLS LAST
LIMIT 1001
{%- endmacro %}

{# One row per class and value: the columns of likelihoods (likelihoods.sql). #}
{% macro conditional_likelihoods(features) -%}
{% set ratios = features | selectattr('family.is_ratio') | list -%}
{% set score -%}
CASE WHEN feature IN ({{ nbsql.feature_names(ratios) }}) THEN ln(ratio) ELSE {{ nbsql.safe_ln(nbsql.word('likelihood')) }} END
{%- endset -%}
SELECT
  {{ nbsql.likelihood_columns(score=score if ratios else none, unseen=nbsql.word('unseen')) | indent(2) }}
FROM (
  {{ nbsql.conditional_estimates(features) | indent(2) }}
) AS estimates
{%- endmacro %}

{# The options of such features, a relation: feature, alpha, shrinkage, smooths. #}
{% macro conditional_options(features) -%}
VALUES
  {% for feature in features %}
  {% set shrinkage = nbsql.nullable_double(feature.family.shrinkage) %}
  {% set smooths = nbsql.boolean(feature.family.unseen == 'smooth') %}
  ({{ nbsql.text(feature.name) }}, {{ nbsql.number(feature.family.added_count) }}, {{ shrinkage }}, {{ smooths }}){{ nbsql.comma(loop) }}
  {% endfor %}
{%- endmacro %}

{# The values of the parents, a relation: feature, place (of the parent, from 1), parent. A feature without a parent has no rows. #}
{% macro conditional_vocabulary(features) -%}
VALUES
  ({{ nbsql.no_text() }}, 0, {{ nbsql.no_text() }})
  {%- for feature in features %}
  {%- for parent in feature.family.all_parents %}
  {%- set place = loop.index %}
  {%- if feature.family.has_missing(parent) %},
  ({{ nbsql.text(feature.name) }}, {{ place }}, {{ nbsql.no_text() }})
  {%- endif %}
  {%- for value in parent.labels | unique(true) %},
  ({{ nbsql.text(feature.name) }}, {{ place }}, {{ nbsql.text(value) }})
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
{%- endmacro %}

{# The columns of a value and of its parents' values up to a depth, and of the latter alone. #}
{% macro conditional_prefix(depth) -%}
child{% for place in range(1, depth + 1) %}, parent_{{ place }}{% endfor %}
{%- endmacro %}

{% macro conditional_context(depth) -%}
{% for place in range(1, depth + 1) %}parent_{{ place }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{#
  The estimates from the relation `counts`, one row per class and value: class, feature, value, unseen, likelihood. Every value is estimated
  by itself and with all values of the first parent, of the first two, and so on: level_0, level_1, ...
#}
{% macro conditional_estimates(features) -%}
{% set has_ratios = features | selectattr('family.is_ratio') | list | length > 0 -%}
{#- the values of other features are not lists, and an engine may parse them before it filters them out #}
{% set counted %}CASE WHEN counts.feature IN ({{ nbsql.feature_names(features) }}) THEN counts.value END{% endset -%}
{% set depth = features | map(attribute='family.parent_names') | map('length') | max -%}
{% set n %}coalesce(cells.n, 0){% endset -%}
{% set total %}(coalesce(totals.n, 0) + sizes.alpha * sizes.k){% endset -%}
{% set total_of_parents %}(coalesce(totals.n, 0) + before.alpha * before.k){% endset -%}
WITH options(feature, alpha, shrinkage, smooths) AS (
  {{ nbsql.conditional_options(features) | indent(2) }}
),
vocabulary(feature, place, parent) AS (
  {{ nbsql.conditional_vocabulary(features) | indent(2) }}
),
listed AS (
  SELECT
    counts.class,
    counts.feature,
    counts.value,
    {{ nbsql.json_element(counted, 0) }} AS child,
    {% for place in range(1, depth + 1) %}
    {{ nbsql.json_element(counted, place) }} AS parent_{{ place }},
    {% endfor %}
    counts.n
  FROM counts
  JOIN options ON options.feature = counts.feature
),
{% for place in range(0, depth + 1) %}
{#- of the rows that have so many parents #}
cells_{{ place }} AS (
  SELECT
    class,
    feature,
    {{ nbsql.json_list(nbsql.conditional_prefix(place)) }} AS value,
    {% if place %}
    {{ nbsql.json_list(nbsql.conditional_context(place)) }} AS context,
    {% else %}
    child,
    {% endif %}
    sum(n) AS n
  FROM listed
  {% if place %}
  WHERE
    {%- for shorter in range(0, place) %}
    {%- if not loop.first %} AND{% endif %} value <> {{ nbsql.json_list(nbsql.conditional_prefix(shorter)) }}
    {%- endfor +%}
  {% endif %}
  GROUP BY class, feature, {{ nbsql.conditional_prefix(place) }}
),
totals_{{ place }} AS (
  SELECT class, feature{% if place %}, context{% endif %}, sum(n) AS n
  FROM cells_{{ place }}
  GROUP BY class, feature{% if place %}, context{% endif +%}
),
{% endfor %}
children AS (
  SELECT feature, value, child FROM cells_0 GROUP BY feature, value, child
),
sizes AS (
  SELECT
    options.feature,
    count(*) AS k,
    max(options.alpha) AS alpha,
    max(options.shrinkage) AS shrinkage,
    bool_or(options.smooths) AS smooths
  FROM children
  JOIN options ON options.feature = children.feature
  GROUP BY options.feature
),
level_0 AS (
  SELECT
    classes.class,
    sizes.feature,
    children.child,
    children.value,
    sizes.k,
    sizes.alpha,
    sizes.shrinkage,
    {{ nbsql.dirichlet_likelihood(n, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }} AS likelihood
    {%- if has_ratios %},
    1 AS ratio
    {%- endif +%}
  FROM classes
  JOIN sizes ON TRUE
  JOIN children ON children.feature = sizes.feature
  LEFT JOIN totals_0 AS totals ON totals.class = classes.class AND totals.feature = sizes.feature
  LEFT JOIN cells_0 AS cells
    ON cells.class = classes.class AND cells.feature = sizes.feature AND cells.value = children.value
){% for place in range(1, depth + 1) %},
keys_{{ place }} AS (
  SELECT
    class,
    feature,
    {{ nbsql.conditional_prefix(place) }},
    k,
    alpha,
    shrinkage,
    {{ nbsql.json_list(nbsql.conditional_prefix(place)) }} AS value,
    {{ nbsql.json_list(nbsql.conditional_context(place)) }} AS context,
    likelihood
  FROM (
    SELECT before.*, vocabulary.parent AS parent_{{ place }}
    FROM level_{{ place - 1 }} AS before
    JOIN vocabulary ON vocabulary.feature = before.feature AND vocabulary.place = {{ place }}
  ) AS extended
),
met_{{ place }} AS (
  SELECT feature, context FROM totals_{{ place }} GROUP BY feature, context
),
level_{{ place }} AS (
  SELECT
    before.class,
    before.feature,
    before.child,
    {% for number in range(1, place + 1) %}
    before.parent_{{ number }},
    {% endfor %}
    before.value,
    before.k,
    before.alpha,
    before.shrinkage,
    CASE
      WHEN met.feature IS NULL OR before.shrinkage + coalesce(totals.n, 0) = 0 THEN before.likelihood
      WHEN before.shrinkage IS NOT NULL
      THEN ({{ n }} + before.shrinkage * before.likelihood) / (coalesce(totals.n, 0) + before.shrinkage)
      ELSE {{ nbsql.dirichlet_likelihood(n, nbsql.word('before.alpha'), total_of_parents, nbsql.word('before.k')) }}
    END AS likelihood
    {%- if has_ratios %},
    ({{ n }} + before.shrinkage) / (coalesce(totals.n, 0) * before.likelihood + before.shrinkage) AS ratio
    {%- endif +%}
  FROM keys_{{ place }} AS before
  LEFT JOIN met_{{ place }} AS met ON met.feature = before.feature AND met.context = before.context
  LEFT JOIN totals_{{ place }} AS totals
    ON totals.class = before.class AND totals.feature = before.feature AND totals.context = before.context
  LEFT JOIN cells_{{ place }} AS cells
    ON cells.class = before.class AND cells.feature = before.feature AND cells.value = before.value
){% endfor +%}
{% for place in range(0, depth + 1) %}
SELECT class, feature, value, FALSE AS unseen, likelihood{% if has_ratios %}, ratio{% endif +%}
FROM level_{{ place }}
UNION ALL
{% endfor %}
SELECT
  classes.class,
  sizes.feature,
  NULL,
  TRUE,
  {{ nbsql.dirichlet_likelihood(0, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }}{% if has_ratios %}, NULL{% endif +%}
FROM classes
JOIN sizes ON sizes.smooths
LEFT JOIN totals_0 AS totals ON totals.class = classes.class AND totals.feature = sizes.feature
{%- endmacro %}
