{#
  What the counts of values that depend on others say of them (conditional.sql): smoothed likelihoods, and the lookups of these.
#}

{# One row per class and value: the columns of likelihoods (likelihoods.sql). #}
{% macro conditional_likelihoods(features, met=none) -%}
{% set ratios = features | selectattr('family.is_ratio') | list -%}
{% set score -%}
CASE WHEN feature IN ({{ nbsql.feature_names(ratios) }}) THEN ln(ratio) ELSE {{ nbsql.safe_ln(nbsql.word('likelihood')) }} END
{%- endset -%}
SELECT
  {{ nbsql.likelihood_columns(score=score if ratios else none, unseen=nbsql.word('unseen')) | indent(2) }}
FROM {{ nbsql.subquery(nbsql.conditional_estimates(features, met=met)) }} AS estimates
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

{# The columns of the keys of a value and of its parents' values up to a depth; first: 1 for those of the parents alone. #}
{% macro conditional_keys(depth, first=0) -%}
{% for place in range(first, depth + 1) %}key_{{ place }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{# The condition that a relation has the same feature, class and keys as the values before, whose last parent is in the vocabulary. #}
{% macro has_same_keys(relation, depth, class, first=0) -%}
{% set relation = nbsql.word(relation) -%}
{% if class %}{{ relation }}.class = before.class AND {% endif %}{{ relation }}.feature = before.feature
{%- for place in range(first, depth) %} AND {{ relation }}.key_{{ place }} = before.key_{{ place }}{% endfor %}
{{- ' AND ' }}{{ relation }}.key_{{ depth }} = vocabulary.parent
{%- endmacro %}

{# The keys of a list and of its parents, each as a list of one. #}
{% macro keys_of_list(list, depth) -%}
{% for place in range(0, depth + 1) -%}
{% set element = nbsql.json_element(list, place) -%}
{{ nbsql.json_list(element) }} AS key_{{ place }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# Whether a value has so many parents, from its keys. #}
{% macro has_parents(count) -%}
{% set lists = namespace(last=nbsql.word('key_0')) -%}
{% for place in range(1, count + 1) -%}
value <> {{ lists.last }}{% if not loop.last %} AND {% endif %}
{%- set lists.last = nbsql.joined_json_lists(lists.last, nbsql.word('key_' ~ place)) -%}
{% endfor -%}
{%- endmacro %}

{# The list of two lists, all of them JSON texts. #}
{% macro joined_json_lists(one, other) -%} (substr({{ one }}, 1, length({{ one }}) - 1) || ',' || substr({{ other }}, 2)) {%- endmacro %}

{#
  The estimates from the relation `counts`, one row per class and value: class, feature, value, unseen, likelihood. Every value is estimated
  by itself and with all values of the first parent, of the first two, and so on: level_0, level_1, ... Its keys, and those of its parents,
  are lists of one, such as ["hot"] or [null], which are the same where the values are, also the missing ones.

  numbers: of the classes, if there is one row per value, with all of them side by side as likelihood_1, likelihood_2, ... `counts` then has
  class_no in place of class, and unseen values have no row. met: the relation of the values of the rows to score, feature and value, if no
  others are wanted: a value has as many rows otherwise as its parents have values together.
#}
{% macro conditional_estimates(features, numbers=none, met=none) -%}
{% set has_ratios = features | selectattr('family.is_ratio') | list | length > 0 -%}
{#- the values of other features are not lists, and an engine may parse them before it filters them out #}
{% set counted %}CASE WHEN counts.feature IN ({{ nbsql.feature_names(features) }}) THEN counts.value END{% endset -%}
{% set met_value %}CASE WHEN met.feature IN ({{ nbsql.feature_names(features) }}) THEN met.value END{% endset -%}
{% set depth = features | map(attribute='family.parent_names') | map('length') | max -%}
{% set class = not numbers -%}
{% set ks = numbers or [none] -%}
WITH options(feature, alpha, shrinkage, smooths) AS {{ nbsql.subquery(nbsql.conditional_options(features)) }},
{% if not met %}
vocabulary AS (
  SELECT feature, place, {{ nbsql.json_list(nbsql.word('value')) }} AS parent
  FROM {{ nbsql.subquery(nbsql.conditional_vocabulary(features)) | indent(2) }} AS vocabulary(feature, place, value)
),
{% endif %}
listed AS (
  SELECT
    {%+ if class %}counts.class, {%+ endif %}counts.feature,
    counts.value,
    {{ nbsql.keys_of_list(counted, depth) | indent(4) }},
    {% for k in ks %}
    counts.n{{ nbsql.class_suffix(k) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {% if class %}counts{% else %}(
    SELECT feature, value, {{ nbsql.sums_by_class(numbers) | indent(4) }}
    FROM counts
    GROUP BY feature, value
  ) AS counts{% endif +%}
  JOIN options ON options.feature = counts.feature
),
{% if met %}
met AS (
  SELECT met.feature, met.value, {{ nbsql.keys_of_list(met_value, depth) | indent(4) }}
  FROM {{ met }} AS met
  JOIN options ON options.feature = met.feature
),
{% for place in range(1, depth + 1) %}
vocabulary_{{ place }} AS (
  SELECT feature, {{ nbsql.conditional_keys(place - 1) }}, key_{{ place }} AS parent
  FROM met
  WHERE {{ nbsql.has_parents(place) }}
  GROUP BY feature, {{ nbsql.conditional_keys(place) }}
),
{% endfor %}
{% endif %}
{% for place in range(0, depth + 1) %}
{#- of the rows that have so many parents #}
cells_{{ place }} AS (
  SELECT
    {%+ if class %}class, {%+ endif %}feature, {{ nbsql.conditional_keys(place) }},
    {% for k in ks %}
    sum(n{{ nbsql.class_suffix(k) }}) AS n{{ nbsql.class_suffix(k) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM listed
  {% if place %}
  WHERE {{ nbsql.has_parents(place) }}
  {% endif %}
  GROUP BY {% if class %}class, {% endif %}feature, {{ nbsql.conditional_keys(place) }}
),
totals_{{ place }} AS (
  SELECT
    {%+ if class %}class, {%+ endif %}feature{% if place %}, {{ nbsql.conditional_keys(place, 1) }}{% endif %},
    {% for k in ks %}
    sum(n{{ nbsql.class_suffix(k) }}) AS n{{ nbsql.class_suffix(k) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM cells_{{ place }}
  GROUP BY {% if class %}class, {% endif %}feature{% if place %}, {{ nbsql.conditional_keys(place, 1) }}{% endif +%}
),
{% endfor %}
children AS (
  SELECT feature, key_0 FROM cells_0 GROUP BY feature, key_0
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
    {%+ if class %}classes.class, {%+ endif %}sizes.feature, children.key_0,
    children.key_0 AS value,
    sizes.k,
    sizes.alpha,
    sizes.shrinkage
    {%- for k in ks %}
    {%- set n %}coalesce(cells.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
    {%- set total %}(coalesce(totals.n{{ nbsql.class_suffix(k) }}, 0) + sizes.alpha * sizes.k){% endset %},
    {{ nbsql.dirichlet_likelihood(n, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }} AS likelihood{{ nbsql.class_suffix(k) }}
    {%- if has_ratios %},
    1 AS ratio{{ nbsql.class_suffix(k) }}
    {%- endif %}
    {%- endfor +%}
  FROM {% if class %}classes
  JOIN sizes ON TRUE
  JOIN{% else %}sizes
  JOIN{% endif %} children ON children.feature = sizes.feature
  LEFT JOIN totals_0 AS totals ON {% if class %}totals.class = classes.class AND {% endif %}totals.feature = sizes.feature
  LEFT JOIN cells_0 AS cells
    ON {% if class %}cells.class = classes.class AND {% endif %}cells.feature = sizes.feature AND cells.key_0 = children.key_0
){% for place in range(1, depth + 1) %},
{% if class %}
met_{{ place }} AS (
  SELECT feature, {{ nbsql.conditional_keys(place, 1) }} FROM totals_{{ place }} GROUP BY feature, {{ nbsql.conditional_keys(place, 1) }}
),
{% endif %}
level_{{ place }} AS (
  SELECT
    {%+ if class %}before.class, {%+ endif %}before.feature
    {%- for number in range(0, place) %}, before.key_{{ number }}{% endfor %}, vocabulary.parent AS key_{{ place }},
    {{ nbsql.joined_json_lists(nbsql.word('before.value'), nbsql.word('vocabulary.parent')) }} AS value,
    before.k,
    before.alpha,
    before.shrinkage
    {%- for k in ks %}
    {%- set n %}coalesce(cells.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
    {%- set total %}coalesce(totals.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
    {%- set smoothed_total %}({{ total }} + before.alpha * before.k){% endset %}
    {%- set shorter %}before.likelihood{{ nbsql.class_suffix(k) }}{% endset %},
    CASE
      WHEN {% if class %}met{% else %}totals{% endif %}.feature IS NULL OR before.shrinkage + {{ total }} = 0 THEN {{ shorter }}
      WHEN before.shrinkage IS NOT NULL THEN ({{ n }} + before.shrinkage * {{ shorter }}) / ({{ total }} + before.shrinkage)
      ELSE {{ nbsql.dirichlet_likelihood(n, nbsql.word('before.alpha'), smoothed_total, nbsql.word('before.k')) }}
    END AS likelihood{{ nbsql.class_suffix(k) }}
    {%- if has_ratios %},
    ({{ n }} + before.shrinkage) / ({{ total }} * {{ shorter }} + before.shrinkage) AS ratio{{ nbsql.class_suffix(k) }}
    {%- endif %}
    {%- endfor +%}
  FROM level_{{ place - 1 }} AS before
  JOIN {% if met %}vocabulary_{{ place }} AS vocabulary ON vocabulary.feature = before.feature
    {%- for number in range(0, place) %} AND vocabulary.key_{{ number }} = before.key_{{ number }}{% endfor %}
  {%- else %}vocabulary ON vocabulary.feature = before.feature AND vocabulary.place = {{ place }}{% endif +%}
  {% if class %}
  LEFT JOIN met_{{ place }} AS met ON {{ nbsql.has_same_keys('met', place, false, 1) }}
  {% endif %}
  LEFT JOIN totals_{{ place }} AS totals ON {{ nbsql.has_same_keys('totals', place, class, 1) }}
  LEFT JOIN cells_{{ place }} AS cells ON {{ nbsql.has_same_keys('cells', place, class) }}
){% endfor +%}
{% for place in range(0, depth + 1) %}
SELECT {% if class %}class, {% endif %}feature, value, FALSE AS unseen
  {%- for k in ks %}, likelihood{{ nbsql.class_suffix(k) }}{% if has_ratios %}, ratio{{ nbsql.class_suffix(k) }}{% endif %}{% endfor +%}
FROM level_{{ place }}
{%- if class or not loop.last +%}
UNION ALL
{% endif %}
{%- endfor %}
{%- if class %}
{% set total %}(coalesce(totals.n, 0) + sizes.alpha * sizes.k){% endset -%}
SELECT
  classes.class,
  sizes.feature,
  NULL,
  TRUE,
  {{ nbsql.dirichlet_likelihood(0, nbsql.word('sizes.alpha'), total, nbsql.word('sizes.k')) }}{% if has_ratios %}, NULL{% endif +%}
FROM classes
JOIN sizes ON sizes.smooths
LEFT JOIN totals_0 AS totals ON totals.class = classes.class AND totals.feature = sizes.feature
{%- endif %}
{%- endmacro %}

{# The lookups (parameters.sql) of such features directly from their counts. #}
{% macro conditional_lookups(model, statistics, priors, features, with_idf) -%}
{% set ratios = features | selectattr('family.is_ratio') | list -%}
{% set estimates = nbsql.conditional_estimates(features, model.form.class_numbers, model.options.met) -%}
{% call(k) nbsql.lookups_of_estimates(model, statistics, priors, estimates, features, with_idf) -%}
{% set likelihood %}likelihood_{{ k }}{% endset -%}
{% if ratios %}CASE WHEN feature IN ({{ nbsql.feature_names(ratios) }}) THEN ln(ratio_{{ k }}) ELSE {{ nbsql.safe_ln(likelihood) }} END
{%- else %}{{ nbsql.safe_ln(likelihood) }}{% endif %}
{%- endcall %}
{%- endmacro %}

{# The sums of n, by class number if there are numbers: n, or n_1, n_2, ... #}
{% macro sums_by_class(numbers) -%}
{% for k in numbers or [none] -%}
sum({% if k is none %}n{% else %}CASE WHEN class_no = {{ k }} THEN n ELSE 0 END{% endif %}) AS n{{ nbsql.class_suffix(k) }}
{{- nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}
