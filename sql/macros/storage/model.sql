{#
  A model as a schema: the statements that make its relations. Relations come rendered, so that the same text serves a
  schema of the user's file and the temporary tables of a model without a name.
#}

{% macro insert_into(relation, query) -%}
INSERT INTO {{ relation }}
{{ query }}
{%- endmacro %}

{% macro default__delete_all(relation) -%}
DELETE FROM {{ relation }}
{%- endmacro %}

{#
  A table macro over any relation: FROM spam.predict('inbox'), where inbox is a table, a view or a CTE; or over two classes. `reads` are
  pairs of a name by which the query reads a relation of the model, once or many times, and that relation.
#}
{% macro create_table_macro(relation, query, reads, of_classes=false) -%}
{% set two_classes %}{{ nbsql.parameter_of_classes(1) }}, {{ nbsql.parameter_of_classes(2) }}{% endset -%}
CREATE OR REPLACE MACRO {{ relation }}({% if of_classes %}{{ two_classes }}{% else %}source{% endif %}, database := NULL) AS TABLE
{% if reads -%}
WITH
{% for name, read in reads %}
{{ name }} AS NOT MATERIALIZED (
  FROM {{ read | indent(2) }}
){{ nbsql.comma(loop) }}
{% endfor %}
FROM (
  {{ query | indent(2) }}
)
{%- else -%}
{{ query }}
{%- endif %}
{%- endmacro %}

{#
  The database of a macro, and a point: what the macro is told, or else the one attached database that has a model of this name. No macro
  knows where it is, and no subquery may stand where a relation's name is computed; but DuckDB says in which schemas it has found what
  an unqualified name may have meant, of a hundred that it looks at. Nothing where the search path finds the model. The probe gives no
  argument, so that it calls no macro that it finds. No lambda: files of old storage write them out as DuckDB 2 reads them no more.
  Every macro of a model begins with this, so that it is short: the patterns are whole texts, in which \Q and \E are around a name.
#}
{% macro database_of_macro(schema) -%}
{% set found -%} json_serialize_plan('FROM class_scores()') ->> 'candidates' {%- endset -%}
{% set spec = nbsql.text('FROM "' ~ schema | replace('"', '""') ~ '".spec') -%}
{% set name = '\\Q' ~ schema | replace('\\E', '\\E\\\\E\\Q') ~ '\\E[.]class_scores(?:,| or |$)' -%}
{% set several = nbsql.text('(?:^|[ .])' ~ name) -%}
{% set database = nbsql.text('(?:^|, or |, | or )([^ ,]+)[.]' ~ name) -%}
{% set unclear = nbsql.raise_error("several databases have a model " ~ schema ~ ": say which, database := 'its name'") -%}
CASE
  WHEN database IS NOT NULL THEN database || '.'
  WHEN len(regexp_extract_all({{ found }}, {{ several }})) > 1 THEN {{ unclear }}
  WHEN regexp_matches({{ found }}, {{ database }}) THEN CASE
    WHEN json_serialize_plan({{ spec }}) ->> 'error' = 'false' THEN {{ unclear }}
    ELSE '"' || replace(regexp_extract({{ found }}, {{ database }}, 1), '"', '""') || '".'
  END
END
{%- endmacro %}

{# A relation as a macro reads it: in the database of the macro. #}
{% macro relation_in_database(relation, schema) -%}
query_table(concat(
  {{ nbsql.database_of_macro(schema) | indent(2) }},
  {{ relation }}
))
{%- endmacro %}

{#
  What the model's own macro of scores makes of the source, called by another macro in the same database; by a text, so that it need not
  be there before the other: an export is restored in the order of names.
#}
{% macro scores_in_database(relation, schema) -%}
query(concat(
  'FROM ',
  {{ nbsql.database_of_macro(schema) | indent(2) }},
  {{ relation }},
  '(''' || replace(source, '''', '''''') || '''',
  ', database := ''' || replace(database, '''', '''''') || '''',
  ')'
))
{%- endmacro %}

{% macro query_of_source() -%} query_table(source) {%- endmacro %}

{# In UTC and without a time zone, which some clients cannot read. #}
{% macro default__utc_now() -%} make_timestamp(epoch_us(now())) {%- endmacro %}

{% macro spec_text(spec) -%}
SELECT CAST(spec.spec AS {{ nbsql.string() }}) AS spec FROM {{ spec }} AS spec
{%- endmacro %}

{# A text of JSON in the type that the engine has for it. #}
{% macro default__json_of(text) -%} CAST({{ nbsql.text(text) }} AS JSON) {%- endmacro %}

{# One row: spec, nbsql_version, created_at, updated_at. #}
{% macro spec_row(spec, version) -%}
SELECT
  {{ nbsql.json_of(spec) }} AS spec,
  {{ nbsql.text(version) }} AS nbsql_version,
  {{ nbsql.utc_now() }} AS created_at,
  {{ nbsql.utc_now() }} AS updated_at
{%- endmacro %}

{# One row, a line of the ledger: batch, operation, source, rows, at, number. #}
{% macro batch_row(number, batch, operation, source, rows) -%}
SELECT
  {{ nbsql.text(batch) }}{{ nbsql.binary() }} AS batch,
  {{ nbsql.text(operation) }} AS operation,
  {{ nbsql.text(source) }} AS source,
  CAST({{ rows }} AS BIGINT) AS rows,
  {{ nbsql.utc_now() }} AS at,
  {{ number }} AS number
{%- endmacro %}

{#
  One row a class of a scan, largest label last: label, as the engine casts it to text, class, rows, n, and how many of its rows break
  each rule, as broken_1, broken_2, ...
#}
{% macro class_labels(scan, rules=0) -%}
SELECT
  CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }} AS label,
  class,
  sum(rows) AS rows,
  sum(n) AS n
  {%- for j in range(1, rules + 1) %},
  sum(broken_{{ j }}) AS broken_{{ j }}
  {%- endfor %}

FROM {{ scan }} AS scan
GROUP BY class
ORDER BY class ASC NULLS LAST
{%- endmacro %}

{# The cells of the classes straight from a source, for showing what a fit would run before it has run. #}
{% macro counted_classes(model, source) -%}
(
  SELECT
    {{ nbsql.target(model) }} AS class,
    CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS feature,
    count(*) AS rows,
    CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  GROUP BY {{ nbsql.target(model) }}
)
{%- endmacro %}

{#
  One row a feature that was not always NULL, and one without a name for the class: varies, whether it says anything, for its values
  differ, or, where it is a number, vary; n, how many rows have one; near, whether a number's means of the classes are within a hundred
  standard deviations of each. looked_over: whether to add what tells if the family that a column's
  type suggests is of any use: levels, how many values a category has; in_words, how many rows have one of several words, with letters;
  beyond_one, the sum of x(x - 1), which is 0 where all whole numbers are 0 or 1; m2, the squared deviations from the mean over all classes.
#}
{% macro feature_summary(statistics, for_advice=false) -%}
SELECT
  feature,
  coalesce(min(value) < max(value), FALSE)
    OR (count(value) > 0 AND bool_or(value IS NULL))
    OR coalesce(min(mean) < max(mean) OR max(m2) > 0, FALSE) AS varies,
  sum(n) AS n,
  max(mean) - min(mean) <= 100 * sqrt(greatest(min(m2 / nullif(n, 0)), 0)) AS near
  {%- if for_advice %},
  count(DISTINCT value) AS levels,
  coalesce(sum(CASE WHEN value LIKE '% % %' AND lower(value) <> upper(value) THEN n END), 0) AS in_words,
  sum(m2 + n * mean * (mean - 1)) AS beyond_one,
  sum(m2 + n * mean * mean) - sum(n * mean) * (sum(n * mean) / sum(n)) AS m2
  {%- endif %}

FROM {{ statistics }} AS statistics
GROUP BY feature
{%- endmacro %}

{# How many values each category has. #}
{% macro value_counts(statistics) -%}
SELECT feature, count(DISTINCT value) AS size FROM {{ statistics }} AS statistics WHERE mean IS NULL GROUP BY feature
{%- endmacro %}

{# A source with a column that says whether a number of it is above a middle one. value: as a number or text of SQL. #}
{% macro with_binary_target(relation, target, value, name) -%}
SELECT *, {{ nbsql.ident(target) }} > {{ value }} AS {{ nbsql.ident(name) }} FROM {{ relation }}
{%- endmacro %}

{# What makes the statements of a script one: all of them, or none. #}
{% macro begin_transaction() -%} BEGIN TRANSACTION {%- endmacro %}

{% macro commit_transaction() -%} COMMIT {%- endmacro %}

{#
  No row, and an error that undoes the transaction of a script where the model has changed since the script was written: `changed`,
  as text, is when it then had last changed.
#}
{% macro check_unchanged(spec, changed, message) -%}
SELECT {{ nbsql.raise_error(message) }} FROM {{ spec }} AS spec WHERE CAST(updated_at AS {{ nbsql.string() }}) <> {{ nbsql.text(changed) }}
{%- endmacro %}

{# Drop a schema and all that is in it, if it is there. #}
{% macro drop_schema_if_exists(schema) -%}
DROP SCHEMA IF EXISTS {{ schema }} CASCADE
{%- endmacro %}

{# How many rows of a scan have a class that counts. #}
{% macro rows_scanned(scan) -%}
(
  SELECT sum(rows)
  FROM (
    SELECT sum(rows) AS rows FROM {{ scan }} AS scan WHERE class IS NOT NULL GROUP BY class HAVING sum(n) > 0
  ) AS classes
)
{%- endmacro %}

{% macro default__drop_if_exists(relation) -%}
DROP TABLE IF EXISTS {{ relation }}
{%- endmacro %}

{# How a model is used in SQL. schema, asked: its name, and the text or name of a table, as short as they can be written. #}
{% macro default__example_call(schema, source) -%}
FROM {{ schema }}.predict({{ source }})
{%- endmacro %}
