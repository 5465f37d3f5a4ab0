{#
  Categories with few values, if there are many such categories. A join for each column would hold a hash table, 2.5 MB in DuckDB, until
  the last row is scored, and between blocks of joins the rows have to be kept. A list of twenty values is searched about as fast as a
  hash table and holds nothing. The terms of a class are then one expression, however many categories there are; planning one for each
  would take longer than scoring 20,000 rows.

    known    for each of these features, by its place among them, the list of its values
    before   for each of them, the number of values of the features before it
    scores   the log-likelihoods of all of these values in one class, in the same order
    places   for each of them, the position in the scores of the row's value; NULL if it is none of these values
#}

{# A relation with the places of its values, nbsql_places, and the scores of every class. #}
{% macro with_places(model, relation, lookups) -%}
SELECT
  source.*
  {%- for k in model.form.class_numbers %},
  listed.scores_{{ k }} AS nbsql_scores_{{ k }}
  {%- endfor %},
  {{ nbsql.places_of_values(model.form.categories_in_lists) | indent(2) }} AS nbsql_places
FROM {{ relation }} AS source
CROSS JOIN {{ nbsql.subquery(nbsql.known_values(model, lookups)) }} AS listed
{%- endmacro %}

{# `known` and `before`, and the scores of every class that has columns; in the long form, the scores of a class are with its parameters. #}
{% macro known_values(model, lookups) -%}
SELECT
  list(known ORDER BY position ASC NULLS LAST) AS known,
  list(before ORDER BY position ASC NULLS LAST) AS before
  {%- for k in model.form.class_numbers %},
  flatten(list(scores_{{ k }} ORDER BY position ASC NULLS LAST)) AS scores_{{ k }}
  {%- endfor +%}
FROM (
  SELECT
    features.position,
    list(lookups.value ORDER BY lookups.value ASC NULLS LAST) AS known,
    CAST(sum(count(*)) OVER (ORDER BY features.position ASC NULLS LAST) - count(*) AS INTEGER) AS before
    {%- for k in model.form.class_numbers %},
    list(lookups.class_{{ k }} ORDER BY lookups.value ASC NULLS LAST) AS scores_{{ k }}
    {%- endfor +%}
  FROM {{ nbsql.numbered_features(model.form.categories_in_lists) | indent(2) }}
  LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = features.feature
  GROUP BY features.position
) AS features
{%- endmacro %}

{# The parameters of the long form, one row per class, with `scores`. #}
{% macro with_scores(features, parameters, lookups) -%}
SELECT parameters.*, listed.scores
FROM {{ parameters }} AS parameters
JOIN (
  SELECT
    classes.class_no,
    list(lookups.scores[classes.class_no] ORDER BY features.position ASC NULLS LAST, lookups.value ASC NULLS LAST) AS scores
  FROM {{ nbsql.numbered_features(features) | indent(2) }}
  JOIN {{ parameters }} AS classes ON TRUE
  LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = features.feature
  GROUP BY classes.class_no
) AS listed ON listed.class_no = parameters.class_no
{%- endmacro %}

{# The list of the places of the values of a row of `source`. #}
{% macro places_of_values(features) -%}
[
  {% for feature in features %}
  {% set value = nbsql[feature.family.macros.value](feature, nbsql.word('source')) %}
  {% set place = loop.index %}
  listed.before[{{ place }}] + list_position(listed.known[{{ place }}], {{ value }}){{ nbsql.comma(loop) }}
  {% endfor %}
]
{%- endmacro %}

{#
  The sum of their terms in the joint log-likelihood of class k; in the long form, of the row's class. Features with a term for a missing
  or unseen value are evaluated one by one.
#}
{% macro list_lookup_terms(model, k) -%}
{% set scores %}{% if k is none %}parameters.scores{% else %}number.nbsql_scores{{ nbsql.class_suffix(k) }}{% endif %}{% endset -%}
coalesce(list_sum(list_transform(number.nbsql_places, lambda place: {{ scores }}[place])), 0)
{%- set nothing %}NULL{% endset %}
{%- for block in model.form.categories_in_lists | selectattr('family.parameters') | batch(50) +%}
+ (
  {% for feature in block %}
  {% set found %}{{ scores }}[number.nbsql_places[{{ model.form.category_positions[feature.index] }}]]{% endset %}
  {%+ if not loop.first %}+ {%+ endif %}CASE WHEN {{ found }} IS NULL THEN {{ nbsql.level_term(feature, k, nothing) }} ELSE 0 END
  {% endfor %}
)
{%- endfor %}
{%- endmacro %}

{#
  Numbers that are cut into bins, if they are not among so many categories. The place of a row's number among the scores of all bins follows
  from a comparison with the edges. To make the label of the bin and to join it with its lookup takes three times as long. An element of
  the list has the scores of all classes, because to find a double in each of five lists takes nearly twice as long.
#}

{#
  A relation with the scores of its bins in all classes, nbsql_found_i. A missing number has a place behind those of the bins, whose scores
  are 0, so that scores are added without a guard for each; they are NULL if a feature has another term for it. `places` are pairs of a
  feature and the place of its first bin. by_slice: whether each row has the scores of its slice, a whole number, of which the list has all
  after another.
#}
{% macro with_scores_of_bins(model, relation, lookups, places, by_slice=false) -%}
{% set missing = places[-1][1] + places[-1][0].bins | length -%}
{% set is_plain = not places | map('first') | selectattr('family.parameters') | list -%}
SELECT
  source.*
  {%- for feature, first in places %},
  {% set x %}source.nbsql_binned{{ nbsql.feature_suffix(feature) }}{% endset %}
  bins.scores[CASE
  {%- for edge in feature.family.edges %} WHEN {{ x }} < {{ nbsql.number(edge) }} THEN {{ first + loop.index0 }}{% endfor %} WHEN
  {{- ' ' ~ x }} IS NOT NULL THEN {{ first + feature.family.edges | length }} ELSE {{ missing }} END
  {%- if by_slice %} + {{ missing }} * source.nbsql_slice{% endif %}] AS nbsql_found
  {{- nbsql.feature_suffix(feature) }}
  {%- endfor +%}
FROM (
  SELECT
    source.*
    {%- for feature, first in places %},
    {{ nbsql.finite(nbsql.number_of(feature.column, nbsql.word('source'))) }} AS nbsql_binned{{ nbsql.feature_suffix(feature) }}
    {%- endfor +%}
  FROM {{ relation }} AS source
) AS source
CROSS JOIN (
  {% set order %}{% if by_slice %}slices.nbsql_slice, {% endif %}stretches.place{% endset %}
  SELECT {{ nbsql.list_of_scores(model, order, is_plain) }} AS scores
  FROM (
    SELECT feature, unnest(labels) AS value, first + unnest(range(len(labels))) AS place
    FROM {% call(pair, number) nbsql.constants(places + [(none, missing)], 'bins', ['feature', 'labels', 'first'], margin=4) -%}
    {% if pair[0] %}{{ nbsql.text(pair[0].name) }}, [
    {%- for label in pair[0].bins %}{{ nbsql.text(label) }}{{ nbsql.comma_blank(loop) }}{% endfor %}]
    {%- else %}NULL, [NULL]{% endif %}, {{ pair[1] }}
    {%- endcall +%}
  ) AS stretches
  {% if by_slice %}
  CROSS JOIN (
    SELECT unnest(range(max(nbsql_slice) + 1)) AS nbsql_slice FROM {{ lookups }} AS lookups
  ) AS slices
  {% endif %}
  LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = stretches.feature AND lookups.value = stretches.value
  {%- if by_slice %} AND lookups.nbsql_slice = slices.nbsql_slice{% endif +%}
) AS bins
{%- endmacro %}

{# An aggregate of lookups, the list of their scores in the order of their places. never_null: whether 0 stands for NULL. #}
{% macro list_of_scores(model, place, never_null=false) -%}
list({ {%- for k in model.form.class_numbers -%}
class_{{ k }}: {% if never_null %}coalesce({% endif %}lookups.class_{{ k }}{% if never_null %}, 0){% endif %}{{ nbsql.comma_blank(loop) }}
{%- endfor -%} }
    ORDER BY {{ place }} ASC NULLS LAST)
{%- endmacro %}

{# The sum of the terms of some of these numbers whose scores are never NULL. #}
{% macro found_terms(features, k) -%}
{%+ for feature in features %}{{ nbsql.found_score(feature, k) }}{% if not loop.last %} + {% endif %}{%+ endfor %}
{%- endmacro %}

{# The same of others, and of pairs (listed_pairs.sql), as of other categories (sum_of_level_terms). #}
{% macro placed_terms(features, k) -%}
coalesce(
  {%+ for feature in features %}{{ nbsql.found_score(feature, k) }}{% if not loop.last %} + {% endif %}{%+ endfor %},
  {% for feature in features %}
  {%+ if not loop.first %}+ {%+ endif %}{{ nbsql.level_term(feature, k, nbsql.found_score(feature, k)) }}
  {% endfor %}
)
{%- endmacro %}

{% macro found_score(feature, k) -%} number.nbsql_found{{ nbsql.feature_suffix(feature) }}.class_{{ k }} {%- endmacro %}
