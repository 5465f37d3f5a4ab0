{#
  Whether rows are those that a model has learnt (nbsql/evaluation/learnt.py): the cells of the same rows are the same. Cells are compared
  by what adds up over slices, components and batches: n, n * mean and, of numbers with moments, m2 + n * mean * mean.
#}

{# One row per batch and class: batch, class (as text), n. #}
{% macro class_weights_of_batches(statistics) -%}
SELECT batch, {{ nbsql.text_of(nbsql.word('class')) }} AS class, sum(n) AS n
FROM {{ statistics }} AS statistics
WHERE feature IS NULL
GROUP BY batch, {{ nbsql.text_of(nbsql.word('class')) }}
{%- endmacro %}

{# One row: n, how many cells of two sets of rows differ by more than a share of them. A cell that one lacks differs. #}
{% macro differing_cells(cells, others, share) -%}
{% set share = nbsql.number(share) -%}
{% set total %}coalesce(n * mean, 0){% endset -%}
{% set squares %}coalesce(m2 + n * mean * mean, 0){% endset -%}
SELECT count(*) AS n
FROM (
  SELECT
    sum(side * n) AS n,
    sum(abs(n)) AS size,
    sum(side * {{ total }}) AS total,
    sum(abs({{ total }})) AS size_of_total,
    sum(side * {{ squares }}) AS squares,
    sum(abs({{ squares }})) AS size_of_squares
  FROM (
    SELECT 1 AS side, class, feature, value, n, mean, m2 FROM {{ cells | indent(4) }} AS cells
    UNION ALL
    SELECT -1 AS side, class, feature, value, n, mean, m2 FROM {{ others | indent(4) }} AS others
  ) AS sides
  GROUP BY {{ nbsql.text_of(nbsql.word('class')) }}, feature, value
) AS sums
WHERE abs(n) > {{ share }} * size + {{ share }}
  OR abs(total) > {{ share }} * (size_of_total + sqrt(size * size_of_squares))
  OR abs(squares) > {{ share }} * size_of_squares
{%- endmacro %}

{# The first rows of a source, with nbsql_number, by which some are chosen. #}
{% macro first_rows_numbered(source, limit) -%}
(
  SELECT source.*, {{ nbsql.row_id() }} AS nbsql_number
  FROM {{ nbsql.excerpt(source, limit) | indent(2) }} AS source
)
{%- endmacro %}

{#
  One row per row of a source whose class is known, or of some `share` in a million: hash, a whole number from 0 on, of the values of some
  columns. Numbers are hashed as doubles and all others as texts, so that a value has one hash whatever its type. The rows are chosen by
  a number that they have, in blocks of so many.
#}
{% macro row_hashes(source, target, columns, numbers, number=none, block=1, share=none) -%}
{% set values -%}
{% for column in columns -%}
{% if column in numbers %}{{ nbsql.number_of(column) }}{% else %}{{ nbsql.value_to_hash(column, 'text') }}{% endif -%}
{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endset -%}
SELECT CAST({{ nbsql.mixed_hash(values) }} >> 1 AS BIGINT) AS hash
FROM {{ source }} AS source
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
{%- if share is not none %}
{% set number %}source.{{ nbsql.ident(number) }}{% endset %}
  AND {{ nbsql.mixed_hash(nbsql.whole_quotient(number, block)) }} % 1000000 < {{ share }}
{%- endif %}
{%- endmacro %}

{#
  One row per batch of a sample of learnt rows, and batch 0, of hashes that the sample lacks: batch; same, how many hashes occur twice on
  one side, learnt or not; mixed, once on each; alone, once in the sample alone; others, the number of rows that are not of the sample.
#}
{% macro equal_rows(learnt, hashes) -%}
SELECT
  batch,
  count(CASE WHEN n = 2 AND learnt <> 1 THEN 1 END) AS same,
  count(CASE WHEN n = 2 AND learnt = 1 THEN 1 END) AS mixed,
  count(CASE WHEN n = 1 AND learnt = 1 THEN 1 END) AS alone,
  CAST(sum(n - learnt) AS BIGINT) AS others
FROM (
  SELECT hash, max(batch) AS batch, count(*) AS n, count(CASE WHEN batch > 0 THEN 1 END) AS learnt
  FROM (
    SELECT batch, hash FROM {{ learnt | indent(4) }} AS learnt
    UNION ALL
    SELECT 0 AS batch, hash FROM {{ nbsql.subquery(hashes) | indent(4) }} AS rows
  ) AS hashed
  GROUP BY hash
) AS counted
GROUP BY batch
{%- endmacro %}

{#
  One row per class of some scored rows whose class is known (predict.sql): class_no, n, loss, squares, hits. loss is the sum of the log
  losses of its rows, squares that of their squares, and hits is how many rows have no class that is likelier. Rows that no class explains
  have no class_no: as a condition, this would be moved to where the scores are made, which would be made twice.
#}
{% macro losses_by_class(model, scored) -%}
{% set labels -%}
{% for class in model.form.class_columns %}{{ nbsql.text(class.label) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
{% set label %}CAST({{ nbsql.target(model) }} AS {{ nbsql.string() }}){% endset -%}
{% set explained %}source.nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
{% set loss = nbsql.word('loss') -%}
{% set largest = nbsql.number(36.04365338911715) -%} {# that of the least probability, 2^-52 #}
SELECT class_no, count(*) AS n, sum(loss) AS loss, sum({{ nbsql.square(loss) }}) AS squares, count(CASE WHEN is_hit THEN 1 END) AS hits
FROM (
  SELECT
    class_no,
    LEAST(-({{ nbsql.log_posterior(nbsql.word('joint')) }}), {{ largest }}) AS loss,
    source.joint >= source.nbsql_highest AS is_hit
  FROM (
    SELECT
      {{ nbsql.element(nbsql.word('joints'), nbsql.word('class_no')) }} AS joint,
      class_no,
      nbsql_highest,
      nbsql_relative_evidence
    FROM (
      SELECT
        CASE WHEN {{ explained }} THEN {{ nbsql.list_place(nbsql.array_of(labels), label) }} END AS class_no,
        {{ nbsql.list_of_joints(model) }} AS joints,
        source.nbsql_highest,
        source.nbsql_relative_evidence
      FROM {{ scored | indent(6) }} AS source
    ) AS known
  ) AS source
) AS judged
GROUP BY class_no
{%- endmacro %}
