{#
  Categories of few values, where there are many of them. A join a column would hold a hash table each, 2.5 MB in DuckDB, until the
  last row is scored, and rows in blocks of joins have to be kept. A list of twenty values is searched about as quickly as a hash
  table, and holds nothing:

    known   for each of these features, by its place among them, the list of its values
    scores  for each of them the log-likelihoods of these values in one class

  Both are constant over a whole vector of rows, so an element of the outer list is taken once a vector, and that of the inner one
  once a row.
#}

{# A relation with the place of each value in its list, and the lists of scores of every class. #}
{% macro with_places(model, relation, lookups) -%}
SELECT
  source.*
  {%- for k in model.class_numbers %},
  listed.scores_{{ k }} AS nbsql_scores_{{ k }}
  {%- endfor %}
  {%- for feature in model.listed %},
  {{ nbsql.place_of(feature, loop.index) }}
  {%- endfor %}

FROM {{ relation }} AS source
CROSS JOIN (
  {{ nbsql.known_values(model, lookups) | indent(2) }}
) AS listed
{%- endmacro %}

{# `known`, and the scores of every class that has columns; the long form has those of a class with its parameters. #}
{% macro known_values(model, lookups) -%}
SELECT
  list(known ORDER BY place ASC NULLS LAST) AS known
  {%- for k in model.class_numbers %},
  list(scores_{{ k }} ORDER BY place ASC NULLS LAST) AS scores_{{ k }}
  {%- endfor %}

FROM (
  SELECT
    features.place,
    list(lookups.value ORDER BY lookups.value ASC NULLS LAST) AS known
    {%- for k in model.class_numbers %},
    list(lookups.class_{{ k }} ORDER BY lookups.value ASC NULLS LAST) AS scores_{{ k }}
    {%- endfor %}

  FROM {{ nbsql.listed_features(model.listed) | indent(2) }}
  LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = features.feature
  GROUP BY features.place
) AS features
{%- endmacro %}

{# A relation, one row a feature: place, feature. #}
{% macro listed_features(features) -%}
(
  VALUES
    {% for feature in features %}
    ({{ loop.index }}, {{ nbsql.text(feature.name) }}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS features(place, feature)
{%- endmacro %}

{# The parameters of the long form, a row a class, with `scores`. #}
{% macro with_scores(features, parameters, lookups) -%}
SELECT parameters.*, listed.scores
FROM {{ parameters }} AS parameters
JOIN (
  SELECT class_no, list(scores ORDER BY place ASC NULLS LAST) AS scores
  FROM (
    SELECT classes.class_no, features.place, list(lookups.scores[classes.class_no] ORDER BY lookups.value ASC NULLS LAST) AS scores
    FROM {{ nbsql.listed_features(features) | indent(4) }}
    JOIN {{ parameters }} AS classes ON TRUE
    LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = features.feature
    GROUP BY classes.class_no, features.place
  ) AS features
  GROUP BY class_no
) AS listed ON listed.class_no = parameters.class_no
{%- endmacro %}

{% macro place_of(feature, place) -%}
{% set value = nbsql[feature.family.name ~ '_value'](feature, nbsql.word('source')) -%}
list_position(listed.known[{{ place }}], {{ value }}) AS nbsql_place{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{# What some of them add to the joint log-likelihood of class k; of the class of the row, in the long form. #}
{% macro listed_terms(model, features, k) -%}
{% set scores %}{% if k is none %}parameters.scores{% else %}number.nbsql_scores{{ nbsql.class_suffix(k) }}{% endif %}{% endset -%}
{% for feature in features -%}
{% set found %}{{ scores }}[{{ model.listed_places[feature.index] }}][number.nbsql_place{{ nbsql.feature_suffix(feature) }}]{% endset -%}
{{ nbsql.level_term(feature, k, found) }}
{%- if not loop.last %}

+ {% endif %}
{%- endfor %}
{%- endmacro %}
