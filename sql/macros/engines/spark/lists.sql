{# Lists are arrays, and operations on them are higher-order functions. #}

{# The list of an expression of each element, which is called x, and of its place. #}
{% macro spark__list_mapped(list, body, x='x', place=none) -%}
{% if place -%}
zip_with({{ list }}, sequence(1, size({{ list }})), ({{ nbsql.word(x) }}, {{ nbsql.word(place) }}) -> {{ body }})
{%- else -%}
transform({{ list }}, {{ nbsql.word(x) }} -> {{ body }})
{%- endif %}
{%- endmacro %}

{# To stand in a SELECT: one row per element of several lists side by side, in columns of these names. #}
{% macro spark__unnested(lists, names) -%}
inline(arrays_zip(
  {% for list in lists %}
  {{ list }}{{ nbsql.comma(loop) }}
  {% endfor %}
)) AS ({% for name in names %}{{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{% macro spark__scored_columns(model) -%}
nbsql_prediction nbsql_probability nbsql_highest nbsql_relative_evidence nbsql_log_evidence{%
  for k in model.form.class_numbers %} nbsql_joint_{{ k }} nbsql_class_{{ k }}{% endfor %}
{%- endmacro %}
