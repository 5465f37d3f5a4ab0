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

{#
  The list of the value and the parents' values up to the first that is not known; NULL where the value is missing and that is no value.
  Of the relation `texts` the columns are texts already.
#}
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
{% set missing = nbsql.number_or_value(parent.column, relation, parent.edges) -%}
{% set is_listed -%}
{% if parent.edges is not none %}{{ missing }} IS NOT NULL
{%- elif parent.labels %}{{ nbsql.conditional_text(feature, parent.column, relation, none, parent.labels) }} IN (
  {%- for value in parent.labels %}{{ nbsql.text(value) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
){% endif %}
{%- endset -%}
{% set is_missing %}{% if feature.family.has_missing(parent) %}{{ missing }} IS NULL{% endif %}{% endset -%}
{% if is_missing | length and is_listed | length %}({{ is_missing }} OR {{ is_listed }})
{%- else %}{{ is_missing }}{{ is_listed }}{% if not is_missing | length + is_listed | length %}FALSE{% endif %}
{%- endif %}
{%- endmacro %}

{#
  The cells of some such features (level_cells), of which the rows are first counted by the texts of their columns: a list is made, and its
  values are compared with those of the parents, once for all rows that are alike.
#}
{% macro cells_of_grouped_levels(model, source, features) -%}
{% set slice = model.facts.slice_by -%}
{{ nbsql.cell(model, nbsql.word('n'), feature=nbsql.word('feature'), value=nbsql.word('value')) }}
FROM (
  {% for feature in features %}
  {% set family = feature.family %}
  SELECT class, {% if slice %}slice, {% endif %}{{ nbsql.text(feature.name) }} AS feature, value, sum(n) AS n
  FROM (
    SELECT
      nbsql_class AS class,
      {% if slice %}
      nbsql_slice AS slice,
      {% endif %}
      {{ nbsql.conditional_value(feature, nbsql.word('texts')) }} AS value,
      nbsql_n AS n
    FROM (
      SELECT
        {{ nbsql.target(model) }} AS nbsql_class,
        {% if slice %}
        source.nbsql_slice,
        {% endif %}
        {% for each in [family] + family.all_parents %}
        {% set column = ([feature.column] + family.parent_names)[loop.index0] %}
        {{ nbsql.conditional_text(feature, column, nbsql.word('source'), each.edges, each.labels) }} AS {{ nbsql.ident(column) }},
        {% endfor %}
        {{ nbsql.group_weight(model) }} AS nbsql_n
      FROM {{ source }} AS source
      WHERE {{ nbsql.is_counted(model) }}
      GROUP BY ALL
    ) AS texts
    {% if family.nulls != 'category' %}
    WHERE {{ nbsql.conditional_given(feature, nbsql.word('texts')) }} IS NOT NULL
    {% endif %}
  ) AS levels
  GROUP BY class, value{% if slice %}, slice{% endif %}

  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor %}

) AS counted
{%- endmacro %}

{# An expression that is NULL where the value is missing. #}
{% macro conditional_given(feature, relation) -%}
{% if feature.family.nulls == 'category' %}TRUE
{%- else %}{{ nbsql.number_or_value(feature.column, relation, feature.family.edges) }}
{%- endif %}
{%- endmacro %}

{# The value of one of the columns, or its number if it is cut into bins; NULL where it is missing. #}
{% macro number_or_value(column, relation, edges) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
{% set number %}CAST({{ x }} AS {{ nbsql.double() }}){% endset -%}
{% if edges is none or relation == 'texts' %}{{ x }}{% else %}{{ nbsql.finite(number) }}{% endif %}
{%- endmacro %}

{# The value of one of the columns, or of its bin, as text. #}
{% macro conditional_text(feature, column, relation, edges, labels) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
{% if relation == 'texts' -%}
{{ x }}
{%- elif edges is not none -%}
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
