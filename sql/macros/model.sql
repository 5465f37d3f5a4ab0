{#
  A model as a schema: the statements that make its relations. Relations come rendered, so that the same text serves a
  schema of the user's file and the temporary tables of a model without a name.
#}

{% macro insert_into(relation, query) -%}
INSERT INTO {{ relation }}
{{ query }}
{%- endmacro %}

{% macro delete_all(relation) -%}
DELETE FROM {{ relation }}
{%- endmacro %}

{# A table macro over any relation: FROM spam.predict('inbox'), where inbox is a table, a view or a CTE. #}
{% macro create_table_macro(relation, query) -%}
CREATE MACRO {{ relation }}(source) AS TABLE
{{ query }}
{%- endmacro %}

{% macro queried() -%} query_table(source) {%- endmacro %}

{% macro call_macro(relation) -%} {{ relation }}(source) {%- endmacro %}

{# In UTC and without a time zone, which some clients cannot read. #}
{% macro utc_now() -%} make_timestamp(epoch_us(now())) {%- endmacro %}

{% macro spec_text(spec) -%}
SELECT spec FROM {{ spec }} AS spec
{%- endmacro %}

{% macro spec_row(spec, version) -%}
SELECT
  {{ nbsql.text(spec) }} AS spec,
  {{ nbsql.text(version) }} AS nbsql_version,
  {{ nbsql.utc_now() }} AS created_at,
  {{ nbsql.utc_now() }} AS updated_at
{%- endmacro %}

{% macro batch_row(number, batch, operation, source, rows) -%}
SELECT
  {{ nbsql.text(batch) }} AS batch,
  {{ nbsql.text(operation) }} AS operation,
  {{ nbsql.text(source) }} AS source,
  CAST({{ rows }} AS BIGINT) AS rows,
  {{ nbsql.utc_now() }} AS at,
  {{ number }} AS number
{%- endmacro %}

{# The columns that a count reads, once, for a source that costs more to read than a table. #}
{% macro staged(source, columns) -%}
SELECT
  {% for column in columns %}
  source.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{# The classes of a scan, largest label last, as the engine casts them to text: label, class, rows, n. #}
{% macro class_labels(scan) -%}
SELECT CAST(class AS {{ nbsql.string() }}) AS label, class, sum(rows) AS rows, sum(n) AS n
FROM {{ scan }} AS scan
GROUP BY class
ORDER BY class
{%- endmacro %}

{# The cells of the classes straight from a source, for showing what a fit would run before it has run. #}
{% macro counted_classes(model, source) -%}
(
  SELECT
    {{ nbsql.target(model) }} AS class,
    CAST(NULL AS {{ nbsql.string() }}) AS feature,
    count(*) AS rows,
    CAST({{ nbsql.size(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ source }} AS source
  WHERE {{ nbsql.counted(model) }}
  GROUP BY {{ nbsql.target(model) }}
)
{%- endmacro %}

{#
  Whether each feature says anything: whether its values differ, or, where it is a number, vary; and how many rows have
  one. A feature that is not here was always NULL; the one without a name is the class.
#}
{% macro feature_summary(statistics) -%}
SELECT
  feature,
  coalesce(min(value) < max(value), FALSE)
    OR (count(value) > 0 AND bool_or(value IS NULL))
    OR coalesce(min(mean) < max(mean) OR max(m2) > 0, FALSE) AS varies,
  sum(n) AS n
FROM {{ statistics }} AS statistics
GROUP BY feature
{%- endmacro %}

{# How many values each category has. #}
{% macro value_counts(statistics) -%}
SELECT feature, count(DISTINCT value) AS size FROM {{ statistics }} AS statistics WHERE mean IS NULL GROUP BY feature
{%- endmacro %}

{# How many rows break each rule of a scan, among the rows that have a class. #}
{% macro broken_rules(scan, count) -%}
SELECT
  {% for j in range(1, count + 1) %}
  sum(broken_{{ j }}) AS broken_{{ j }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ scan }} AS scan
WHERE class IS NOT NULL
{%- endmacro %}

{% macro drop_if_exists(relation) -%}
DROP TABLE IF EXISTS {{ relation }}
{%- endmacro %}

{# How a model is used in SQL. schema, asked: its name, and the text or name of a table, as short as they can be written. #}
{% macro used_in_sql(schema, asked) -%}
FROM {{ schema }}.predict({{ asked }})
{%- endmacro %}
