{#
  Whether rows are those that a model has learnt (nbsql/evaluation/learnt.py): the cells of the same rows are the same. Cells are compared
  by what adds up over slices, components and batches: n, n * mean and, of numbers with moments, m2 + n * mean * mean.
#}

{# One row per batch and class: batch, class (as text), n. #}
{% macro class_weights_of_batches(statistics) -%}
SELECT batch, CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }} AS class, sum(n) AS n
FROM {{ statistics }} AS statistics
WHERE feature IS NULL
GROUP BY batch, CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endmacro %}

{# One row: n, how many of the cells differ from those counted, by more than a share of them. #}
{% macro differing_cells(cells, counted, share) -%}
{% set share = nbsql.number(share) -%}
SELECT count(*) AS n
FROM (
  {{ nbsql.additive_cells(cells) | indent(2) }}
) AS learnt
LEFT JOIN (
  {{ nbsql.additive_cells(counted) | indent(2) }}
) AS counted
  ON counted.class = learnt.class AND counted.feature = learnt.feature AND counted.value = learnt.value
WHERE abs(learnt.n - coalesce(counted.n, 0)) > {{ share }} * (abs(learnt.n) + abs(coalesce(counted.n, 0))) + {{ share }}
  OR abs(learnt.total - counted.total) > {{ share }} * (abs(learnt.total) + sqrt(abs(learnt.n) * learnt.squares))
  OR abs(learnt.squares - counted.squares) > {{ share }} * learnt.squares
{%- endmacro %}

{# One row per class, feature and value, as texts, where the empty text stands for none: class, feature, value, n, total, squares. #}
{% macro additive_cells(cells) -%}
SELECT
  CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }} AS class,
  coalesce('=' || feature, '') AS feature,
  coalesce('=' || value, '') AS value,
  sum(n) AS n,
  sum(coalesce(n * mean, 0)) AS total,
  abs(sum(coalesce(m2 + n * mean * mean, 0))) AS squares
FROM {{ cells }} AS cells
GROUP BY
  CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }},
  coalesce('=' || feature, ''),
  coalesce('=' || value, '')
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
