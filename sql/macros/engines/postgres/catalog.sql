{# The catalogue of a PostgreSQL database. Names are compared exactly. #}

{# A script looks up names on the path of our statements, whatever that of the session. #}
{% macro postgres__begin_transaction() -%}
BEGIN TRANSACTION;
SET LOCAL {{ nbsql.own_path() }}
{%- endmacro %}

{% macro own_path() -%} search_path = pg_catalog, pg_temp {%- endmacro %}

{% macro names_of_schemas(schemas) -%}
CAST(ARRAY[{% for schema in schemas %}{{ nbsql.text(schema) }}{{ nbsql.comma(loop) }}{% endfor %}] AS NAME[])
{%- endmacro %}

{#
  One row per table or view, those nearest on the search path first: database, schema, name, kind, visible (whether the name alone finds
  it). schemas: those on the path of the session.
#}
{% macro postgres__relations(schemas=[]) -%}
SELECT
  current_database() AS database,
  schema,
  name,
  CASE WHEN kind IN ('r', 'p', 'm') THEN 'table' ELSE 'view' END AS kind,
  place IS NOT NULL AND row_number() OVER (PARTITION BY name ORDER BY place ASC NULLS LAST) = 1 AS visible
FROM (
  SELECT
    namespace.nspname AS schema,
    class.relname AS name,
    class.relkind AS kind,
    array_position({{ nbsql.names_of_schemas(schemas) }}, namespace.nspname) AS place
  FROM pg_class AS class
  JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
) AS relations
WHERE kind IN ('r', 'p', 'm', 'v', 'f')
ORDER BY visible DESC NULLS LAST, schema ASC NULLS LAST, name ASC NULLS LAST
{%- endmacro %}

{#
  One row per function, operator or type of another role, not a superuser, in some schemas that has the name of one of PostgreSQL's own:
  name, schema, owner.
#}
{% macro postgres__namesakes(schemas) -%}
SELECT kind || ' ' || found.name AS name, namespace.nspname AS schema, role.rolname AS owner
FROM (
  SELECT 'function' AS kind, proname AS name, pronamespace AS namespace, proowner AS owner FROM pg_proc
  UNION ALL
  SELECT 'operator', oprname, oprnamespace, oprowner FROM pg_operator
  UNION ALL
  SELECT 'type', typname, typnamespace, typowner FROM pg_type
) AS found
JOIN pg_namespace AS namespace ON namespace.oid = found.namespace
JOIN pg_roles AS role ON role.oid = found.owner
WHERE namespace.nspname = ANY ({{ nbsql.names_of_schemas(schemas) }})
  AND namespace.nspname <> 'pg_catalog'
  AND NOT role.rolsuper
  AND role.rolname <> current_user
  AND found.name IN (
    SELECT proname FROM pg_proc WHERE pronamespace = CAST('pg_catalog' AS REGNAMESPACE)
    UNION ALL
    SELECT oprname FROM pg_operator WHERE oprnamespace = CAST('pg_catalog' AS REGNAMESPACE)
    UNION ALL
    SELECT typname FROM pg_type WHERE typnamespace = CAST('pg_catalog' AS REGNAMESPACE)
  )
ORDER BY schema ASC NULLS LAST, name ASC NULLS LAST
{%- endmacro %}

{# One row per object in a schema: name, kind (table, view, macro for a function, or other). #}
{% macro postgres__contents(database, schema) -%}
SELECT class.relname AS name, CASE class.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' ELSE 'other' END AS kind
FROM pg_class AS class
WHERE class.relnamespace = CAST(quote_ident({{ nbsql.text(schema) }}) AS regnamespace) AND class.relkind NOT IN ('i', 'I', 't')
UNION ALL
SELECT function.proname, 'macro'
FROM pg_proc AS function
WHERE function.pronamespace = CAST(quote_ident({{ nbsql.text(schema) }}) AS regnamespace)
  AND (function.proname <> 'changes' OR function.prorettype <> CAST('trigger' AS regtype))
UNION ALL
SELECT type.typname, 'other'
FROM pg_type AS type
WHERE type.typnamespace = CAST(quote_ident({{ nbsql.text(schema) }}) AS regnamespace) AND type.typrelid = 0 AND type.typelem = 0
{%- endmacro %}

{# The schemas that hold a model: those with nbsql's table `spec`. #}
{% macro postgres__model_schemas(database) -%}
SELECT namespace.nspname AS schema
FROM pg_namespace AS namespace
JOIN pg_class AS class ON class.relnamespace = namespace.oid AND class.relname = 'spec'
JOIN pg_attribute AS attribute ON attribute.attrelid = class.oid AND attribute.attname IN ('spec', 'nbsql_version')
GROUP BY namespace.nspname
HAVING count(*) = 2
ORDER BY namespace.nspname ASC NULLS LAST
{%- endmacro %}

{#
  One row per type, by its oid: oid, name, typtype. A name is the same in every session: quoted only where it must be, and with its schema
  unless it is PostgreSQL's own. Of -1 it is of any length: bpchar, and not character, which is one character. citext counts as text, as
  values are compared with regard to case, and a list of values of an ENUM as one of texts.
#}
{% macro postgres__types(oids) -%}
SELECT
  oid,
  CASE
    WHEN set_config('quote_all_identifiers', 'off', TRUE) <> 'off' THEN NULL
    WHEN typname = 'citext' THEN 'text'
    WHEN typname = '_citext' OR typelem IN (SELECT oid FROM pg_type WHERE typtype = 'e') THEN 'text[]'
    WHEN pg_type_is_visible(oid) AND typnamespace <> CAST('pg_catalog' AS regnamespace)
    THEN CAST(typnamespace AS regnamespace) || '.' || format_type(oid, -1)
    ELSE format_type(oid, -1)
  END AS name,
  typtype
FROM pg_type
WHERE oid IN ({% for oid in oids %}{{ oid }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# `check_empty` (storage/model.sql) as a block of PL/pgSQL, which can raise a message; no function of a query can. #}
{% macro postgres__check_empty(spec, query, message) -%}
BEGIN
  IF EXISTS {{ nbsql.subquery(query) | indent(2) }} THEN
    RAISE EXCEPTION USING MESSAGE = {{ nbsql.text(message) }};
  END IF;
END
{%- endmacro %}
