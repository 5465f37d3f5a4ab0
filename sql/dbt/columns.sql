{# Reads the columns of a relation from the adapter: name, type and kind, as nbsql/spec/spec.py describes them. #}

{#
  The columns of a relation, a list of dictionaries: name, type, kind. A relation without columns is refused, and one with a column that
  nbsql would add to it, unless it is only read.
#}
{% macro columns_of(relation, role, extended=true) -%}
{% do nbsql.refuse_if(relation is string or relation is none or relation is undefined or relation.identifier is undefined,
  role ~ " must be a relation, ref('...') or source('...', '...'), not " ~ (relation or 'none') ~ '; make a model of a query') %}
{% set found = [] -%}
{% for name, type, kind in nbsql.columns_of_relation(relation) -%}
{% do nbsql.refuse_if(extended and name.lower().startswith('nbsql_'),
  "column '" ~ name ~ "' of " ~ relation.identifier ~ ' has a name that nbsql keeps for itself; rename it') %}
{% do found.append({'name': name, 'type': type, 'kind': kind}) %}
{% endfor -%}
{% if not found -%}
{% set name = (relation.schema ~ '.' if relation.schema else '') ~ relation.identifier -%}
{% do nbsql.refuse(role ~ ' ' ~ name ~ ' is not there, or is an ephemeral model; build it first, as a table or a view') %}
{% endif -%}
{% do return(found) %}
{%- endmacro %}

{# The columns of a relation, a list of dictionaries: name, type, kind. The list is empty if the relation does not exist. #}
{% macro default__columns_of_relation(relation) -%}
{% set found = [] -%}
{# In the run that makes a seed, dbt 2 has the types that it asked for, not those of the database. #}
{% set asked = {'float8': 'DOUBLE', 'datetime': 'TIMESTAMP', 'text': 'VARCHAR'} if target.type == 'duckdb' else {} -%}
{% for column in adapter.get_columns_in_relation(relation) -%}
{% set type = asked[column.dtype] if column.dtype in asked else column.dtype -%}
{% do found.append((column.name, type, nbsql.column_kind(type))) %}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# The kind of a type (number, text and so on). The engines in nbsql/engines/ do the same. typtype: PostgreSQL's; an enum there has e. #}
{% macro default__column_kind(type, typtype=none) -%}
{% set type = type | trim -%}
{% set name = type.split('(')[0] | trim | lower -%}
{% if type.endswith(']') -%}
{% do return('tokens' if type.endswith('[]') and nbsql.column_kind(type[:-2]) == 'text' else 'other') %}
{% elif name == 'map' -%}
{% set pair = type[type.index('(') + 1:-1].split(',', 1) -%}
{% set counts = nbsql.column_kind(pair[0]) == 'text' and nbsql.column_kind(pair[1]) in ['integer', 'float', 'decimal'] -%}
{% do return('token counts' if counts else 'other') %}
{% elif name.startswith('date') or name.startswith('time') or name.startswith('interval') -%}
{% do return('temporal') %}
{% endif -%}
{% for kind, names in [
  ('text', ['varchar', 'enum', 'uuid', 'text', 'character varying', 'character', 'string', 'bpchar', '"char"', 'name', 'citext']),
  ('boolean', ['boolean', 'bool']), ('float', ['float', 'double', 'real', 'double precision', 'float64']),
  ('decimal', ['decimal', 'numeric', 'bignumeric']),
  ('integer', ['int', 'int64', 'tinyint', 'smallint', 'integer', 'bigint', 'hugeint', 'utinyint', 'usmallint', 'uinteger', 'ubigint',
  'uhugeint', '"null"'])] if name in names -%}
{% do return(kind) %}
{% endfor -%}
{% do return('other') %}
{%- endmacro %}

{# The column of that name, compared without regard to case, but in PostgreSQL. A missing column is refused. #}
{% macro default__column_named(columns, name, role, relation) -%}
{% for column in columns if column.name == name %}{% do return(column) %}{% endfor -%}
{% for column in columns if target.type != 'postgres' and column.name | lower == name | string | lower -%}
{% do return(column) %}
{% endfor -%}
{% do nbsql.refuse(
  "no column '" ~ name ~ "' in " ~ relation.identifier ~ ', ' ~ role ~ '; its columns are '
  ~ nbsql.quoted_names(columns | map(attribute='name'))) %}
{%- endmacro %}

{# The columns of those names. #}
{% macro columns_named(columns, names, role, relation) -%}
{% set found = [] -%}
{% for name in names %}{% do found.append(nbsql.column_named(columns, name, role, relation)) %}{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# The name of a column of row weights. A column that does not hold numbers is refused. #}
{% macro weight_column(columns, name, relation) -%}
{% set column = nbsql.column_named(columns, name, 'the weight', relation) -%}
{% do nbsql.refuse_if(column.kind not in ['integer', 'float', 'decimal'],
  "weight column '" ~ column.name ~ "' is " ~ column.type ~ '; weights must be numbers') %}
{% do return(column.name) %}
{%- endmacro %}

{#
  Refuses an option that is no expression, or a single word that is no column, nor a value such as current_date. All others are the
  database's to judge.
#}
{% macro check_expression(columns, expression, option, name, relation) -%}
{% do nbsql.refuse_if(expression is not none and (expression is not string or not expression | trim),
  option ~ " of '" ~ name ~ "' must be an expression in SQL, such as sent_on, not " ~ expression) %}
{% if modules.re.match('[A-Za-z_]\\w*$', (expression or '') | string) and not modules.re.match('(?i)current_|local', expression) -%}
{% do nbsql.column_named(columns, expression | lower, 'which ' ~ option ~ ' names', relation) %}
{% endif -%}
{%- endmacro %}

{#
  The rows of a relation, or those for which a condition holds. With --empty or --sample a relation is a subquery with an alias, which is
  removed: what reads it has its own.
#}
{% macro rows_where(relation, where=none) -%}
{% do nbsql.refuse_if(where is not none and (where is not string or where | trim == ''),
  "where must be a condition in SQL, such as 'n > 5', not '" ~ where ~ "'") %}
{% set rows = modules.re.sub('\\) _dbt_[^)]*$', ')', relation | string) -%}
{% if where is none %}{{ rows }}{% else %}(SELECT * FROM {{ rows }} AS source WHERE ({{ where }})){% endif %}
{%- endmacro %}

{# Whether a relation exists. #}
{% macro is_there(relation) -%} {% do return(nbsql.columns_of_relation(relation) | length > 0) %} {%- endmacro %}

{#
  What a macro returns at once in place of its query: nothing while dbt parses; for compile and docs generate, which a new target must not
  stop, a comment that says which of the relations does not exist yet. The result is none where there is a query to make.
#}
{% macro instead_of_query(relations) -%}
{% if not execute %}{% do return('') %}{% endif -%}
{% if flags.WHICH in ['compile', 'generate'] -%}
{% for relation in relations if relation is not string and relation.identifier is defined and not nbsql.is_there(relation) -%}
{% do return(
  '/* nbsql: ' ~ relation.identifier | replace('*/', '') ~ ' is not there yet; build it, then compile again */ '
  ~ 'SELECT 1 AS nothing WHERE 1 = 0') %}
{% endfor -%}
{% endif -%}
{% do return(none) %}
{%- endmacro %}
