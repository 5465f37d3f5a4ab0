{#
  The body of the function that the triggers of PostgreSQL call. It has the name of the table of changes, and the rights of the model's
  owner.
#}
{% macro postgres__recorder(table, changes, columns, target) -%}
BEGIN
  IF TG_OP = 'TRUNCATE' THEN
    {{ nbsql.record_rows(changes, columns, target, gone=table) | indent(4) }};
  END IF;
  IF TG_OP IN ('DELETE', 'UPDATE') THEN
    {{ nbsql.record_rows(changes, columns, target, gone=nbsql.word('nbsql_old')) | indent(4) }};
  END IF;
  IF TG_OP IN ('INSERT', 'UPDATE') THEN
    {{ nbsql.record_rows(changes, columns, target, come=nbsql.word('nbsql_new')) | indent(4) }};
  END IF;
  RETURN NULL;
END
{%- endmacro %}

{# Before a TRUNCATE, which hands no rows to its trigger, the rows can still be read. #}
{% macro postgres__create_trigger(event, name, table, changes, columns, target) -%}
{% set moment %}{% if event == 'truncate' %}BEFORE{% else %}AFTER{% endif %}{% endset -%}
CREATE TRIGGER {{ nbsql.ident(name) }} {{ moment }} {{ nbsql.word(event) | upper }} ON {{ table }}
{% if event != 'truncate' %}
{{ nbsql.rows_of_event(event) }}
{% endif %}
FOR EACH STATEMENT EXECUTE FUNCTION {{ changes }}()
{%- endmacro %}

{# As for DuckDB. A role that may not read the rows of the changes may read whether there are any. #}
{% macro postgres__state_of_changes(changes, name, database, literal) -%}
SELECT
  EXISTS (SELECT nbsql_taken FROM {{ changes }} AS changes) AS pending,
  EXISTS (SELECT 1 FROM pg_trigger WHERE tgfoid = to_regprocedure({{ literal }} || '()')) AS follows,
  has_table_privilege({{ literal }}, 'DELETE') AND current_setting('transaction_read_only') = 'off' AS may_learn
{%- endmacro %}
