{# Forms for Snowflake, BigQuery and Trino of what dbt does itself, in place of the default macros. #}

{% macro warehouses__check_engine() %}{% endmacro %}

{# What is refused, with the reason. #}
{% macro warehouses__lacking() -%}
{% do return({
  'lists': 'where the package computes without lists', 'bags': 'where the package reads no lists',
  'patterns': 'where the package reads no patterns of numbers', 'times': 'where the package lets no rows age'}) %}
{%- endmacro %}

{% macro trino__lacking() -%}
{% do return(dict(nbsql.warehouses__lacking(), characters='where the package cuts texts into words only')) %}
{%- endmacro %}

{# Its patterns know the letters of ASCII alone. #}
{% macro snowflake__lacking() -%}
{% do return(dict(nbsql.trino__lacking(), **{
  'letters': "whose patterns know no letters beyond ASCII; give it a pattern such as '[a-z0-9]+'",
  'normal forms': 'which has no normal forms of Unicode; give it normal_form: null', 'accents': 'which takes no accents off',
  'ngrams': 'where the package makes no runs of words'})) %}
{%- endmacro %}

{% macro warehouses__most_numbers() -%} {% do return(500) %} {%- endmacro %}

{# The columns of a table or view: name, type, kind. Texts of any length have one type, in which no longer text is cut. #}
{% macro warehouses__columns_of_relation(relation) -%}
{% set own = api.Relation.create(database=relation.database, schema=relation.schema, identifier=relation.identifier) -%}
{% set found = [] -%}
{% for column in adapter.get_columns_in_relation(own) -%}
{% set kind = nbsql.column_kind(column.data_type) -%}
{% do found.append((nbsql.name_of_column(column.name), nbsql.string() | trim if kind == 'text' else column.data_type, kind)) %}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{% macro default__name_of_column(name) -%} {% do return(name) %} {%- endmacro %}

{#
  A name without quotes is one of capitals there, and is said and written in small letters, as in Python. One of small letters, which was
  made in quotes, would be taken for it.
#}
{% macro snowflake__name_of_column(name) -%}
{% do nbsql.refuse_if(modules.re.match('[a-z_][a-z0-9_]*$', name) and name != name | upper,
  "column '" ~ name ~ "' was made in quotes, in small letters, which here is another than " ~ name ~ ' without quotes; rename it, or '
  ~ 'select it under another name in a staging model') %}
{% do return(name | lower if modules.re.match('[A-Z_][A-Z0-9_]*$', name) else name) %}
{%- endmacro %}

{% macro snowflake__ident(name) -%}
{{ nbsql.default__ident(name | upper if modules.re.match('[a-z_][a-z0-9_]*$', name | string) else name) }}
{%- endmacro %}

{% macro snowflake__text(value) -%} {{ nbsql.text_with_escapes(value) }} {%- endmacro %}

{% macro snowflake__number(value) -%} CAST('{{ value }}' AS DOUBLE) {%- endmacro %}

{# A number without a place after the point is whole. #}
{% macro snowflake__column_kind(type, typtype=none) -%}
{% if modules.re.match('(?i)number\\(\\d+, *[1-9]', type) %}{% do return('decimal') %}{% endif -%}
{% do return(nbsql.default__column_kind('integer' if (type | lower).startswith('number') else type)) %}
{%- endmacro %}

{% macro bigquery__ident(name) -%} `{{ nbsql.with_encoded_line_ends(name) | replace('\\', '\\\\') | replace('`', '\\`') }}` {%- endmacro %}

{% macro bigquery__text(value) -%} {{ nbsql.text_with_escapes(value) }} {%- endmacro %}

{# A text where a backslash is an escape. #}
{% macro text_with_escapes(value) -%}
'{{ nbsql.with_encoded_line_ends(value) | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro %}

{#
  The number of a row. The order makes it the same wherever its query is run again: rows that are equal in all that is read of them may
  change places.
#}
{% macro warehouses__source_row_id(model) -%}
{% set columns = [] -%}
{% for column in (model.spec.id + model.feature_columns) | unique(case_sensitive=true) -%}
{% do columns.append('source.' ~ nbsql.ident(column)) %}
{% endfor -%}
row_number() OVER (ORDER BY {{ columns | join(' ASC NULLS LAST, ') or 1 }} ASC NULLS LAST)
{%- endmacro %}
