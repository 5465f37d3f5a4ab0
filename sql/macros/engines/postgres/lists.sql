{# Lists are arrays, and each operation on one is a sub-select. #}

{% macro postgres__list_mapped(list, body, x='x', place=none) -%}
{% set place = nbsql.word(place or 'nbsql_place') -%}
{% set elements %}unnest({{ list }}) WITH ORDINALITY AS each({{ nbsql.word(x) }}, {{ place }}){% endset -%}
ARRAY(SELECT {{ body }} FROM {{ elements }} ORDER BY {{ place }} ASC NULLS LAST)
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

{# PostgreSQL replaces a name from a sub-select by its expression at every use, so that one named often is computed often. #}
{% macro postgres__optimisation_fence() %}

OFFSET 0
{%- endmacro %}

{% macro postgres__scored_columns(model) -%}
nbsql_prediction nbsql_probability nbsql_log_evidence
{%- if not model.form.class_numbers %} nbsql_joints{% endif %}
{%- for k in model.form.class_numbers %} nbsql_joint_{{ k }}{% endfor %}
{%- endmacro %}
