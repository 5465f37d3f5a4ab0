{#
  A model as a schema: the statements that create its relations. Relations are given rendered, so that the same text serves a schema in
  the user's file and the temporary tables of a model without a name.
#}

{% macro insert_into(relation, query) -%}
INSERT INTO {{ relation }}
{{ query }}
{%- endmacro %}

{% macro default__delete_all(relation) -%}
DELETE FROM {{ relation }}
{%- endmacro %}

{#
  Creates a table macro over any relation, FROM spam.predict('inbox'), where inbox is a table, a view or a CTE, or over two classes.
  reads: pairs of the name by which the query reads a relation of the model, once or many times, and that relation.
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
  The database of a macro, followed by a point: the one given to the macro, or else the single attached database with a model of this
  name. A macro does not know its own database, and no subquery may stand where the name of a relation is computed. But DuckDB reports the
  schemas in which it has found candidates for an unqualified name, up to a hundred of them. The result is empty if the search path finds
  the model. The probe passes no argument, so that it calls none of the macros that it finds. It uses no lambda, because files of an old
  storage version write lambdas out in a form that DuckDB 2 does not read. Every macro of a model begins with this expression, so it is
  short: the patterns are whole texts, in which \Q and \E enclose a name.
#}
{% macro database_of_macro(schema) -%}
{% set schemas_found -%} json_serialize_plan('FROM class_scores()') ->> 'candidates' {%- endset -%}
{% set spec = nbsql.text('FROM "' ~ schema | replace('"', '""') ~ '".spec') -%}
{% set name = '\\Q' ~ schema | replace('\\E', '\\E\\\\E\\Q') ~ '\\E[.]class_scores(?:,| or |$)' -%}
{% set candidates = nbsql.text('(?:^|[ .])' ~ name) -%}
{% set database = nbsql.text('(?:^|, or |, | or )([^ ,]+)[.]' ~ name) -%}
{% set ambiguous = nbsql.raise_error("several databases have a model " ~ schema ~ ": say which, database := 'its name'") -%}
CASE
  WHEN database IS NOT NULL THEN database || '.'
  WHEN len(regexp_extract_all({{ schemas_found }}, {{ candidates }})) > 1 THEN {{ ambiguous }}
  WHEN regexp_matches({{ schemas_found }}, {{ database }}) THEN CASE
    WHEN json_serialize_plan({{ spec }}) ->> 'error' = 'false' THEN {{ ambiguous }}
    ELSE '"' || replace(regexp_extract({{ schemas_found }}, {{ database }}, 1), '"', '""') || '".'
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
  The result of the model's own macro of scores on the source, called by another macro in the same database. It is called through a text,
  so that it need not exist before the other one, because an export is restored in the order of names.
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

{# The source of a table macro, which is given by name. #}
{% macro query_of_source() -%} query_table(source) {%- endmacro %}

{# The current time in UTC, without a time zone, which some clients cannot read. #}
{% macro default__utc_now() -%} make_timestamp(epoch_us(now())) {%- endmacro %}

{% macro spec_text(spec) -%}
SELECT CAST(spec.spec AS {{ nbsql.string() }}) AS spec FROM {{ spec }} AS spec
{%- endmacro %}

{# A text of JSON in the engine's type for JSON. #}
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
  One row a class of a scan, the largest label last: label, as the engine casts it to text, class, rows, n, and how many of its rows break
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

{# The cells of the classes directly from a source, to show the statements of a fit before it has run. #}
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
  One row a feature that is not always NULL, and one without a name for the class: varies, whether its values differ, or for a number
  vary; n, the number of rows with a value; near, whether the class means of a number are within a hundred standard deviations of each
  other. for_advice adds columns that show whether the family suggested by a column's type is useful: levels, the number of values of a
  category; in_words, the number of rows with several words, with letters; beyond_one, the sum of x(x - 1), which is 0 if all whole
  numbers are 0 or 1; m2, the squared deviations from the mean over all classes.
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

{# The number of values of each category. #}
{% macro value_counts(statistics) -%}
SELECT feature, count(DISTINCT value) AS size FROM {{ statistics }} AS statistics WHERE mean IS NULL GROUP BY feature
{%- endmacro %}

{# A source with a column that tells whether a number is above a threshold. value: the threshold, a number or a text of SQL. #}
{% macro with_binary_target(relation, target, value, name) -%}
SELECT *, {{ nbsql.ident(target) }} > {{ value }} AS {{ nbsql.ident(name) }} FROM {{ relation }}
{%- endmacro %}

{# Makes the statements of a script atomic. #}
{% macro begin_transaction() -%} BEGIN TRANSACTION {%- endmacro %}

{% macro commit_transaction() -%} COMMIT {%- endmacro %}

{#
  No row, or an error that undoes the transaction of a script if the model has changed since the script was written. changed: the time of
  the model's last change then, as text.
#}
{% macro check_unchanged(spec, changed, message) -%}
SELECT {{ nbsql.raise_error(message) }} FROM {{ spec }} AS spec WHERE CAST(updated_at AS {{ nbsql.string() }}) <> {{ nbsql.text(changed) }}
{%- endmacro %}

{# Drops a schema and everything in it, if it exists. #}
{% macro drop_schema_if_exists(schema) -%}
DROP SCHEMA IF EXISTS {{ schema }} CASCADE
{%- endmacro %}

{# The number of rows of a scan that have a class and count. #}
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

{# An example of a model's use in SQL. schema, source: its name, and the text or name of a table, as short as they can be written. #}
{% macro default__example_call(schema, source) -%}
FROM {{ schema }}.predict({{ source }})
{%- endmacro %}
