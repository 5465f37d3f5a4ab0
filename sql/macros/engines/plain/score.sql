{# The forms of scoring for engines that cannot select all columns except some. The columns of the source are written out. #}

{% macro plain__source_columns(model) -%}
{% for column in model.options.columns -%}
{% if not loop.first %}  {% endif %}source.{{ nbsql.ident(column) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# The columns of `scored`, some of them replaced. scored_columns names the further columns that `scored` has in such a dialect. #}
{% macro plain__replace_columns(model, replaced, others=[]) -%}
{% for column in model.options.columns -%}
source.{{ nbsql.ident(column) }},
{% endfor -%}
{% if model.has_row_numbers -%}
source.nbsql_row,
{% endif -%}
{% if model.form.features_with_common_term -%}
source.nbsql_common,
{% endif -%}
{% set names = replaced | map('first') | list -%}
{% for name in nbsql.scored_columns(model).split() + others if name not in names -%}
source.{{ nbsql.word(name) }},
{% endfor -%}
{% for name, expression in replaced -%}
{{ expression }} AS {{ name }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# The posteriors of a row, a list in the order of the classes; all are 0 where no class explains the row. #}
{% macro plain__posteriors(model) -%}
{% set explained %}source.nbsql_log_evidence > -{{ nbsql.infinity() }}{% endset -%}
{% if model.form.class_numbers -%}
{% set posteriors %}

  {% for k in model.form.class_numbers %}
  {% set difference %}source.nbsql_joint_{{ k }} - source.nbsql_log_evidence{% endset %}
  CASE WHEN {{ explained }} THEN {{ nbsql.exp(difference) }} ELSE 0 END{{ nbsql.comma(loop) }}
  {% endfor %}
{% endset -%}
{{ nbsql.array_of(posteriors) }}
{%- else -%}
{% set difference %}joint - source.nbsql_log_evidence{% endset -%}
{% set posterior %}CASE WHEN {{ explained }} THEN {{ nbsql.exp(difference) }} ELSE 0 END{% endset -%}
{{ nbsql.list_mapped(nbsql.word('source.nbsql_joints'), posterior, 'joint') }}
{%- endif %}
{%- endmacro %}
