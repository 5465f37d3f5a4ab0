{# What is in a database, as DuckDB knows it. Names are compared as DuckDB does, without regard to case. #}

{% macro current_names() -%}
SELECT current_database() AS database, current_schema() AS schema
{%- endmacro %}

{% macro transaction_number() -%}
SELECT txid_current() AS number
{%- endmacro %}

{% macro relations() -%}
SELECT database_name, schema_name, table_name AS name, 'table' AS kind FROM duckdb_tables() WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name AS name, 'view' AS kind FROM duckdb_views() WHERE NOT internal
{%- endmacro %}

{% macro contents(database, schema) -%}
SELECT table_name AS name, 'table' AS kind FROM duckdb_tables()
WHERE lower(database_name) = lower({{ nbsql.text(database) }}) AND schema_name = {{ nbsql.text(schema) }}
UNION ALL
SELECT view_name, 'view' FROM duckdb_views()
WHERE NOT internal AND lower(database_name) = lower({{ nbsql.text(database) }}) AND schema_name = {{ nbsql.text(schema) }}
UNION ALL
SELECT function_name, CASE function_type WHEN 'table_macro' THEN 'macro' ELSE 'other' END FROM duckdb_functions()
WHERE NOT internal
  AND lower(database_name) = lower({{ nbsql.text(database) }}) AND schema_name = {{ nbsql.text(schema) }}
UNION ALL
SELECT sequence_name, 'other' FROM duckdb_sequences()
WHERE lower(database_name) = lower({{ nbsql.text(database) }}) AND schema_name = {{ nbsql.text(schema) }}
UNION ALL
SELECT type_name, 'other' FROM duckdb_types()
WHERE NOT internal AND lower(database_name) = lower({{ nbsql.text(database) }}) AND schema_name = {{ nbsql.text(schema) }}
{%- endmacro %}

{% macro schemas(database) -%}
SELECT schema_name FROM duckdb_schemas() WHERE lower(database_name) = lower({{ nbsql.text(database) }})
{%- endmacro %}

{# The schemas that hold a model: those with nbsql's table `spec`. #}
{% macro model_schemas(database) -%}
SELECT schema_name
FROM duckdb_columns()
WHERE lower(database_name) = lower({{ nbsql.text(database) }}) AND table_name = 'spec' AND column_name IN ('spec', 'nbsql_version')
GROUP BY schema_name
HAVING count(*) = 2
ORDER BY schema_name
{%- endmacro %}

{% macro databases() -%}
SELECT database_name, readonly FROM duckdb_databases() WHERE NOT internal
{%- endmacro %}

{% macro empty(source) -%}
SELECT * FROM {{ source }} AS source LIMIT 0
{%- endmacro %}

{% macro everything(relation) -%}
SELECT * FROM {{ relation }} AS relation
{%- endmacro %}

{# A relation's rows in an order that does not change from run to run. #}
{% macro sorted_by(relation, columns) -%}
SELECT * FROM {{ relation }} AS relation
ORDER BY {% for column in columns %}relation.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}

{%- endmacro %}

{% macro matches_pattern(pattern) -%}
SELECT regexp_matches('', {{ nbsql.text(pattern) }})
{%- endmacro %}

{% macro expression(query) -%}
SELECT ({{ query }})
{%- endmacro %}

{# An expression over the columns of a source, by itself and in no parentheses. #}
{% macro expression_of(source, expression) -%}
SELECT {{ expression }} FROM {{ source }} AS source
{%- endmacro %}

{# The same where no function that makes rows may stand: unnest, which elsewhere would multiply those of the source. #}
{% macro expression_of_one_value(source, expression) -%}
SELECT 1 FROM {{ source }} AS source QUALIFY ({{ expression }}) IS NULL AND row_number() OVER () > 0
{%- endmacro %}

{% macro subquery(query) -%}
(
  {{ query | indent(2) }}
)
{%- endmacro %}
