{#
  Creates and drops the schema of a model and its relations. dbt does this itself, with macros of the same names, which these would
  replace. So dbt does not read this file (sql/.dbtignore).
#}

{#
  Nothing, or an error that undoes the transaction of a script if the schema is there, or is not if it `exists`. DuckDB 1.5 goes on after
  its own error of a schema that exists, so that a shell would count the rows once more. A SET, because a shell prints a table for a SELECT.
  database: none for the current one. relation: the name of a table or view of the schema in its place.
#}
{% macro default__check_new(database, schema, message, relation=none, exists=false) -%}
SET VARIABLE nbsql_check = (
  SELECT CASE WHEN count(*) {% if exists %}={% else %}>{% endif %} 0 THEN {{ nbsql.raise_error(message) }} END
  FROM {% if relation is none %}duckdb_schemas(){% else %}(SELECT table_catalog AS database_name, table_schema AS schema_name, table_name
    FROM information_schema.tables) AS relations{% endif +%}
  WHERE lower(schema_name) = lower({{ nbsql.text(schema) }})
    AND database_name = {% if database is none %}current_database(){% else %}{{ nbsql.text(database) }}{% endif %}
    {% if relation is not none +%}
    AND lower(table_name) = lower({{ nbsql.text(relation) }})
    {%- endif +%}
)
{%- endmacro %}

{% macro create_table_as(relation, query, temporary=false) -%}
CREATE {% if temporary %}TEMP {% endif %}TABLE {{ relation }} AS
{{ query }}
{%- endmacro %}

{# comment: the view's comment, on engines that take it here; on others `comments` sets it. #}
{% macro create_view_as(relation, query, temporary=false, comment=none) -%}
CREATE {% if temporary %}TEMP {% endif %}VIEW {{ relation }} AS
{{ query }}
{%- endmacro %}

{#
  Comments on everything in a model, one text of many statements. schema, about: of the model; none for a part of it. comments: for each
  relation its kind, its name and the text. columns: for each column the relation, the name and the text.
#}
{% macro comments(schema, about, comments, columns=[]) -%}
{% if schema is not none %}{{ nbsql.comment_of_schema(schema, about) }}{% endif %}
{% for kind, relation, text in comments -%}
COMMENT ON {{ nbsql.keyword_of_kind(kind) }} {{ relation }} IS {{ nbsql.text(text) }}
{%- if columns or not loop.last %};
{% endif %}
{%- endfor %}
{% for relation, column, text in columns -%}
COMMENT ON COLUMN {{ relation }}.{{ nbsql.ident(column) }} IS {{ nbsql.text(text) }}
{%- if not loop.last %};
{% endif %}
{%- endfor %}
{%- endmacro %}

{% macro drop_relation(kind, relation, if_exists=false) -%}
DROP {{ nbsql.keyword_of_kind(kind) }} {% if if_exists %}IF EXISTS {% endif %}{{ relation }}
{%- endmacro %}

{# What a statement calls a relation, a view or a macro. #}
{% macro keyword_of_kind(kind) -%}
{% if kind == 'macro' %}{{ nbsql.macro_keyword() }}{% elif kind == 'view' %}VIEW{% else %}TABLE{% endif %}
{%- endmacro %}
