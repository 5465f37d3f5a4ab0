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

{# One row: n, how many of the cells differ from those counted, by more than a share of them. #}
{% macro differing_cells(cells, counted, share) -%}
{% set share = nbsql.number(share) -%}
SELECT count(*) AS n
FROM {{ nbsql.subquery(nbsql.additive_cells(cells)) }} AS learnt
LEFT JOIN {{ nbsql.subquery(nbsql.additive_cells(counted)) }} AS counted
  ON counted.class = learnt.class AND counted.feature = learnt.feature AND counted.value = learnt.value
WHERE abs(learnt.n - coalesce(counted.n, 0)) > {{ share }} * (abs(learnt.n) + abs(coalesce(counted.n, 0))) + {{ share }}
  OR abs(learnt.total - counted.total) > {{ share }} * (abs(learnt.total) + sqrt(abs(learnt.n) * learnt.squares))
  OR abs(learnt.squares - counted.squares) > {{ share }} * learnt.squares
{%- endmacro %}

{# One row per class, feature and value, as texts, where the empty text stands for none: class, feature, value, n, total, squares. #}
{% macro additive_cells(cells) -%}
SELECT
  {{ nbsql.text_of(nbsql.word('class')) }} AS class,
  coalesce('=' || feature, '') AS feature,
  coalesce('=' || value, '') AS value,
  sum(n) AS n,
  sum(coalesce(n * mean, 0)) AS total,
  abs(sum(coalesce(m2 + n * mean * mean, 0))) AS squares
FROM {{ cells }} AS cells
GROUP BY
  {{ nbsql.text_of(nbsql.word('class')) }},
  coalesce('=' || feature, ''),
  coalesce('=' || value, '')
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
  One row per class of some rows with their log-posteriors (calibration_rows): class_no, n, loss, squares, hits. loss is the sum of the
  log losses of its rows, squares that of their squares, and hits is how many rows have no class that is likelier.
#}
{% macro losses_by_class(rows) -%}
{% set logs %}rows.nbsql_logs{% endset -%}
{% set log %}{{ nbsql.element(logs, nbsql.word('rows.class_no')) }}{% endset -%}
{% set loss = nbsql.word('loss') -%}
SELECT class_no, count(*) AS n, sum(loss) AS loss, sum({{ nbsql.square(loss) }}) AS squares, count(CASE WHEN is_hit THEN 1 END) AS hits
FROM (
  SELECT
    rows.class_no,
    LEAST(-{{ log }}, {{ nbsql.number(36.04365338911715) }}) AS loss, -- of the least probability, 2^-52
    {{ log }} >= {{ nbsql.list_highest(logs) }} AS is_hit
  FROM {{ rows }} AS rows
) AS judged
GROUP BY class_no
{%- endmacro %}
