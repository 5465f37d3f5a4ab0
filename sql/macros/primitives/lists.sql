{# Lists of numbers, one a class, and the operations on them. #}

{# A list of an expression of each of some items, which a block renders. #}
{% macro array_of_each(items) -%}
{% set elements %}{% for item in items %}{{ caller(item) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ nbsql.array_of(elements) }}
{%- endmacro %}

{# To stand in a SELECT: one row per element of several lists side by side; names: of their columns. #}
{% macro default__unnested(lists, names) -%}
{% for list in lists -%}
unnest({{ list }}) AS {{ nbsql.word(names[loop.index0]) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  The columns of `scored` (predict.sql), some of them replaced. replaced: pairs of a name, as a word, and an expression. others: the names
  of further columns of the relation, beside those that scored_columns names.
#}
{% macro default__replace_columns(model, replaced, others=[]) -%}
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
