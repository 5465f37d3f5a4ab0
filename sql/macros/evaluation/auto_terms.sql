{# The terms of the candidates of an automatic choice (auto.sql), as the models of the other folds score the rows. #}

{#
  The terms of some candidates, each of which is a feature here. columns: pairs of the number of a column and the numbers of its features;
  classes: the number of classes; met: the relation of the values of the rows (values_of_levels), if there is one.
#}
{% macro terms_of_candidates(model, rows, parameters, lookups, columns, classes, met) -%}
{% if model.form.class_numbers -%}
{{ nbsql.terms_in_columns(model, rows, parameters, lookups, columns) }}
{%- else -%}
{{ nbsql.terms_in_rows(model, rows, parameters, lookups, columns, classes, met) }}
{%- endif %}
{%- endmacro %}

{# The same with a column for each class: the relation and the terms of a score (scoring/score.sql), before they are summed. #}
{% macro terms_in_columns(model, rows, parameters, lookups, columns) -%}
{% set inputs = model.facts.features | selectattr('family.has_parameter_term') | list -%}
{% set inputs = inputs + model.form.star_categories | selectattr('family.parameters') | list -%}
{% set relation %}{% if model.has_row_numbers %}numbered{% else %}{{ rows }}{% endif %}{% endset -%}
WITH {% if model.has_row_numbers %}{{ nbsql.numbered_source(model, rows, parameters, lookups) }},
{% for feature in model.facts.features | selectattr('family.bag') -%}
{{ nbsql.bag_sums(model, feature, lookups, parameters) }},
{% endfor %}
{%- endif -%}
candidates AS {{ nbsql.materialized() }}(
  SELECT
    number.nbsql_key
    {%- for feature in model.facts.features %}
    {%- for k in model.form.class_numbers %},
    greatest({{ nbsql.term(feature, k) | indent(4) }}, {{ nbsql.least_term() }}) AS term_{{ feature.index }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM {{ nbsql.with_terms(model, relation, inputs, parameters, lookups) | indent(2) }}
)
{% for column, numbers in columns -%}
SELECT
  nbsql_key,
  {{ column }} AS feature
  {%- for k in model.form.class_numbers %},
  {% set terms %}{{ nbsql.number(0) }}{% for number in numbers %}, term_{{ number }}_{{ k }}{% endfor %}{% endset %}
  {{ nbsql.list_of(terms, nbsql.double()) }} AS term_{{ k }}
  {%- endfor +%}
FROM candidates
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  The same with a row for each class, whose statement is shorter by the number of classes. The values of all categories are one column,
  which is joined with the lookups once; a star of joins would take longer to plan than all else. The terms of a class that a fold lacks
  are 0.
#}
{% macro terms_in_rows(model, rows, parameters, lookups, columns, classes, met) -%}
{% set levels = model.form.joined_categories -%}
{% set computed = model.facts.features | selectattr('family.has_parameter_term') | list -%}
{% set smoothed = levels | selectattr('family.parameters') | list -%}
{% set numbered = nbsql.rows_by_key(rows) -%}
{% set numbers %}{% for column, _ in columns %}{{ column }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set lists -%}
{% for _, features in columns %}
{% set terms %}{{ nbsql.number(0) }}{% for number in features %}, term_{{ number }}{% endfor %}{% endset %}
{{ nbsql.list_of(terms, nbsql.double()) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endset -%}
{% set none_of = nbsql.list_mapped(nbsql.word('class_1.terms'), nbsql.list_mapped(nbsql.word('x'), nbsql.number(0), 'y')) -%}
{% set inputs -%}
SELECT
  {% for feature in computed %}
  {{ nbsql.inputs(feature, none, true, false) | indent(2) }},
  {% endfor %}
  {% for feature in smoothed %}
  {{ nbsql.given(feature, nbsql.word('source')) }} AS nbsql_x{{ nbsql.feature_suffix(feature) }},
  {% endfor %}
  {% if levels %}
  levels.scores,
  {% endif %}
  {{ nbsql.row_key(model, nbsql.word('source')) }}
FROM numbered AS source
{%- if levels +%}
JOIN levels ON levels.nbsql_row = source.nbsql_row
{%- endif %}
{%- endset -%}
WITH {{ nbsql.numbered_source(model, numbered, parameters, lookups, has_number=true) }},
{% if levels %}
levels AS {{ nbsql.subquery(nbsql.scores_of_levels(model, levels, lookups, met)) }},
{% endif %}
candidates AS {{ nbsql.materialized() }}(
  SELECT
    number.nbsql_row AS nbsql_key,
    parameters.class_no
    {%- for feature in model.facts.features %},
    {% set term = nbsql.term_in_row(feature, levels) %}
    greatest({{ term | indent(4) }}, {{ nbsql.least_term() }}) AS term_{{ feature.index }}
    {%- endfor +%}
  FROM {{ nbsql.subquery(nbsql.completed_inputs(inputs, computed)) | indent(2) }} AS number
  {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(2) }}
  {%- for feature in model.facts.features | selectattr('family.bag') %}
  {%- set bag %}bag{{ nbsql.feature_suffix(feature) }}{% endset +%}
  LEFT JOIN (
    {{ nbsql.bag_terms(model, feature, parameters, lookups) | indent(4) }}
  ) AS {{ bag }} ON {{ bag }}.nbsql_row = number.nbsql_row AND {{ bag }}.class_no = parameters.class_no
  {%- endfor +%}
)
SELECT
  class_1.nbsql_key,
  {{ nbsql.unnested([nbsql.array_of(numbers)], ['feature']) }}
  {%- for k in range(1, classes + 1) %},
  {% set found %}{% if k == 1 %}class_1.terms{% else %}coalesce(class_{{ k }}.terms, {{ none_of }}){% endif %}{% endset %}
  {{ nbsql.unnested([found], ['term_' ~ k]) }}
  {%- endfor %}

{# joins of classes, since to aggregate the lists of the classes of a row would take several times as long #}
{% for k in range(1, classes + 1) -%}
{% if k == 1 %}FROM{% else %}LEFT JOIN{% endif %} (
  SELECT nbsql_key, {{ nbsql.array_of(lists) | indent(2) }} AS terms FROM candidates WHERE class_no = {{ k }}
) AS class_{{ k }}{% if k > 1 %} ON class_{{ k }}.nbsql_key = class_1.nbsql_key{% endif +%}
{% endfor %}
{%- endmacro %}

{# The term of a candidate in the class of the row. levels: the features with lookups, in the order of their scores. #}
{% macro term_in_row(feature, levels) -%}
{% if feature in levels -%}
{% set found %}number.scores[{{ levels.index(feature) + 1 }}][parameters.class_no]{% endset -%}
{{ nbsql.level_term(feature, none, found) }}
{%- else -%}
{% if feature.family.bag %}coalesce(bag{{ nbsql.feature_suffix(feature) }}.term, 0){% endif -%}
{% if feature.family.bag and feature.family.has_parameter_term %} + {% endif -%}
{% if feature.family.has_parameter_term %}{{ nbsql.computed_term(feature, none) }}{% endif -%}
{%- endif %}
{%- endmacro %}

{# One row per row of the source: nbsql_row, and scores, a list by feature of the lists by class; NULL for a value without a lookup. #}
{% macro scores_of_levels(model, levels, lookups, met) -%}
{% set places = nbsql.array_of(nbsql.numbers_of(levels)) -%}
{# The lists come in the order of the places, which is checked: to sort them anyway would take twice as long. #}
SELECT
  nbsql_row,
  CASE
    WHEN places = {{ places }} THEN scores
    ELSE list_transform(list_sort(list_zip(places, scores), 'ASC', 'NULLS LAST'), lambda pair: pair[2])
  END AS scores
FROM (
  SELECT met.nbsql_row, list(met.place) AS places, list(lookups.scores) AS scores
  FROM {{ met or nbsql.subquery(nbsql.values_of_levels(model, levels, nbsql.word('numbered'))) }} AS met
  LEFT JOIN {{ lookups }} AS lookups
    ON lookups.feature = met.feature AND lookups.value = met.value{{ nbsql.same_part(model, nbsql.word('lookups'), nbsql.word('met')) }}
  {% if met %}
  WHERE met.place IN ({{ nbsql.numbers_of(levels) }})
  {% endif %}
  GROUP BY met.nbsql_row
) AS listed
{%- endmacro %}

{# The numbers of features, separated by commas. #}
{% macro numbers_of(features) -%}
{% for feature in features %}{{ feature.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{# The values of some features, one row per row and feature: nbsql_row, perhaps nbsql_slice, place, feature, value. #}
{% macro values_of_levels(model, levels, rows) -%}
{% set names %}{% for feature in levels %}{{ nbsql.text(feature.name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set values -%}
{% for feature in levels %}
{{ nbsql[feature.family.macros.value](feature, nbsql.word('source')) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endset -%}
{% set lists = [nbsql.array_of(nbsql.numbers_of(levels)), nbsql.array_of(names), nbsql.array_of(values)] -%}
SELECT
  {{ nbsql.row_key(model, nbsql.word('source')) }},
  {{ nbsql.unnested(lists, ['place', 'feature', 'value']) | indent(2) }}
FROM {{ rows }} AS source
{%- endmacro %}

{# The same of rows with a key, for a table. #}
{% macro values_of_rows(model, rows) -%}
{{ nbsql.values_of_levels(model, model.form.joined_categories, nbsql.rows_by_key(rows)) }}
{%- endmacro %}

{# Such rows with the key as the number of the row. #}
{% macro rows_by_key(rows) -%}
(
  SELECT nbsql_key AS nbsql_row, dealt.* FROM {{ rows }} AS dealt
)
{%- endmacro %}

{# The relation of the different values in such a table, of the rows of a fold, which is rendered. #}
{% macro values_in_fold(values, fold) -%}
(SELECT DISTINCT feature, value FROM {{ values }} AS met WHERE nbsql_slice = {{ fold }} AND value IS NOT NULL)
{%- endmacro %}

{# The terms of bins of some columns that the classes of the other folds have not cut, for the rows of a fold: one bin says nothing. #}
{% macro terms_of_uncut_bins(rows, fold, columns, classes) -%}
{% set numbers %}{% for number in columns %}{{ number }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set terms %}{{ nbsql.number(0) }}, {{ nbsql.number(0) }}{% endset -%}
SELECT
  nbsql_key,
  {{ nbsql.unnested([nbsql.array_of(numbers)], ['feature']) }}
  {%- for k in range(1, classes + 1) %},
  {{ nbsql.list_of(terms, nbsql.double()) }} AS term_{{ k }}
  {%- endfor +%}
FROM {{ nbsql.rows_of_fold(rows, fold) }} AS source
{%- endmacro %}

{# The terms of some candidates, followed in the list of each column by those of others; a column may have either or both. #}
{% macro extended_terms(terms, others, classes) -%}
SELECT
  nbsql_key,
  feature
  {%- for k in range(1, classes + 1) %},
  CASE
    WHEN others.term_{{ k }} IS NULL THEN terms.term_{{ k }}
    WHEN terms.term_{{ k }} IS NULL THEN others.term_{{ k }}
    ELSE terms.term_{{ k }} || others.term_{{ k }}[2:]
  END AS term_{{ k }}
  {%- endfor +%}
FROM {{ terms }} AS terms
FULL JOIN {{ others }} AS others USING (nbsql_key, feature)
{%- endmacro %}
