{#
  The dependence between pairs of categories: averaged one-dependence estimators (Webb, Boughton and Wang, Not so naive Bayes: aggregating
  one-dependence estimators, Machine Learning 58, 2005),

    P(c, x) = 1 / |S| sum over the super-parents i of S of P(c) P(x_i | c) prod over j <> i of P(x_j | c, x_i)

  S holds the features whose value in the row was seen `least` times. Each summand has the factors of naive Bayes except for the ratios

    r_ij = P(x_j | c, x_i) / P(x_j | c)          P(v | c, u) = (n_cuv + alpha) / (n_cu + alpha K)   or, with s for `shrinkage`,
                                                               (n_cuv + s P(v | c)) / (n_cu + s)

  so P(c, x) is that of naive Bayes times the mean over S of prod over j of r_ij. The feature adds the logarithm of this mean to a score:
  0 if S is empty. n_cu counts the rows of the class with x_i = u and any x_j. If no class has such a row, r_ij is 1. A value that is
  missing, or that the fit has not seen, is neither parent nor child.

  A value is a JSON text: [["sky","grey"]] for a single column and [["sky","grey"],["wind","weak"]] for two, in the statistics in the
  order of the columns, in the likelihoods with the parent first. The elements, such as ["sky","grey"], are called keys.
#}

{# The key of the value of one of the feature's columns, as text; NULL where the value is missing and missing is not a value. #}
{% macro pairs_key(feature, position, relation) -%}
{% set family, column = feature.family, feature.columns[position] -%}
{% set edges = family.edges[position] -%}
{% set value = nbsql.conditional_text(feature, column, relation, edges, family.labels_of(position)) -%}
{% set name = nbsql.text(column) -%}
{% set key %}{{ name }}, {{ value }}{% endset -%}
{% if column in family.gaps %}{{ nbsql.json_list(key) }}
{%- else %}CASE WHEN {{ value }} IS NOT NULL THEN {{ nbsql.json_list(key) }} END
{%- endif %}
{%- endmacro %}

{# The list of the keys of a row; NULL for a missing value. #}
{% macro pairs_keys(feature, relation) -%}
{% set keys -%}
{% for position in range(feature.columns | length) %}
{{ nbsql.pairs_key(feature, position, relation) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endset -%}
{{ nbsql.array_of(keys) }}
{%- endmacro %}

{# One row per row and token, where a token is a value or a pair of values: the columns `row_columns`, value and times (tokens.sql). #}
{% macro pairs_tokens(feature, source, row_columns, condition=none) -%}
{% set columns = feature.columns | length -%}
{% set tokens -%}
{% for a in range(columns) -%}
'[' || key_{{ a }} || ']'
{%- for b in range(a + 1, columns) %},
    '[' || key_{{ a }} || ',' || key_{{ b }} || ']'
{%- endfor %}
{{- nbsql.comma_line(loop) }}
{%- endfor %}
{%- endset -%}
{% set texts = [nbsql.array_of(tokens)] -%}
SELECT *
FROM (
  SELECT
    {{ row_columns }},
    {{ nbsql.unnested(texts, ['value']) | indent(4) }},
    1 AS times
  FROM (
    SELECT
      source.*
      {%- for position in range(columns) %},
      {{ nbsql.pairs_key(feature, position, nbsql.word('source')) }} AS key_{{ position }}
      {%- endfor +%}
    FROM {{ source }} AS source
    {% if condition is not none %}
    WHERE {{ condition }}
    {% endif %}
  ) AS source
) AS unnested
WHERE value IS NOT NULL
{%- endmacro %}

{# The cells of the values and of their pairs: how many rows of each class hold them. #}
{% macro pairs_cells(model, source, feature) -%}
{{ nbsql.cell(model, nbsql.word('n'), feature=feature, value=nbsql.token_of_pair()) }}
FROM (
  WITH coded AS {{ nbsql.materialized() }}(
    SELECT
      {{ nbsql.counted_columns(model) | indent(6) }}
      {%- for position in range(feature.columns | length) %},
      {{ nbsql.pairs_key(feature, position, nbsql.word('source')) }} AS value_{{ position }}
      {%- endfor +%}
    FROM {{ source }} AS source
    WHERE {{ nbsql.is_counted(model) }}
  )
  {{ nbsql.counts_of_pairs(model, nbsql.word('coded'), feature) | indent(2) }}
) AS pairs
{%- endmacro %}

{# The token of the keys x and y of the columns a and b. #}
{% macro token_of_pair() -%} CASE WHEN a = b THEN '[' || x || ']' ELSE '[' || x || ',' || y || ']' END {%- endmacro %}

{# The counts of each value, a pair with itself, and of each pair of values (dependence.sql). #}
{% macro counts_of_pairs(model, coded, feature, gaps=()) -%}
{% set n %}{% if model.spec.weight %}sum(weight){% else %}CAST(count(*) AS {{ nbsql.double() }}){% endif %}{% endset -%}
{% set places = range(feature.columns | length) | list -%}
{% set pairs = namespace(of=[]) -%}
{% for a in places %}{% for b in places[a:] %}{% set pairs.of = pairs.of + [(a, b)] %}{% endfor %}{% endfor -%}
{% set keys = ['class'] + (['slice'] if model.facts.slice_by else []) -%}
{{ nbsql.cells_of_pairs(coded, pairs.of, n, keys, gaps, few=model.options.is_tiny) }}
{%- endmacro %}

{# The rows with the value of each column of the feature as text: the counted columns, and value_0, value_1, ... #}
{% macro coded_pairs(model, source, feature) -%}
{% set family = feature.family -%}
SELECT
  {{ nbsql.counted_columns(model) | indent(2) }}
  {%- for column in feature.columns %},
  {{ nbsql.conditional_text(
    feature, column, nbsql.word('source'), family.edges[loop.index0], family.labels_of(loop.index0)
  ) }} AS value_{{ loop.index0 }}
  {%- endfor +%}
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{#
  The cells of pairs_cells from the tables coded_pairs and numbered_categories (tree.sql), which has numbers for the values of the columns
  at the places `few`.
#}
{% macro numbered_pairs_cells(model, feature, coded, numbered, few) -%}
{% set gaps = namespace(of=[]) -%}
{% for column in feature.columns %}{% if column in feature.family.gaps %}{% set gaps.of = gaps.of + [loop.index0] %}{% endif %}{% endfor -%}
{{ nbsql.cell(model, nbsql.word('n'), feature=feature, value=nbsql.token_of_pair()) }}
FROM (
  WITH counts AS {{ nbsql.subquery(nbsql.counts_of_pairs(model, numbered, feature, gaps.of)) | indent(2) }},
  names AS (
    {% for column in feature.columns %}
    {% set name = nbsql.text(column) %}
    {% set listed = nbsql.listed_values(coded, nbsql.word('value_' ~ loop.index0)) | indent(4) %}
    {% set key = nbsql.json_list([name, nbsql.word('v')] | join(', ')) %}
    SELECT
      {{ loop.index0 }} AS place,
      {{ name }} AS name,
      {% if loop.index0 in few %}{{ nbsql.list_mapped(listed, key, 'v') }}{% else %}NULL{% endif %} AS keys
    {{- nbsql.union_all(loop) | indent(4) }}
    {%- endfor +%}
  )
  SELECT
    {{ nbsql.listed_values(coded, nbsql.word('class')) }}[counts.class] AS class,
    {% if model.facts.slice_by %}
    counts.slice,
    {% endif %}
    counts.a,
    counts.b,
    {{ nbsql.key_of_number('names', 'x') }} AS x,
    {{ nbsql.key_of_number('others', 'y') }} AS y,
    counts.n
  FROM counts
  JOIN names ON names.place = counts.a
  JOIN names AS others ON others.place = counts.b
) AS pairs
{%- endmacro %}

{# The key of the number, or else the text, of a value. #}
{% macro key_of_number(names, value) -%}
{% set names, value = nbsql.word(names), nbsql.word('counts.' ~ value) -%}
{% set key %}{{ names }}.name, {{ value }}{% endset -%}
CASE
      WHEN {{ names }}.keys IS NULL OR {{ value }} IS NULL THEN {{ nbsql.json_list(key) }}
      ELSE {{ names }}.keys[CAST({{ value }} AS INTEGER)] END
{%- endmacro %}

{#
  One row per class and value: the columns of likelihoods (likelihoods.sql). The score is the logarithm of the ratio, and 0 for a single
  value.
#}
{% macro pairs_likelihoods(features) -%}
{% set ratio %}likelihood / alone{% endset -%}
{% set score %}CASE WHEN alone > 0 THEN {{ nbsql.safe_ln(ratio) }} ELSE 0 END{% endset -%}
SELECT
  {{ nbsql.likelihood_columns(score) | indent(2) }}
FROM {{ nbsql.subquery(nbsql.pairs_estimates(features)) }} AS estimates
{%- endmacro %}

{# The lookups (parameters.sql) of such features directly from their counts. #}
{% macro pairs_lookups(model, statistics, priors, features, with_idf) -%}
{% set estimates = nbsql.pairs_estimates(features, model.form.class_numbers) -%}
{% call(k) nbsql.lookups_of_estimates(model, statistics, priors, estimates, features, with_idf) -%}
{% set ratio %}likelihood_{{ k }} / alone_{{ k }}{% endset -%}
CASE WHEN alone_{{ k }} > 0 THEN {{ nbsql.safe_ln(ratio) }} ELSE 0 END
{%- endcall %}
{%- endmacro %}

{# The columns of such features, a relation: feature, name, alpha, shrinkage, least. #}
{% macro pairs_options(features) -%}
VALUES
  {% for feature in features %}
  {% set family = feature.family %}
  {% set last = loop.last %}
  {% for column in feature.columns %}
  {% set names %}{{ nbsql.text(feature.name) }}, {{ nbsql.text(column) }}{% endset %}
  {% set alpha = nbsql.number(family.added_counts[loop.index0]) %}
  ({{ names }}, {{ alpha }}, {{ nbsql.nullable_double(family.shrinkage) }}, {{ family.least }})
  {%- if not (last and loop.last) %},{% endif +%}
  {% endfor %}
  {% endfor %}
{%- endmacro %}

{# The bins of such features, which are values whether or not a row is in them: feature, name (of the column), label. #}
{% macro bins_of_pairs(features) -%}
VALUES
  {% for feature in features %}
  {% set last = loop.last %}
  {% for column, label in feature.family.bins %}
  ({{ nbsql.text(feature.name) }}, {{ nbsql.text(column) }}, {{ nbsql.text(label) }}){% if not (last and loop.last) %},{% endif +%}
  {% endfor %}
  {% endfor %}
{%- endmacro %}

{#
  The estimates from the relation `counts`: class, feature, value, likelihood, and alone, the likelihood of the child by itself. Every
  value that was seen `least` times has one by itself, and as a parent one with every value of the other columns.

  numbers: of the classes, if they stand side by side, as in conditional_estimates.
#}
{% macro pairs_estimates(features, numbers=none) -%}
{#- the values of other features are not lists, and an engine may parse them before it filters them out #}
{% set cut = features | selectattr('family.bins') | list -%}
{% set bin %}name, label{% endset -%}
{% set counted %}CASE WHEN counts.feature IN ({{ nbsql.feature_names(features) }}) THEN counts.value END{% endset -%}
{% set class = not numbers -%}
{% set ks = numbers or [none] -%}
WITH options(feature, name, alpha, shrinkage, least) AS {{ nbsql.subquery(nbsql.pairs_options(features)) }},
cells AS (
  SELECT
    counts.{% if numbers %}class_no{% else %}class{% endif %},
    counts.feature,
    {{ nbsql.json_element(counted, 0) }}{{ nbsql.binary() }} AS one,
    {{ nbsql.json_element(counted, 1) }}{{ nbsql.binary() }} AS other,
    counts.n
  FROM counts
  WHERE counts.feature IN ({{ nbsql.feature_names(features) }})
),
met AS (
  SELECT cells.feature, {{ nbsql.json_element(nbsql.word('cells.one'), 0) }} AS name, cells.one AS value, sum(cells.n) AS n
  FROM (
    SELECT feature, one, n FROM cells WHERE other IS NULL
    {%- if cut %}
    UNION ALL
    SELECT feature, {{ nbsql.json_list(bin) }}, {{ nbsql.number(0) }}
    FROM {{ nbsql.subquery(nbsql.bins_of_pairs(cut)) | indent(4) }} AS bins(feature, name, label)
    {%- endif +%}
  ) AS cells
  GROUP BY cells.feature, cells.one
),
keys AS (
  SELECT
    met.feature,
    met.name,
    met.value,
    row_number() OVER (ORDER BY met.feature ASC NULLS LAST, met.value ASC NULLS LAST) AS number,
    met.n >= options.least AS is_parent,
    options.alpha,
    options.shrinkage,
    count(*) OVER (PARTITION BY met.feature, met.name) AS k
  FROM met
  JOIN options ON options.feature = met.feature AND options.name = met.name
),
totals AS (
  SELECT
    {%+ if class %}cells.class, {%+ endif %}keys.feature, keys.name,
    {{ nbsql.sums_by_class(numbers) | indent(4) }}
  FROM cells
  JOIN keys ON keys.feature = cells.feature AND keys.value = cells.one
  WHERE cells.other IS NULL
  GROUP BY {% if class %}cells.class, {% endif %}keys.feature, keys.name
),
single AS (
  {% if class %}
  SELECT class, feature, one, n FROM cells WHERE other IS NULL
  {% else %}
  SELECT
    feature,
    one,
    {{ nbsql.sums_by_class(numbers) | indent(4) }}
  FROM cells
  WHERE other IS NULL
  GROUP BY feature, one
  {% endif %}
),
alone AS (
  SELECT
    {% if class %}
    classes.class,
    {% endif %}
    keys.*
    {%- for k in ks %}
    {%- set n %}coalesce(single.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
    {%- set total %}(coalesce(totals.n{{ nbsql.class_suffix(k) }}, 0) + keys.alpha * keys.k){% endset %},
    {{ nbsql.dirichlet_likelihood(n, nbsql.word('keys.alpha'), total, nbsql.word('keys.k')) }} AS likelihood{{ nbsql.class_suffix(k) }}
    {%- endfor +%}
  FROM keys
  {% if class %}
  JOIN classes ON TRUE
  {% endif %}
  {% set of_class %}{% if class %}totals.class = classes.class AND {% endif %}{% endset %}
  LEFT JOIN totals ON {{ of_class }}totals.feature = keys.feature AND totals.name = keys.name
  {% set of_class %}{% if class %}single.class = classes.class AND {% endif %}{% endset %}
  LEFT JOIN single ON {{ of_class }}single.feature = keys.feature AND single.one = keys.value
),
met_together AS (
  {% set columns %}parents.number AS parent, parents.name AS parent_name, children.number AS child, children.name{% endset %}
  SELECT
    {%+ if class %}cells.class, {%+ endif %}{{ columns }},
    {%+ if class %}cells.n{% else %}{{ nbsql.sums_by_class(numbers) | indent(4) }}{%+ endif %}

  FROM cells
  JOIN keys AS parents ON parents.feature = cells.feature AND parents.value = cells.one
  JOIN keys AS children ON children.feature = cells.feature AND children.value = cells.other
  {% if numbers %}
  GROUP BY parents.number, parents.name, children.number, children.name
  {% endif %}
),
pairs AS (
  {% set ns %}{% for k in ks %}, n{{ nbsql.class_suffix(k) }}{% endfor %}{% endset %}
  SELECT {% if class %}class, {% endif %}parent, child, name{{ ns }} FROM met_together
  UNION ALL
  SELECT {% if class %}class, {% endif %}child, parent, parent_name{{ ns }} FROM met_together
),
of_parents AS (
  SELECT
    {%+ if class %}class, {%+ endif %}parent, name
    {%- for k in ks %}, sum(n{{ nbsql.class_suffix(k) }}) AS n{{ nbsql.class_suffix(k) }}{% endfor +%}
  FROM pairs
  GROUP BY {% if class %}class, {% endif %}parent, name
){% if class %},
together AS (
  SELECT parent, name FROM of_parents GROUP BY parent, name
){% endif +%}
{% set likelihoods -%}
{% for k in ks %}
{%- set own %}likelihood{{ nbsql.class_suffix(k) }}{% endset %}, {{ own }}, {{ own }} AS alone{{ nbsql.class_suffix(k) }}
{%- endfor %}
{%- endset %}
SELECT {% if class %}class, {% endif %}feature, '[' || value || ']' AS value{{ likelihoods }}
FROM alone
WHERE is_parent
UNION ALL
SELECT
  {% if class %}
  alone.class,
  {% endif %}
  alone.feature,
  '[' || parents.value || ',' || alone.value || ']'
  {%- for k in ks %}
  {%- set n %}coalesce(pairs.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
  {%- set seen %}coalesce(of_parents.n{{ nbsql.class_suffix(k) }}, 0){% endset %}
  {%- set total %}({{ seen }} + alone.alpha * alone.k){% endset %}
  {%- set by_itself %}alone.likelihood{{ nbsql.class_suffix(k) }}{% endset %},
  CASE
    WHEN {% if class %}together{% else %}of_parents{% endif %}.parent IS NULL OR {{ seen }} + coalesce(alone.shrinkage, alone.alpha) = 0
    THEN {{ by_itself }}
    WHEN alone.shrinkage IS NOT NULL THEN ({{ n }} + alone.shrinkage * {{ by_itself }}) / ({{ seen }} + alone.shrinkage)
    ELSE {{ nbsql.dirichlet_likelihood(n, nbsql.word('alone.alpha'), total, nbsql.word('alone.k')) }}
  END,
  {{ by_itself }}
  {%- endfor +%}
FROM alone
JOIN keys AS parents ON parents.feature = alone.feature AND parents.name <> alone.name AND parents.is_parent
{% if class %}
LEFT JOIN together ON together.parent = parents.number AND together.name = alone.name
{% endif %}
{% set of_class %}{% if class %}of_parents.class = alone.class AND {% endif %}{% endset %}
LEFT JOIN of_parents ON {{ of_class }}of_parents.parent = parents.number AND of_parents.name = alone.name
{% set of_class %}{% if class %}pairs.class = alone.class AND {% endif %}{% endset %}
LEFT JOIN pairs ON {{ of_class }}pairs.parent = parents.number AND pairs.child = alone.number
{%- endmacro %}

{# The counts of pairs in reverse order, which the likelihoods also need: feature, value, class, n. #}
{% macro reversed_pairs(counts, features) -%}
{% set pair %}CASE WHEN feature IN ({{ nbsql.feature_names(features) }}) THEN value END{% endset -%}
{% set one, other = nbsql.json_element(pair, 0), nbsql.json_element(pair, 1) -%}
SELECT feature, ('[' || ({{ other }}) || ',' || ({{ one }}) || ']'){{ nbsql.binary() }} AS value, class, n
FROM {{ counts }} AS counts
WHERE ({{ other }}) IS NOT NULL
{%- endmacro %}
