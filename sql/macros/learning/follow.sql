{#
  A model that follows a table. Triggers write the changed rows of the table into `changes`, in the transaction of the change: the columns
  that the model reads, with nbsql_sign 1 for a row that is there now, and -1 for one that no longer is. Whatever reads the model next
  learns them, but for rows that were changed back.
#}

{# The columns of `changes`, and no rows. source: the followed table; columns: those that the model reads. #}
{% macro no_changes(source, columns) -%}
SELECT CAST(1 AS SMALLINT) AS nbsql_sign, FALSE AS nbsql_taken, {{ nbsql.names_of(columns) }} FROM {{ source }} AS source LIMIT 0
{%- endmacro %}

{% macro names_of(columns) -%} {% for column in columns %}{{ nbsql.ident(column) }}{{ nbsql.comma_blank(loop) }}{% endfor %} {%- endmacro %}

{#
  The statement that writes changed rows. gone, come: the relations of rows that are no longer there, and of those that now are, or none;
  target: the column of the class, without which a row is not learnt, or none if it is computed.
#}
{% macro record_rows(changes, columns, target, gone=none, come=none) -%}
INSERT INTO {{ changes }} (nbsql_sign, nbsql_taken, {{ nbsql.names_of(columns) }})
{% for relation in [gone, come] if relation is not none -%}
SELECT {% if relation == gone %}-{% endif %}1, FALSE, {{ nbsql.names_of(columns) }} FROM {{ relation }} AS source
{%- if target is not none %} WHERE {{ nbsql.ident(target) }} IS NOT NULL{% endif %}
{%- if not loop.last +%}
UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}

{# The rows that a statement hands to its trigger. event: insert, delete or update. #}
{% macro rows_of_event(event) -%}
REFERENCING{% if event != 'insert' %} OLD TABLE AS nbsql_old{% endif %}{% if event != 'delete' %} NEW TABLE AS nbsql_new{% endif %}
{%- endmacro %}

{# The trigger for an event; none for truncate, which deletes the rows. name: of the trigger. #}
{% macro default__create_trigger(event, name, table, changes, columns, target) -%}
{% set gone = nbsql.word('nbsql_old') if event != 'insert' else none -%}
{% set come = nbsql.word('nbsql_new') if event != 'delete' else none -%}
{% if event != 'truncate' -%}
CREATE TRIGGER {{ nbsql.ident(name) }} AFTER {{ nbsql.word(event) | upper }} ON {{ table }}
{{ nbsql.rows_of_event(event) }}
FOR EACH STATEMENT
{{ nbsql.record_rows(changes, columns, target, gone, come) }}
{%- endif %}
{%- endmacro %}

{#
  One row: whether changes are to be learnt, whether triggers still write them, and whether this connection may learn them. name: of the
  trigger for rows that are inserted; database: of the model; literal: the name of `changes` as a text.
#}
{% macro default__state_of_changes(changes, name, database, literal) -%}
SELECT
  EXISTS (SELECT 1 FROM {{ changes }} AS changes) AS pending,
  EXISTS (
    SELECT 1 FROM duckdb_triggers() WHERE trigger_name = {{ nbsql.text(name) }} AND database_name = {{ nbsql.text(database) }}
  ) AS follows,
  EXISTS (SELECT 1 FROM duckdb_databases() WHERE database_name = {{ nbsql.text(database) }} AND NOT readonly) AS may_learn
{%- endmacro %}

{# Marks the changes that are learnt now; others may be written meanwhile. #}
{% macro take_changes(changes) -%} UPDATE {{ changes }} SET nbsql_taken = TRUE {%- endmacro %}

{# The rows that have come, or are gone, among the changes, unless another change has undone it. #}
{% macro net_changes(changes, columns, gone) -%}
SELECT {{ nbsql.names_of(columns) }} FROM {{ changes }} AS changes WHERE nbsql_taken AND nbsql_sign {% if gone %}<{% else %}>{% endif %} 0
EXCEPT ALL
SELECT {{ nbsql.names_of(columns) }} FROM {{ changes }} AS changes WHERE nbsql_taken AND nbsql_sign {% if gone %}>{% else %}<{% endif %} 0
{%- endmacro %}

{% macro drop_taken(changes) -%} DELETE FROM {{ changes }} WHERE nbsql_taken {%- endmacro %}

{# The last time that a model began or ceased to follow a table, if it ever did: operation, source. #}
{% macro followed(batches) -%}
SELECT operation, source FROM {{ batches }} AS batches
WHERE operation IN ('follow', 'unfollow')
ORDER BY number DESC NULLS LAST
LIMIT 1
{%- endmacro %}

{# Deletes the rows of some batches. #}
{% macro delete_batches_named(relation, batches) -%}
DELETE FROM {{ relation }}
WHERE batch IN ({% for batch in batches %}{{ nbsql.text(batch) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}
