{# Forms for Spark of what dbt does itself, in place of the default macros. nbsql/engines/ and nbsql/rendering/ have the same in Python. #}

{# An adapter that derives from Spark's, such as that of Databricks, is dispatched here, too. #}
{% macro spark__check_engine() -%}
{% set version = nbsql.query_rows('SELECT version()')[0][0] -%}
{% if version.split('.')[0] | int < 4 %}{% do nbsql.refuse('this is Spark ' ~ version ~ '; nbsql needs 4.0 or later') %}{% endif -%}
{%- endmacro %}

{% macro spark__ident(name) -%}
{% do nbsql.refuse_if('${' in name, "the name '" ~ name ~ "' holds '${', which this engine replaces by a variable; rename it") -%}
`{{ nbsql.with_encoded_line_ends(name) | replace('`', '``') }}`
{%- endmacro %}

{% macro spark__text(value) -%}
{% set escaped = nbsql.with_encoded_line_ends(value) | replace('\\', '\\\\') | replace("'", "\\'") -%}
'{{ escaped | replace('${', '\\u0024{') }}'
{%- endmacro %}

{% macro spark__number(value) -%} {{ value }}D {%- endmacro %}

{# With --empty or --sample a relation is a subquery, which cannot be described. #}
{% macro spark__columns_of_relation(relation) -%}
{% do return(nbsql.default__columns_of_relation(api.Relation.create(schema=relation.schema, identifier=relation.identifier))) %}
{%- endmacro %}

{# The elements of an array and a map are in angle brackets; a text with a collation is no text, as the engine would compare by it. #}
{% macro spark__column_kind(type, typtype=none) -%}
{% set name, inner = type.split('<')[0], type[type.find('<') + 1:-1] -%}
{% if name == 'array' -%}
{% do return('tokens' if nbsql.column_kind(inner) == 'text' else 'other') %}
{% elif name == 'map' -%}
{% do return(nbsql.default__column_kind('map(' ~ inner ~ ')')) %}
{% endif -%}
{% do return(nbsql.default__column_kind(type)) %}
{%- endmacro %}

{# The form is always wide here. #}
{% macro spark__is_wide(model, class_count) -%} {% do return(true) %} {%- endmacro %}

{% macro spark__is_zoned(type) -%} {% do return(type | lower == 'timestamp') %} {%- endmacro %}

{# dbt ignores unique_key there but for merge, which adds and updates cells, and leaves those of a slice that are gone. #}
{% macro spark__replaces_slices(name) -%}
{% set strategy, by_slice = config.get('incremental_strategy') or 'append', config.get('partition_by') in ['slice', ['slice']] -%}
{% if strategy == 'insert_overwrite' and not by_slice -%}
{% do nbsql.refuse("'" ~ name ~ "' would lose its older slices: incremental_strategy 'insert_overwrite' needs partition_by: slice") %}
{% elif strategy != 'insert_overwrite' and config.get('unique_key') -%}
{% do nbsql.refuse(
  "'" ~ name ~ "' replaces slices, which incremental_strategy '" ~ strategy ~ "' does not; use 'insert_overwrite' with "
  ~ 'partition_by: slice') %}
{% endif -%}
{% do return(strategy == 'insert_overwrite') %}
{%- endmacro %}

{#
  The rows of a query that is too deep for Spark's analyzer, which follows each common table expression again wherever it is named. Each
  that is named more than once becomes a table, and so does the answer; they are dropped, and the model consists of the answer's few rows.
  search: the first words of the names of the steps of a search, which ends with the first step in which all is done.
#}
{% macro spark__body_in_tables(sql, search=none, takes_views=false) -%}
{% set is_view = config.get('materialized') == 'view' -%}
{% if flags.WHICH not in ['run', 'build'] or (is_view and takes_views) %}{% do return(nbsql.body(sql)) %}{% endif -%}
{% do nbsql.refuse_if(is_view,
  "'" ~ this.identifier ~ "' is made in several statements, and a view would keep what they found; materialize it as a table") %}
{% set pattern = '(?ms)^(?:WITH\\s+)?(\\w+|`(?:[^`]|``)+`) AS \\(\\n(.*?)\\n\\),?\\n\\s*' -%}
{% set made, known, last = [], [], namespace(step=none) -%}
{% for name, body in modules.re.findall(pattern, sql) -%}
{% set is_step = search is not none and search in name -%}
{% if is_step and last.step is not none %}{% set body = 'SELECT * FROM ' ~ last.step -%}
{% elif sql.count(name) > 2 -%}
{% do made.append(nbsql.table_of_step(made, known, 'SELECT * FROM (\n' ~ body ~ '\n) AS kept')) %}
{% set body = 'SELECT * FROM ' ~ made[-1] -%}
{% if is_step and nbsql.query_rows('SELECT count(*) FROM ' ~ made[-1] ~ ' WHERE NOT done')[0][0] == 0 -%}
{% set last.step = made[-1] -%}
{% endif -%}
{% endif -%}
{% do known.append(name ~ ' AS (\n' ~ body ~ '\n)') %}
{% endfor -%}
{% do made.append(nbsql.table_of_step(made, known, modules.re.sub(pattern, '', sql))) %}
{% set columns, texts = nbsql.columns_of_relation(made[-1]), [] -%}
{% for name, type, kind in columns %}{% do texts.append('CAST(' ~ nbsql.ident(name) ~ ' AS STRING)') %}{% endfor -%}
{% set rows = nbsql.query_rows('SELECT ' ~ texts | join(', ') ~ ' FROM ' ~ made[-1]) | list -%}
{% for table in made %}{% do run_query('DROP TABLE ' ~ table) %}{% endfor -%}
{% do return(nbsql.body(nbsql.rows_as_query(columns, rows))) %}
{%- endmacro %}

{# Rows, whose values are texts, as a query of columns of the types that are given. One SELECT for each row would be too deep again. #}
{% macro rows_as_query(columns, rows) -%}
{% set casts, names, values = [], [], [] -%}
{% for name, type, kind in columns -%}
{% do names.append('c' ~ loop.index) %}
{% do casts.append('CAST(' ~ (names[-1] if rows else 'NULL') ~ ' AS ' ~ type ~ ') AS ' ~ nbsql.ident(name)) %}
{% endfor -%}
{% for row in rows -%}
{% set cells = [] -%}
{% for value in row %}{% do cells.append('NULL' if value is none else nbsql.text(value)) %}{% endfor -%}
{% do values.append('(' ~ cells | join(', ') ~ ')') %}
{% endfor -%}
{% set source = 'FROM VALUES\n' ~ values | join(',\n') ~ '\nAS kept(' ~ names | join(', ') ~ ')' if rows else 'WHERE FALSE' -%}
SELECT {{ casts | join(', ') }} {{ source }}
{%- endmacro %}

{# The next table of a model that is made in several: that of a query, which may name those before. #}
{% macro table_of_step(made, known, query) -%}
{% set table = api.Relation.create(schema=this.schema, identifier=this.identifier ~ '__nbsql_' ~ (made | length + 1)) -%}
{% do run_query('DROP TABLE IF EXISTS ' ~ table) %}
{% set before = 'WITH ' ~ known | join(',\n') ~ '\n' if known else '' -%}
{% do run_query(nbsql.finished_statement('CREATE TABLE ' ~ table ~ ' AS\n' ~ before ~ query)) %}
{% do return(table) %}
{%- endmacro %}
