{# Lists are arrays, and operations on them are higher-order functions. #}

{% macro spark__list_of(elements, type) -%}
CAST(array({{ elements }}) AS ARRAY<{{ type }}>)
{%- endmacro %}

{% macro spark__array_of(elements) -%}
array({{ elements }})
{%- endmacro %}

{# The list of an expression of each element, which is called x, and of its place. #}
{% macro spark__list_mapped(list, body, x='x', place=none) -%}
{% if place -%}
zip_with({{ list }}, sequence(1, size({{ list }})), ({{ nbsql.word(x) }}, {{ nbsql.word(place) }}) -> {{ body }})
{%- else -%}
transform({{ list }}, {{ nbsql.word(x) }} -> {{ body }})
{%- endif %}
{%- endmacro %}

{% macro spark__without_nulls(list) -%}
array_compact({{ list }})
{%- endmacro %}

{% macro spark__list_highest(list) -%}
array_max({{ list }})
{%- endmacro %}

{% macro spark__list_lowest(list) -%}
array_min({{ list }})
{%- endmacro %}

{% macro spark__list_total(list) -%}
aggregate({{ list }}, {{ nbsql.number(0) }}, (total, x) -> total + x)
{%- endmacro %}

{% macro spark__list_product(a, b) -%}
aggregate(zip_with({{ a }}, {{ b }}, (one, other) -> one * other), {{ nbsql.number(0) }}, (total, x) -> total + x)
{%- endmacro %}

{% macro spark__whole_quotient(a, b) -%}
CAST({{ a }} div {{ b }} AS INT)
{%- endmacro %}

{# Spark returns 0 instead of NULL for an absent element. #}
{% macro spark__list_place(list, x) -%}
CAST(nullif(array_position({{ list }}, {{ x }}), 0) AS INT)
{%- endmacro %}

{% macro spark__list_size(list) -%}
size({{ list }})
{%- endmacro %}

{# To stand in a SELECT: one row per element of several lists side by side, in columns of these names. #}
{% macro spark__unnested(lists, names) -%}
inline(arrays_zip(
  {% for list in lists %}
  {{ list }}{{ nbsql.comma(loop) }}
  {% endfor %}
)) AS ({% for name in names %}{{ nbsql.word(name) }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{% macro spark__unnested_with_places(list, place, name) -%}
inline(arrays_zip(sequence(1, size({{ list }})), {{ list }})) AS ({{ nbsql.word(place) }}, {{ nbsql.word(name) }})
{%- endmacro %}

{% macro spark__scored_columns(model) -%}
nbsql_prediction nbsql_probability nbsql_log_evidence{%
  for k in model.form.class_numbers %} nbsql_joint_{{ k }} nbsql_class_{{ k }}{% endfor %}
{%- endmacro %}

{% macro spark__map_of_one(key) -%} map({{ key }}, 1) {%- endmacro %}
