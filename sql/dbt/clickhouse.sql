{# Forms for ClickHouse of what dbt does itself, in place of the default macros. #}

{% macro clickhouse__check_engine() -%}
{% set version = nbsql.query_rows('SELECT version()')[0][0] -%}
{% do nbsql.refuse_if(version.split('.')[0] | int < 26, 'this is ClickHouse ' ~ version ~ '; nbsql needs 26 or later') %}
{%- endmacro %}

{# What is refused, with the reason. #}
{% macro clickhouse__lacking() -%}
{% do return({
  'lists': 'where the package computes without lists', 'words': 'where the package cuts no texts into words',
  'patterns': 'where the package reads no patterns of numbers', 'times': 'where the package lets no rows age',
  'nested scores': 'which takes minutes to plan a query of scores within another'}) %}
{%- endmacro %}

{% macro clickhouse__most_numbers() -%} {% do return(2000) %} {%- endmacro %}

{# A backslash is an escape in names and texts. #}
{% macro clickhouse__ident(name) -%}
"{{ nbsql.with_encoded_line_ends(name) | replace('\\', '\\\\') | replace('"', '\\"') }}"
{%- endmacro %}

{% macro clickhouse__text(value) -%}
'{{ nbsql.with_encoded_line_ends(value) | replace('\\', '\\\\') | replace("'", "\\'") }}'
{%- endmacro %}

{#
  A statement as ClickHouse reads it. A column that both sides of a join have keeps its relation in its name, and gets its own back by an
  alias: one on a line of its own, and those that begin a list after SELECT. A common table expression is computed once if it is
  materialized. A join without a match gives NULL, and an aggregate may have the name of the column that it reads.
#}
{% macro clickhouse_statement(sql) -%}
{% set kept = namespace(sql=modules.re.sub('(?m)^( *)(\\w+)[.](\\w+)(,?)$(?!\\s*[-+*/|])', '\\1\\2.\\3 AS \\3\\4', sql | string)) -%}
{% for _ in range(8) -%}
{% set kept.sql = modules.re.sub(
  '(?m)^( *SELECT (?:\\w+[.]\\w+ AS \\w+, )*)(\\w+)[.](\\w+)(?=, |$)', '\\1\\2.\\3 AS \\3', kept.sql) -%}
{% endfor -%}
{% set kept.sql = modules.re.sub('(?m)^( *(?:WITH )?)(\\w+|"[^"]+") AS \\($', '\\1\\2 AS MATERIALIZED (', kept.sql) -%}
{% set settings = 'SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1, enable_materialized_cte = 1' -%}
{% do return(nbsql.finished_statement(kept.sql) ~ '\n' ~ settings) %}
{%- endmacro %}

{% macro clickhouse__body(sql) -%}
{% do return('SELECT * FROM (\n' ~ nbsql.clickhouse_statement(sql) ~ '\n) AS answer') %}
{%- endmacro %}

{% macro clickhouse__query_rows(sql) -%} {% do return(run_query(nbsql.clickhouse_statement(sql)).rows) %} {%- endmacro %}

{# The columns of a table or view: name, type, kind. #}
{% macro clickhouse__columns_of_relation(relation) -%}
{% set own = api.Relation.create(schema=relation.schema, identifier=relation.identifier) -%} {# whatever rows it is limited to #}
{% set columns -%}
SELECT name, type FROM system.columns WHERE database = {{ nbsql.text(own.schema) }} AND table = {{ nbsql.text(own.identifier) }}
ORDER BY position ASC NULLS LAST
{%- endset -%}
{% set found = [] -%}
{% for name, type in nbsql.query_rows(columns) -%}
{% set type = nbsql.without_wrappers(type) -%}
{% do found.append((name, type, nbsql.column_kind(type))) %}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# A type without Nullable and LowCardinality, which make no difference here. #}
{% macro without_wrappers(type) -%}
{% do return(modules.re.sub('^Nullable\\((.*)\\)$', '\\1', modules.re.sub('^LowCardinality\\((.*)\\)$', '\\1', type))) %}
{%- endmacro %}

{# The types of numbers have their width in their names. #}
{% macro clickhouse__column_kind(type, typtype=none) -%}
{% set name = modules.re.sub('^(u?int|float|decimal|enum)\\d+$', '\\1', nbsql.without_wrappers(type).split('(')[0] | lower) -%}
{% do return({'uint': 'integer', 'fixedstring': 'text'}.get(name) or nbsql.default__column_kind(name)) %}
{%- endmacro %}

{% macro clickhouse__type_of(x) -%} toTypeName({{ x }}) {%- endmacro %}
