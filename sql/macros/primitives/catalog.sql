{# The catalogue of a DuckDB database. Names are compared as DuckDB does, without regard to case. #}

{#
  One row per table or view: database_name, schema_name, name, kind: view, table, or generated for a table with columns that every read
  computes, maybe from random().
#}
{% macro default__relations() -%}
SELECT
  database_name,
  schema_name,
  table_name AS name,
  CASE WHEN sql LIKE '%GENERATED ALWAYS AS%' THEN 'generated' ELSE 'table' END AS kind
FROM duckdb_tables()
WHERE NOT internal
UNION ALL
SELECT database_name, schema_name, view_name AS name, 'view' AS kind FROM duckdb_views() WHERE NOT internal
{%- endmacro %}

{#
  For a query of one row: TRUE, or an error where a setting of the session changes what the SQL of a model means, without an error of its
  own. DuckDB 2 has such: names without quotes in capitals, and places in a list that count from 0 in a lambda.
#}
{% macro has_usual_meaning() -%}
CASE
  WHEN upper(CAST(current_setting('preserve_identifier_case') AS VARCHAR)) = 'UPPERCASE'
    THEN {{ nbsql.raise_error('this session writes names in capitals: RESET preserve_identifier_case') }}
  WHEN list_transform([0], lambda x, place: place)[1] = 0
    THEN {{ nbsql.raise_error('this session counts from 0 in lists: RESET dialect_compatibility_mode') }}
  ELSE TRUE
END
{%- endmacro %}

{# One row, or an error where DuckDB takes every column of objects of a pandas frame for texts: True, dates and lists, too. #}
{% macro reads_objects() -%}
SELECT CASE
  WHEN current_setting('pandas_analyze_sample') = 0
    THEN {{ nbsql.raise_error('this session reads objects of frames as texts: RESET pandas_analyze_sample') }}
  ELSE TRUE
END AS reads_objects
{%- endmacro %}

{#
  One row, everything that a score reads from the catalogue first: the current database and schema; a list of the tables and views with one
  of some names, as in `relations`; and `updated_at` of a model, in a list.
#}
{% macro catalog_and_version(names, spec) -%}
SELECT
  current_database() AS database,
  current_schema() AS schema,
  (
    SELECT list([database_name, schema_name, name, kind])
    FROM {{ nbsql.subquery(nbsql.relations()) | indent(4) }} AS relations
    WHERE lower(name) IN ({% for name in names %}lower({{ nbsql.text(name) }}){{ nbsql.comma_blank(loop) }}{% endfor %})
  ) AS relations,
  (
    SELECT list(updated_at)
    FROM {{ nbsql.subquery(nbsql.updated_at(spec)) | indent(4) }} AS stamps
  ) AS versions
WHERE {{ nbsql.has_usual_meaning() }}
{%- endmacro %}

{# One row: number, as `transaction_number`; the current database; and lakes, the names of the attached DuckLakes. #}
{% macro transaction_and_lakes() -%}
SELECT
  epoch_us(now()) AS number,
  current_database() AS current_database,
  (SELECT list(database_name) FROM duckdb_databases() WHERE type = 'ducklake') AS lakes
WHERE {{ nbsql.has_usual_meaning() }}
{%- endmacro %}

{# One row per object in a schema: name, kind (table, view, macro or other). #}
{% macro default__contents(database, schema) -%}
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

{# One row per schema of an attached database: database_name, schema_name, readonly, type. #}
{% macro default__schemas() -%}
SELECT database_name, schema_name, readonly, type
FROM duckdb_schemas()
JOIN (SELECT database_name, readonly, type FROM duckdb_databases() WHERE NOT internal) AS databases USING (database_name)
{%- endmacro %}

{#
  Everything a verb reads from the catalogue, at once. One row per schema (kind "schema"), table or view, as in `schemas` and `relations`:
  database_name, schema_name, name, kind, readonly, type, and current_database and current_schema.
#}
{% macro schemas_and_relations() -%}
SELECT catalog.*, current_database() AS current_database, current_schema() AS current_schema
FROM (
  SELECT database_name, schema_name, NULL AS name, 'schema' AS kind, readonly, type
  FROM {{ nbsql.subquery(nbsql.schemas()) | indent(2) }} AS schemas
  UNION ALL
  SELECT database_name, schema_name, name, kind, NULL, NULL
  FROM {{ nbsql.subquery(nbsql.relations()) | indent(2) }} AS relations
) AS catalog
{%- endmacro %}

{# The schemas that hold a model: those with nbsql's table `spec`. #}
{% macro default__model_schemas(database) -%}
SELECT schema_name
FROM duckdb_columns()
WHERE lower(database_name) = lower({{ nbsql.text(database) }}) AND table_name = 'spec' AND column_name IN ('spec', 'nbsql_version')
GROUP BY schema_name
HAVING count(*) = 2
ORDER BY schema_name ASC NULLS LAST
{%- endmacro %}

{# The columns of a source, without rows. #}
{% macro without_rows(source) -%} SELECT * FROM {{ source }} AS source LIMIT 0 {%- endmacro %}

{# The rows of a relation in an order that does not change from run to run. #}
{% macro sorted_by(relation, columns) -%}
SELECT * FROM {{ relation }} AS relation
ORDER BY {% for column in columns %}relation.{{ nbsql.ident(column) }} ASC NULLS LAST{{ nbsql.comma_blank(loop) }}{% endfor +%}
{%- endmacro %}

{# One row: the statement that creates a view. #}
{% macro view_definition(database, schema, name) -%}
SELECT sql FROM duckdb_views()
WHERE database_name = {{ nbsql.text(database) }} AND schema_name = {{ nbsql.text(schema) }} AND view_name = {{ nbsql.text(name) }}
{%- endmacro %}

{# One row per view or macro with one of some names: the statement that creates it, or its definition. #}
{% macro definitions(names) -%}
{% set names %}({% for name in names %}lower({{ nbsql.text(name) }}){{ nbsql.comma_blank(loop) }}{% endfor %}){% endset -%}
SELECT sql FROM duckdb_views() WHERE NOT internal AND lower(view_name) IN {{ names }} AND sql IS NOT NULL
UNION ALL
SELECT macro_definition FROM duckdb_functions()
WHERE NOT internal AND lower(function_name) IN {{ names }} AND macro_definition IS NOT NULL
{%- endmacro %}
