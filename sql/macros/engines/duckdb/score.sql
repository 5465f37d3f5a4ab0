{# DuckDB's forms, which select all columns but some, and know functions of lists. #}

{# The columns of the source, unchanged, without those that it was joined with. No source has columns whose names nbsql keeps for itself. #}
{% macro duckdb__source_columns(model=none) -%}
{% set joined_names -%}
{% for name in (model.options.joined_names if model else []) %}{{ nbsql.ident(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
source.* {% if joined_names %}EXCLUDE ({{ joined_names }}) {% endif %}NOT LIKE 'nbsql\_%' ESCAPE '\'
{%- endmacro %}

{#
  A column that a verb adds. If all columns of the source come back, it is unqualified, so that a source with a column of that name is
  refused as ambiguous, instead of one hiding the other; the second column of that name is a NULL.
#}
{% macro duckdb__output_column(model, name, more='') -%}
{% set score %}source.nbsql_{{ nbsql.word(name) }}{% if more %}{{ more }}{% endif %}{% endset -%}
{% if model.options.passed_columns is none %}coalesce({{ nbsql.word(name) }}, {{ score }}){%
  else %}{{ score }}{% endif %} AS {{ nbsql.word(name) }}
{%- endmacro %}

{% macro duckdb__output_label(model) -%}
{% set label %}source.nbsql_prediction{% endset -%}
{% set label = nbsql.plain_label(label, model.spec.target_type) -%}
{% if model.options.passed_columns is none %}coalesce(prediction, {{ label }}){% else %}{{ label }}{% endif %} AS prediction
{%- endmacro %}

{# A number that is not known. #}
{% macro duckdb__output_null(model, name) -%}
CAST({% if model.options.passed_columns is none %}{{ nbsql.word(name) }}{%
  else %}NULL{% endif %} AS {{ nbsql.double() }}) AS {{ nbsql.word(name) }}
{%- endmacro %}

{#
  The columns of `scored` (predict.sql), some of them replaced. replaced: pairs of a name, as a word, and an expression. others: the names
  of further columns of the relation.
#}
{% macro duckdb__replace_columns(model, replaced, others=[]) -%}
source.* REPLACE (
    {% for name, expression in replaced %}
    {{ expression }} AS {{ name }}{{ nbsql.comma(loop) }}
    {% endfor %}
  )
{%- endmacro %}

{# The posteriors of a row of `scored`, a list by class_no; 0 if no class explains the row. #}
{% macro duckdb__posteriors(model) -%}
list_transform(
  {{ nbsql.list_of_joints(model) }},
  lambda joint: CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ nbsql.posterior(model, nbsql.word('joint')) }} ELSE 0 END
)
{%- endmacro %}
