{#
  A category v that depends on the class c and on the value u of another column, its parent:

    P(v | u, c) = (n_cuv + alpha) / (n_cu + alpha K)          or, with s for `shrinkage`,  (n_cuv + s P(v | c)) / (n_cu + s)
    P(v | c)    = (n_cv + alpha) / (n_c + alpha K)            where u is missing or was not seen by the fit

  K is the number of values v that any class has seen. The first estimate, Laplace's, is that of Friedman, Geiger and Goldszmidt (Bayesian
  network classifiers, Machine Learning 29, 1997, section 3). The second is their smoothed one, but toward P(v | c) instead of P(v). One
  relation of counts holds both: a value is the JSON text of the list [v, u], or of [v] without a u, and n_cv sums n_cuv over all of
  these. A parent value that no longer occurs in any row of any class counts as never seen.

  An interaction has these likelihoods, and is scored by what the two values say together beyond what each says by itself:

    score = ln ratio,      ratio = (n_cuv + s) / (n_cu P(v | c) + s), and 1 where u is missing or was not seen by the fit
#}

{# The list of the value and the parent's value, as text; NULL where the value is missing and missing is not a value. #}
{% macro conditional_value(feature, relation) -%}
{% set family = feature.family -%}
{% set column, parent = feature.columns[0], feature.columns[1] -%}
{% set child = nbsql.conditional_text(feature, column, relation, family.edges, family.labels) -%}
{% set given = nbsql.conditional_text(feature, parent, relation, family.parent_edges, family.parents) -%}
{% set missing %}{% if family.parent_edges is none %}{{ relation }}.{{ nbsql.ident(parent) }}{% else %}{{ given }}{% endif %}{% endset -%}
{% set with_parent %}{{ child }}, {{ given }}{% endset -%}
CASE
  {%- if family.nulls != 'category' %} WHEN {{ nbsql.conditional_given(feature, relation) }} IS NULL THEN NULL{% endif %}
  {%- if family.has_missing_parent %} WHEN {{ missing }} IS NULL THEN {{ nbsql.json_list(with_parent) }}{% endif %}
  {%- if family.parent_edges is not none %} WHEN {{ given }} IS NOT NULL THEN {{ nbsql.json_list(with_parent) }}
  {%- elif family.parents %} WHEN {{ given }} IN (
  {%- for value in family.parents %}{{ nbsql.text(value) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
) THEN {{ nbsql.json_list(with_parent) }}{% endif %} ELSE {{ nbsql.json_list(child) }} END
{%- endmacro %}

{# An expression that is NULL where the value is missing. #}
{% macro conditional_given(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{% set number %}CAST({{ x }} AS {{ nbsql.double() }}){% endset -%}
{% if feature.family.nulls == 'category' %}TRUE{% elif feature.family.edges is none %}{{ x }}{% else %}{{ nbsql.finite(number) }}{% endif %}
{%- endmacro %}

{# The value of one of the two columns, or of its bin, as text. #}
{% macro conditional_text(feature, column, relation, edges, labels) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
{% if edges is not none -%}
{{ nbsql.bin_of(column, relation, edges, labels) }}
{%- else -%}
{{ nbsql.text_as_fitted(feature, column, column in feature.family.integers, x) }}
{%- endif %}
{%- endmacro %}

{# The parent's values, one row per value, up to one more than the maximum. #}
{% macro conditional_parents(model, source, feature) -%}
{% set x %}source.{{ nbsql.ident(feature.family.parent) }}{% endset -%}
{% set value = nbsql.text_as_fitted(feature, feature.family.parent, feature.family.parent in feature.family.integers, x) -%}
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

{# The values of the parents, a relation: feature, parent. A feature without a parent has no rows. #}
{% macro conditional_vocabulary(features) -%}
{% set nothing %}CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
VALUES
  ({{ nothing }}, {{ nothing }})
  {%- for feature in features %}
  {%- if feature.family.has_missing_parent %},
  ({{ nbsql.text(feature.name) }}, {{ nothing }})
  {%- endif %}
  {%- for value in feature.family.parents %},
  ({{ nbsql.text(feature.name) }}, {{ nbsql.text(value) }})
  {%- endfor %}
  {%- endfor %}
{%- endmacro %}

{#
  The estimates from the relation `counts`, one row per class and value: class, feature, value, unseen, likelihood. Every value is estimated
  with every parent and by itself.
#}
{% macro conditional_estimates(features) -%}
{% set has_ratios = features | selectattr('family.is_ratio') | list | length > 0 -%}
{#- the values of other features are not lists, and an engine may parse them before it filters them out #}
{% set counted %}CASE WHEN counts.feature IN ({{ nbsql.feature_names(features) }}) THEN counts.value END{% endset -%}
{% set child = nbsql.json_list(nbsql.json_element(counted, 0)) -%}
{% set parent = nbsql.json_list(nbsql.json_element(counted, 1)) -%}
{% set of_pair %}{{ nbsql.json_element(nbsql.word('alone.child'), 0) }}, parents.parent{% endset -%}
{% set n %}coalesce(cells.n, 0){% endset -%}
{% set of_alone %}coalesce(values_of.n, 0){% endset -%}
{% set total %}(coalesce(totals.n, 0) + sizes.alpha * sizes.k){% endset -%}
{% set total_of_parent %}(coalesce(of_parents.n, 0) + alone.alpha * alone.k){% endset -%}
WITH options(feature, alpha, shrinkage, smooths) AS (
  {{ nbsql.conditional_options(features) | indent(2) }}
),
vocabulary(feature, parent) AS (
  {{ nbsql.conditional_vocabulary(features) | indent(2) }}
),
parents AS (
  SELECT feature, parent, {{ nbsql.json_list(nbsql.word('parent')) }} AS parent_list FROM vocabulary
),
cells AS (
  SELECT class, feature, child, CASE WHEN value <> child THEN parent END AS parent, n
  FROM (
    SELECT counts.class, counts.feature, counts.value, {{ child }} AS child, {{ parent }} AS parent, counts.n
    FROM counts
    JOIN options ON options.feature = counts.feature
  ) AS listed
),
children AS (
  SELECT feature, child FROM cells GROUP BY feature, child
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
values_of AS (
  SELECT class, feature, child, sum(n) AS n FROM cells GROUP BY class, feature, child
),
totals AS (
  SELECT class, feature, sum(n) AS n FROM cells GROUP BY class, feature
),
of_parents AS (
  SELECT class, feature, parent, sum(n) AS n FROM cells WHERE parent IS NOT NULL GROUP BY class, feature, parent
),
met AS (
  SELECT feature, parent FROM of_parents GROUP BY feature, parent
),
alone AS (
  SELECT
    classes.class,
    sizes.feature,
    children.child,
    sizes.k,
    sizes.alpha,
    sizes.shrinkage,
    {{ nbsql.dirichlet_likelihood(of_alone, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }} AS likelihood
  FROM classes
  JOIN sizes ON TRUE
  JOIN children ON children.feature = sizes.feature
  LEFT JOIN totals ON totals.class = classes.class AND totals.feature = sizes.feature
  LEFT JOIN values_of
    ON values_of.class = classes.class AND values_of.feature = sizes.feature AND values_of.child = children.child
)
SELECT class, feature, child AS value, FALSE AS unseen, likelihood{% if has_ratios %}, 1 AS ratio{% endif %}

FROM alone
UNION ALL
SELECT
  alone.class,
  alone.feature,
  {{ nbsql.json_list(of_pair) }},
  FALSE,
  CASE
    WHEN met.feature IS NULL OR alone.shrinkage + coalesce(of_parents.n, 0) = 0 THEN alone.likelihood
    WHEN alone.shrinkage IS NOT NULL
    THEN ({{ n }} + alone.shrinkage * alone.likelihood) / (coalesce(of_parents.n, 0) + alone.shrinkage)
    ELSE {{ nbsql.dirichlet_likelihood(n, nbsql.word('alone.alpha'), total_of_parent, nbsql.word('alone.k')) }}
  END
  {%- if has_ratios %},
  ({{ n }} + alone.shrinkage) / (coalesce(of_parents.n, 0) * alone.likelihood + alone.shrinkage)
  {%- endif %}

FROM alone
JOIN parents ON parents.feature = alone.feature
LEFT JOIN met ON met.feature = alone.feature AND met.parent = parents.parent_list
LEFT JOIN of_parents
  ON of_parents.class = alone.class AND of_parents.feature = alone.feature AND of_parents.parent = parents.parent_list
LEFT JOIN cells
  ON cells.class = alone.class
  AND cells.feature = alone.feature
  AND cells.child = alone.child
  AND cells.parent = parents.parent_list
UNION ALL
SELECT
  classes.class,
  sizes.feature,
  NULL,
  TRUE,
  {{ nbsql.dirichlet_likelihood(0, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }}{% if has_ratios %}, NULL{% endif %}

FROM classes
JOIN sizes ON sizes.smooths
LEFT JOIN totals ON totals.class = classes.class AND totals.feature = sizes.feature
{%- endmacro %}
