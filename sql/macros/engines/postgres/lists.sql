{# Lists are arrays, and each operation on one is a sub-select. #}

{% macro postgres__list_of(elements, type) -%}
CAST(ARRAY[{{ elements }}] AS {{ type }}[])
{%- endmacro %}

{% macro postgres__list_mapped(list, body, x='x', place=none) -%}
{% set place = nbsql.word(place or 'nbsql_place') -%}
{% set elements %}unnest({{ list }}) WITH ORDINALITY AS each({{ nbsql.word(x) }}, {{ place }}){% endset -%}
ARRAY(SELECT {{ body }} FROM {{ elements }} ORDER BY {{ place }} ASC NULLS LAST)
{%- endmacro %}

{% macro postgres__without_nulls(list) -%}
array_remove({{ list }}, NULL)
{%- endmacro %}

{% macro postgres__list_highest(list) -%}
(SELECT max(each) FROM unnest({{ list }}) AS each)
{%- endmacro %}

{% macro postgres__list_lowest(list) -%}
(SELECT min(each) FROM unnest({{ list }}) AS each)
{%- endmacro %}

{% macro postgres__list_total(list) -%}
(SELECT sum(each) FROM unnest({{ list }}) AS each)
{%- endmacro %}

{% macro postgres__list_product(a, b) -%}
(SELECT sum(one * other) FROM unnest({{ a }}, {{ b }}) AS each(one, other))
{%- endmacro %}

{# The rows of a matrix one after the other, because a two-dimensional array cannot be unnested into its rows. #}
{% macro postgres__matrix_row(elements) -%}
{{ elements }}
{%- endmacro %}

{# One row per row of a matrix, which is an array of its rows one after the other: the elements beside the row, and the row. #}
{% macro postgres__unnested_matrix(lists, matrix, width, relation) -%}
SELECT
  {% for elements, other in lists %}
  {%+ if elements is not none %}(ARRAY[{{ elements }}])[place]{% else %}{{ other }}{%+ endif %},
  {% endfor %}
  {{ matrix }}[(place - 1) * {{ width }} + 1:place * {{ width }}]
FROM {{ relation }}
CROSS JOIN generate_series(1, cardinality({{ matrix }}) / {{ width }}) AS place
{%- endmacro %}

{% macro postgres__list_place(list, x) -%}
array_position({{ list }}, {{ x }})
{%- endmacro %}

{% macro postgres__list_size(list) -%}
cardinality({{ list }})
{%- endmacro %}

{% macro postgres__list_of_whole_numbers(first, end) -%}
ARRAY(SELECT generate_series({{ first }}, {{ end }} - 1))
{%- endmacro %}

{% macro postgres__whole_quotient(a, b) -%}
{{ a }} / {{ b }}
{%- endmacro %}

{% macro postgres__optimisation_fence() %}

OFFSET 0
{%- endmacro %}

{% macro postgres__scored_columns(model) -%}
nbsql_prediction nbsql_probability nbsql_log_evidence
{%- if not model.form.class_numbers %} nbsql_joints{% endif %}
{%- for k in model.form.class_numbers %} nbsql_joint_{{ k }}{% endfor %}
{%- endmacro %}

{# PostgreSQL has any_value from version 16 on. #}
{% macro postgres__common_value(x) -%}
max({{ x }})
{%- endmacro %}
