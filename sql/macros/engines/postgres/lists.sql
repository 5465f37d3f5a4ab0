{# Lists are arrays, and each operation on one is a sub-select. #}

{% macro postgres__list_mapped(list, body, x='x', place=none) -%}
{% set place = nbsql.word(place or 'nbsql_place') -%}
{% set elements %}unnest({{ list }}) WITH ORDINALITY AS each({{ nbsql.word(x) }}, {{ place }}){% endset -%}
ARRAY(SELECT {{ body }} FROM {{ elements }} ORDER BY {{ place }} ASC NULLS LAST)
{%- endmacro %}

{# PostgreSQL replaces a name from a sub-select by its expression at every use, so that one named often is computed often. #}
{% macro postgres__optimisation_fence() %}

OFFSET 0
{%- endmacro %}

{% macro postgres__scored_columns(model) -%}
nbsql_prediction nbsql_probability nbsql_highest nbsql_relative_evidence nbsql_log_evidence
{%- if not model.form.class_numbers %} nbsql_joints{% endif %}
{%- for k in model.form.class_numbers %} nbsql_joint_{{ k }}{% endfor %}
{%- endmacro %}
