{# Lists of numbers, one a class, and the operations on them. #}

{# A list of rendered elements, all of which may be NULL. type: of an element. #}
{% macro default__list_of(elements, type) -%}
[{{ elements }}]
{%- endmacro %}

{# The same for elements whose type is evident. #}
{% macro default__array_of(elements) -%}
{{ nbsql.array() }}[{{ elements }}]
{%- endmacro %}

{# A list of an expression of each of some items, which a block renders. #}
{% macro array_of_each(items) -%}
{% set elements %}{% for item in items %}{{ caller(item) }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
{{ nbsql.array_of(elements) }}
{%- endmacro %}

{#
  A list of an expression of each element. body: the expression; it calls the element x and, if it needs its position, calls that by the
  name `place`. The body of one such list may contain at most one other.
#}
{% macro default__list_mapped(list, body, x='x', place=none) -%}
list_transform({{ list }}, lambda {{ nbsql.word(x) }}{% if place %}, {{ nbsql.word(place) }}{% endif %}: {{ body }})
{%- endmacro %}

{% macro default__without_nulls(list) -%}
list_filter({{ list }}, lambda x: x IS NOT NULL)
{%- endmacro %}

{% macro default__list_highest(list) -%}
list_max({{ list }})
{%- endmacro %}

{% macro default__list_lowest(list) -%}
list_min({{ list }})
{%- endmacro %}

{% macro default__list_total(list) -%}
list_sum({{ list }})
{%- endmacro %}

{# The sum of the products of two lists. #}
{% macro default__list_product(a, b) -%}
list_dot_product({{ a }}, {{ b }})
{%- endmacro %}

{# A list of lists, from the elements of each. #}
{% macro default__matrix_row(elements) -%}
[{{ elements }}]
{%- endmacro %}

{#
  One row per row of a matrix, beside the elements of other lists. lists: rendered, with as many elements as the matrix has rows, or none
  for an expression that is the same beside all of them. width: the length of a row.
#}
{% macro default__unnested_matrix(lists, matrix, width, relation) -%}
SELECT
  {% for elements, other in lists %}
  {%+ if elements is not none %}unnest([{{ elements }}]){% else %}{{ other }}{%+ endif %},
  {% endfor %}
  unnest({{ matrix }})
FROM {{ relation }}
{%- endmacro %}

{# The place of the first element that equals x. #}
{% macro default__list_place(list, x) -%}
list_position({{ list }}, {{ x }})
{%- endmacro %}

{% macro default__list_size(list) -%}
len({{ list }})
{%- endmacro %}

{# The whole numbers from the first up to the one before the end. #}
{% macro default__list_of_whole_numbers(first, end) -%}
range({{ first }}, {{ end }})
{%- endmacro %}

{# A quotient of whole numbers without its remainder. #}
{% macro default__whole_quotient(a, b) -%}
{{ a }} // {{ b }}
{%- endmacro %}

{# To stand in a SELECT: one row per element of several lists side by side; names: of their columns. #}
{% macro default__unnested(lists, names) -%}
{% for list in lists -%}
unnest({{ list }}) AS {{ nbsql.word(names[loop.index0]) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# The same for one list, with the places of its elements. #}
{% macro default__unnested_with_places(list, place, name) -%}
generate_subscripts({{ list }}, 1) AS {{ nbsql.word(place) }}, unnest({{ list }}) AS {{ nbsql.word(name) }}
{%- endmacro %}

{# To follow a sub-select whose columns are costly and named more than once. Without it, an engine may compute them again for each use. #}
{% macro default__optimisation_fence() -%}{% endmacro %}

{#
  The columns of `scored` (predict.sql), some of them replaced. replaced: pairs of a name, as a word, and an expression. others: the names
  of further columns of the relation.
#}
{% macro default__replace_columns(model, replaced, others=[]) -%}
source.* REPLACE (
    {% for name, expression in replaced %}
    {{ expression }} AS {{ name }}{{ nbsql.comma(loop) }}
    {% endfor %}
  )
{%- endmacro %}

{# An aggregate: any of the numbers of a group whose numbers are all equal. #}
{% macro default__common_value(x) -%}
any_value({{ x }})
{%- endmacro %}
