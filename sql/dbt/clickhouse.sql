{# Forms for ClickHouse of what dbt does itself, in place of the default macros. #}

{% macro clickhouse__check_engine() -%}
{% set version = nbsql.query_rows('SELECT version()')[0][0] -%}
{% do nbsql.refuse_if(version.split('.')[0] | int < 26, 'this is ClickHouse ' ~ version ~ '; nbsql needs 26 or later') %}
{%- endmacro %}

{% macro clickhouse__lacking() -%} {% do return(nbsql.warehouses__lacking()) %} {%- endmacro %}

{% macro clickhouse__most_numbers() -%} {% do return(2000) %} {%- endmacro %}

{# A backslash is an escape in names and texts. #}
{% macro clickhouse__ident(name) -%}
"{{ nbsql.with_encoded_line_ends(name) | replace('\\', '\\\\') | replace('"', '\\"') }}"
{%- endmacro %}

{% macro clickhouse__text(value) -%} {{ nbsql.text_with_escapes(value) }} {%- endmacro %}

{#
  A statement as ClickHouse reads it. A column that both sides of a join have keeps its relation in its name, and gets its own back by an
  alias: one on a line of its own, and those that begin a list after SELECT. A common table expression is computed once if it is
  materialized. A join without a match gives NULL, and an aggregate may have the name of the column that it reads.
#}
{% macro clickhouse_statement(sql) -%}
{% set own = '(?m)^( *)(\\w+)[.](\\w+|"[^"]+")(,?)$(?!\\s*[-+*/|])' -%}
{% set kept = namespace(sql=modules.re.sub(own, '\\1\\2.\\3 AS \\3\\4', sql | string)) -%}
{% for _ in range(8) -%}
{% set kept.sql = modules.re.sub(
  '(?m)^( *SELECT (?:\\w+[.]\\w+ AS \\w+, )*)(\\w+)[.](\\w+)(?=, |$)', '\\1\\2.\\3 AS \\3', kept.sql) -%}
{% endfor -%}
{% set kept.sql = modules.re.sub('(?m)^( *(?:WITH )?)(\\w+|"[^"]+") AS \\($', '\\1\\2 AS MATERIALIZED (', kept.sql) -%}
{% if '.nbsql_row = number.nbsql_row' in kept.sql -%}
{% set kept.sql = kept.sql | replace(' number.*', ' number.* EXCEPT nbsql_row, number.nbsql_row AS nbsql_row') -%}
{% endif -%}
{% set settings = 'SETTINGS join_use_nulls = 1, prefer_column_name_to_alias = 1, enable_materialized_cte = 1' -%}
{% do return(nbsql.finished_statement(kept.sql) ~ '\n' ~ settings) %}
{%- endmacro %}

{% macro clickhouse__body(sql) -%}
{% set in_tables = flags.WHICH in ['run', 'build'] and config.get('materialized') in ['table', 'incremental'] -%}
{% set query = nbsql.clickhouse_query_in_tables(sql, {}, []) if in_tables else sql -%}
{% do return('SELECT * FROM (\n' ~ nbsql.clickhouse_statement(query) ~ '\n) AS answer') %}
{%- endmacro %}

{#
  A query whose common table expressions that are named more than once have become temporary tables, of names in `made`, as ClickHouse
  plans each again wherever it is named, and those within it again. They end with the session, which is that of a thread of dbt, or with
  the next model in it. known: what the query may name, by name.
#}
{% macro clickhouse_query_in_tables(sql, known, made) -%}
{% set pattern, known = '(?ms)^(?:WITH )?(\\w+|"[^"]+") AS (?:MATERIALIZED )?\\(\n(.*?)\n\\),?\n\\s*', dict(known) -%}
{% for name, body in modules.re.findall(pattern, sql) -%}
{% set query = nbsql.clickhouse_query_in_tables(modules.re.sub('(?m)^  ', '', body), known, made) -%}
{% if modules.re.findall('(?:FROM|JOIN) ' ~ name ~ '(?![\\w.])', sql) | length > 1 -%}
{% do made.append('nbsql_' ~ (made | length + 1)) %}
{% do run_query('DROP TEMPORARY TABLE IF EXISTS ' ~ made[-1]) %}
{% do run_query('CREATE TEMPORARY TABLE ' ~ made[-1] ~ ' AS\n' ~ nbsql.clickhouse_statement(query)) %}
{% do known.update({name: name ~ ' AS (SELECT * FROM ' ~ made[-1] ~ ')'}) %}
{% else %}{% do known.update({name: name ~ ' AS (\n' ~ query ~ '\n)'}) %}
{% endif -%}
{% endfor -%}
{% set rest, named = modules.re.sub(pattern, '', sql), [] -%}
{% for name, table in known.items() if name in rest %}{% do named.append(table) %}{% endfor -%}
{% do return(('WITH ' ~ named | join(',\n') ~ '\n' if named else '') ~ rest) %}
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
