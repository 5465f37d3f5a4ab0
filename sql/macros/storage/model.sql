{#
  A model as a schema: the statements that create its relations. Relations are given rendered, so that the same text serves a schema in
  the user's file and the temporary tables of a model without a name.
#}

{% macro insert_into(relation, query) -%}
INSERT INTO {{ relation }}
{{ query }}
{%- endmacro %}

{#
  One row: for each of some relations, 0 if it should have rows and has none. relations: pairs of a relation and the features of which
  it has rows if the statistics have values; none if it always has some.
#}
{% macro rows_of_relations(relations, statistics) -%}
SELECT
  {% for relation, features in relations %}
  {% set present %}(SELECT count(*) FROM (SELECT 1 AS one FROM {{ relation }} AS relation LIMIT 1) AS first){% endset %}
  {% if features is none %}
  {{ present }}{{ nbsql.comma(loop) }}
  {% else %}
  CASE WHEN EXISTS (
    SELECT 1 FROM {{ statistics }} AS cells
    WHERE feature IN ({{ nbsql.feature_names(features) }}) AND (value IS NOT NULL OR mean IS NOT NULL)
  ) THEN {{ present }} ELSE 1 END{{ nbsql.comma(loop) }}
  {% endif %}
  {% endfor %}
{%- endmacro %}

{# One row: spec, nbsql_version, created_at, updated_at. #}
{% macro spec_row(spec, version) -%}
SELECT
  {{ nbsql.json_of(spec) }} AS spec,
  {{ nbsql.text(version) }}{{ nbsql.binary() }} AS nbsql_version,
  {{ nbsql.utc_now() }} AS created_at,
  {{ nbsql.utc_clock() }} AS updated_at
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
  One row per class of a scan, the largest label last: label, as the engine casts it to text, class, rows, n, and how many of its rows break
  each rule, as broken_1, broken_2, ...
#}
{% macro classes_of_scan(scan, rules=0) -%}
SELECT
  {{ nbsql.text_of(nbsql.word('class')) }} AS label,
  class,
  sum(rows) AS rows,
  sum(n) AS n
  {%- for j in range(1, rules + 1) %},
  sum(broken_{{ j }}) AS broken_{{ j }}
  {%- endfor +%}
FROM {{ scan }} AS scan
GROUP BY class
ORDER BY class ASC NULLS LAST
{%- endmacro %}

{# The cells of the classes directly from a source, to show the statements of a fit before it has run. #}
{% macro counted_classes(model, source) -%}
(
  SELECT
    {{ nbsql.target(model) }} AS class,
    {{ nbsql.no_text() }} AS feature,
    count(*) AS rows,
    CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  GROUP BY {{ nbsql.target(model) }}
)
{%- endmacro %}

{#
  One row per feature that is not always NULL, and one without a name for the class: varies, whether its values differ, or for a number
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
  {%- endif +%}
FROM {{ statistics }} AS statistics
GROUP BY feature
{%- endmacro %}

{# The most frequent values of some categories: feature, value, n, the most frequent first. #}
{% macro most_frequent_values(statistics, names, most) -%}
SELECT feature, value, n
FROM (
  SELECT
    feature,
    value,
    sum(n) AS n,
    row_number() OVER (PARTITION BY feature ORDER BY sum(n) DESC NULLS LAST, value ASC NULLS LAST) AS place
  FROM {{ statistics }} AS statistics
  WHERE feature IN ({% for name in names %}{{ nbsql.text(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}) AND value IS NOT NULL
  GROUP BY feature, value
) AS counted
WHERE place <= {{ most }}
ORDER BY feature ASC NULLS LAST, place ASC NULLS LAST
{%- endmacro %}

{% macro commit_transaction() -%} COMMIT {%- endmacro %}

{#
  Nothing, or an error that undoes the transaction of a script if a query has a row. spec: of the model. An UPDATE, because a shell prints a
  table for a SELECT, even one without rows.
#}
{% macro default__check_empty(spec, query, message) -%}
UPDATE {{ spec }} AS spec SET updated_at = CASE WHEN {{ nbsql.raise_error(message) }} THEN updated_at END
WHERE EXISTS {{ nbsql.subquery(query) }}
{%- endmacro %}

{#
  The number of rows of a scan that have a class and count, or an error where a fit would raise one. broken: the message of each rule, in
  the order of `classes_of_scan`. undeclared, empty: the messages for a class that is not among the declared ones, and for no row.
#}
{% macro checked_row_count(model, scan, broken, undeclared, empty) -%}
{% set some %}CAST(count(*) AS {{ nbsql.string() }}){% endset -%}
(
  SELECT sum(rows)
  FROM (
    SELECT sum(rows) AS rows
    FROM {{ scan }} AS scan
    WHERE class IS NOT NULL
    GROUP BY class
    HAVING CASE
      {% for message in broken %}
      WHEN sum(broken_{{ loop.index }}) > 0 THEN {{ nbsql.raise_error(message, some) }}
      {% endfor %}
      {% if model.spec.classes %}
      WHEN sum(n) > 0 AND class NOT IN (
        {% for label in model.spec.classes %}
        {% set class %}CAST({{ nbsql.text(label) }} AS {{ model.facts.class_type }}){% endset %}
        {{ nbsql.as_label(class, model.facts.class_type) }}{{ nbsql.comma(loop) }}
        {% endfor %}
      ) THEN {{ nbsql.raise_error(undeclared, some) }}
      {% endif %}
      WHEN sum(n) > 0 THEN TRUE
    END
  ) AS classes
  HAVING CASE WHEN count(*) > 0 THEN TRUE ELSE {{ nbsql.raise_error(empty, some) }} END
)
{%- endmacro %}
