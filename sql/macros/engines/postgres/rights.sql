{#
  The rights that others have to a model, and its owner, which a model keeps when its relations, or all of it, are made anew. A table of
  predictions keeps them, too.
#}

{#
  One row per right to the schema of a model, a relation in it, a column or a function, and one of an object without any: kind, name,
  oid, owner, attribute (a column's name), grantee, privilege, grantable, and is_own, whether it is the owner's. Of the kinds TABLES,
  FUNCTIONS, ... are the rights that later objects get: name tells whether in the schema, or everywhere. relation: a name, for those of one
  table or view alone; none for all.
#}
{% macro rights(schema, relation) -%}
{% set namespace %}(SELECT oid FROM pg_namespace WHERE nspname = {{ nbsql.text(schema) }}){% endset -%}
SELECT
  objects.kind,
  objects.name,
  objects.oid,
  pg_get_userbyid(objects.owner) AS owner,
  objects.attribute,
  CASE WHEN acl.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(acl.grantee)) END AS grantee,
  acl.privilege_type AS privilege,
  acl.is_grantable AS grantable,
  acl.grantee = objects.owner AS is_own
FROM (
  SELECT
    'SCHEMA' AS kind,
    '' AS name,
    oid,
    nspowner AS owner,
    CAST(NULL AS NAME) AS attribute,
    coalesce(nspacl, acldefault('n', nspowner)) AS acl
  FROM pg_namespace
  WHERE oid = {{ namespace }}
  UNION ALL
  SELECT 'TABLE', relname, oid, relowner, NULL, coalesce(relacl, acldefault('r', relowner))
  FROM pg_class
  WHERE relnamespace = {{ namespace }} AND relkind IN ('r', 'v')
  UNION ALL
  SELECT 'TABLE', relname, pg_class.oid, relowner, attname, attacl
  FROM pg_attribute
  JOIN pg_class ON pg_class.oid = attrelid
  WHERE relnamespace = {{ namespace }} AND relkind IN ('r', 'v') AND attacl IS NOT NULL AND NOT attisdropped
  UNION ALL
  SELECT 'FUNCTION', proname, oid, proowner, NULL, coalesce(proacl, acldefault('f', proowner))
  FROM pg_proc
  WHERE pronamespace = {{ namespace }}
  UNION ALL
  SELECT
    CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'f' THEN 'FUNCTIONS' WHEN 'S' THEN 'SEQUENCES' ELSE 'TYPES' END,
    CASE WHEN defaclnamespace = 0 THEN 'everywhere' ELSE 'schema' END,
    oid,
    defaclrole,
    NULL,
    defaclacl
  FROM pg_default_acl
  WHERE defaclnamespace = {{ namespace }} OR (defaclnamespace = 0 AND defaclobjtype IN ('r', 'f'))
) AS objects
LEFT JOIN LATERAL aclexplode(objects.acl) AS acl ON TRUE
{%- if relation is not none +%}
WHERE objects.kind NOT IN ('SCHEMA', 'TABLE', 'FUNCTION') OR (objects.kind = 'TABLE' AND objects.name = {{ nbsql.text(relation) }})
{%- endif %}
{%- endmacro %}

{# Keeps the rights to a model until the end of the transaction; the statements of a block of PL/pgSQL. #}
{% macro postgres__keep_rights(schema, relation=none) -%}
BEGIN
  PERFORM set_config('nbsql.rights', (
    SELECT coalesce(CAST(jsonb_agg(to_jsonb(rights)) AS TEXT), '[]')
    FROM {{ nbsql.subquery(nbsql.rights(schema, relation)) | indent(4) }} AS rights
  ), TRUE);
END
{%- endmacro %}

{# Gives a model the rights that were kept: the owners first, as a right is given in the name of the owner. #}
{% macro postgres__give_rights(schema, relation=none) -%}
DECLARE
  act TEXT;
BEGIN
  {% for of_owners in [true, false] -%}
  FOREACH act IN ARRAY (
    SELECT coalesce(array_agg(lost.act ORDER BY lost.position ASC NULLS LAST), CAST('{}' AS TEXT[]))
    FROM {{ nbsql.subquery(nbsql.lost(schema, relation, of_owners)) | indent(4) }} AS lost
  ) LOOP
    BEGIN
      EXECUTE act;
    EXCEPTION WHEN OTHERS THEN
      RAISE WARNING '%, so run as the owner: %', SQLERRM, act;
    END;
  END LOOP;
  {%- if not loop.last %}
  {% endif %}
  {%- endfor +%}
END
{%- endmacro %}

{% macro lost(schema, relation, of_owners) -%}
{% if of_owners %}{{ nbsql.lost_owners(schema, relation) }}{% else %}{{ nbsql.lost_rights(schema, relation) }}{% endif %}
{%- endmacro %}

{# The rights that were kept. #}
{% macro kept_rights() -%}
jsonb_to_recordset(CAST(coalesce(nullif(current_setting('nbsql.rights', TRUE), ''), '[]') AS JSONB)) AS kept(
  kind TEXT, name TEXT, oid OID, owner TEXT, attribute TEXT, grantee TEXT, privilege TEXT, grantable BOOLEAN, is_own BOOLEAN
)
{%- endmacro %}

{#
  One row per object of a model that was made anew and has another owner than before, or than all others of its kind had: act, the statement
  that cures it, and position, in which they run.
#}
{% macro lost_owners(schema, relation) -%}
{% set target %}format('%I' || CASE WHEN kind = 'SCHEMA' THEN '' ELSE '.%I' END, {{ nbsql.text(schema) }}, name){% endset -%}
SELECT format('ALTER %s %s OWNER TO %I', kind, {{ target }}, owner_before) AS act, CASE WHEN kind = 'SCHEMA' THEN 1 ELSE 2 END AS position
FROM (
  SELECT DISTINCT
    now.kind,
    now.name,
    now.owner,
    coalesce(
      (SELECT min(kept.owner) FROM {{ nbsql.kept_rights() }} WHERE kept.kind = now.kind AND kept.name = now.name),
      (SELECT min(kept.owner) FROM {{ nbsql.kept_rights() }} WHERE kept.kind = now.kind HAVING min(kept.owner) = max(kept.owner))
    ) AS owner_before
  FROM {{ nbsql.subquery(nbsql.rights(schema, relation)) | indent(2) }} AS now
  WHERE now.kind IN ('SCHEMA', 'TABLE', 'FUNCTION') AND now.oid NOT IN (SELECT kept.oid FROM {{ nbsql.kept_rights() }})
) AS owners
WHERE owner <> owner_before
{%- endmacro %}

{#
  One row per right to what was made anew of a model that is not as it was kept: act, the statement that cures it, and position. An object
  that was there has the rights that it had; a new one has those that all others of its kind had, but for `changes`, whose rows are not
  for all who read the model. A right that later objects get is added if none had it yet.
#}
{% macro lost_rights(schema, relation) -%}
{% set target %}format('%I' || CASE WHEN kind = 'SCHEMA' THEN '' ELSE '.%I' END, {{ nbsql.text(schema) }}, name){% endset -%}
{% set what %}privilege || coalesce(' (' || quote_ident(attribute) || ')', ''){% endset -%}
{% set same -%}
now.kind = due.kind AND now.name = due.name AND now.attribute IS NOT DISTINCT FROM due.attribute
  AND now.grantee = due.grantee AND now.privilege = due.privilege
{%- endset -%}
{% set option %}CASE WHEN grantable THEN ' WITH GRANT OPTION' ELSE '' END{% endset -%}
WITH kept AS (
  SELECT * FROM {{ nbsql.kept_rights() }}
), now AS {{ nbsql.subquery(nbsql.rights(schema, relation)) }}, objects AS (
  SELECT kind, name, owner, EXISTS (SELECT 1 FROM kept WHERE kept.kind = now.kind AND kept.name = now.name) AS is_known
  FROM now
  WHERE kind IN ('SCHEMA', 'TABLE', 'FUNCTION') AND kind IN (SELECT kind FROM kept) AND oid NOT IN (SELECT oid FROM kept)
    AND name <> 'changes'
  GROUP BY kind, name, owner
), later AS (
  SELECT rtrim(kind, 'S') AS kind, grantee, privilege, bool_or(grantable) AS grantable
  FROM kept
  WHERE kind IN ('TABLES', 'FUNCTIONS') AND owner = current_user AND NOT is_own
    AND NOT EXISTS (
      SELECT 1 FROM kept AS held
      WHERE held.kind = rtrim(kept.kind, 'S') AND held.grantee = kept.grantee AND held.privilege = kept.privilege
    )
  GROUP BY rtrim(kind, 'S'), grantee, privilege
), common AS (
  SELECT kind, grantee, privilege, bool_and(grantable) AS grantable
  FROM kept
  WHERE attribute IS NULL AND NOT is_own AND name <> 'changes'
  GROUP BY kind, grantee, privilege
  HAVING count(DISTINCT name) = (
    SELECT count(DISTINCT every.name) FROM kept AS every WHERE every.kind = kept.kind AND every.name <> 'changes'
  )
), due AS (
  SELECT kind, name, attribute, grantee, privilege, bool_or(grantable) AS grantable
  FROM (
    SELECT objects.kind, objects.name, kept.attribute, kept.grantee, kept.privilege, kept.grantable
    FROM objects
    JOIN kept ON kept.kind = objects.kind AND kept.name = objects.name AND NOT kept.is_own
    WHERE kept.grantee <> quote_ident(objects.owner)
      AND (
        kept.attribute IS NULL
        OR EXISTS (
          SELECT 1 FROM pg_attribute
          WHERE attrelid = to_regclass(format('%I.%I', {{ nbsql.text(schema) }}, objects.name)) AND attname = kept.attribute
        )
      )
    UNION ALL
    SELECT objects.kind, objects.name, NULL, common.grantee, common.privilege, common.grantable
    FROM objects
    JOIN common ON common.kind = objects.kind
    WHERE NOT objects.is_known AND common.grantee <> quote_ident(objects.owner)
    UNION ALL
    SELECT objects.kind, objects.name, NULL, later.grantee, later.privilege, later.grantable
    FROM objects
    JOIN later ON later.kind = objects.kind
    WHERE later.grantee <> quote_ident(objects.owner)
  ) AS rights
  GROUP BY kind, name, attribute, grantee, privilege
)
SELECT format('GRANT %s ON %s %s TO %s%s', {{ what }}, kind, {{ target }}, grantee, {{ option }}) AS act, 1 AS position
FROM due
WHERE NOT EXISTS (SELECT 1 FROM now WHERE {{ same }} AND now.grantable >= due.grantable)
UNION ALL
SELECT format('REVOKE %s ON %s %s FROM %s', {{ what }}, now.kind, {{ target }}, grantee), 2
FROM now
JOIN objects USING (kind, name)
WHERE NOT now.is_own
  AND (objects.is_known OR (now.kind = 'FUNCTION' AND now.grantee = 'PUBLIC'))
  AND NOT EXISTS (SELECT 1 FROM due WHERE {{ same }})
UNION ALL
SELECT
  format(
    'ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT %s ON %s TO %s%s',
    owner, {{ nbsql.text(schema) }}, privilege, kind, grantee, {{ option }}
  ),
  3
FROM kept
WHERE name = 'schema'
  AND kind IN ('TABLES', 'FUNCTIONS', 'SEQUENCES', 'TYPES')
  AND EXISTS (SELECT 1 FROM objects WHERE objects.kind = 'SCHEMA')
  AND NOT EXISTS (
    SELECT 1 FROM now
    WHERE now.kind = kept.kind AND now.name = 'schema' AND now.owner = kept.owner AND now.grantee = kept.grantee
      AND now.privilege = kept.privilege AND now.grantable >= kept.grantable
  )
{%- endmacro %}

{# The statements that would give a model the rights that it has lost, one a row. #}
{% macro postgres__statements_of_lost_rights(schema, relation=none) -%}
SELECT act
FROM (
  {{ nbsql.lost_owners(schema, relation) | indent(2) }}
  UNION ALL
  SELECT act, position + 2
  FROM {{ nbsql.subquery(nbsql.lost_rights(schema, relation)) | indent(2) }} AS rights
) AS lost
ORDER BY position ASC NULLS LAST, act ASC NULLS LAST
{%- endmacro %}

{# One row: the owner of a model, if it is another role, not a superuser, of which this one is no member. #}
{% macro postgres__foreign_owner(schema) -%}
SELECT owner.rolname AS owner
FROM pg_namespace
JOIN pg_roles AS owner ON owner.oid = nspowner
JOIN pg_roles AS reader ON reader.rolname = current_user
WHERE nspname = {{ nbsql.text(schema) }}
  AND owner.oid <> reader.oid
  AND NOT owner.rolsuper
  AND (reader.rolsuper OR NOT pg_has_role(owner.oid, 'MEMBER'))
{%- endmacro %}
