{#
  The model over time. Every change adds cells and a line to the ledger and removes none: forgotten rows are added again with negative
  counts and squares. So the model at an earlier time is a sum over fewer batches.
#}

{# One row: the time of the model's last change. #}
{% macro updated_at(spec) -%}
SELECT updated_at FROM {{ spec }} AS spec
{{ nbsql.where_bytes_decide() }}
{%- endmacro %}

{#
  An error unless texts of `spec` are compared byte by byte, as they are by the collation of its columns. A DuckLake stores none, so that
  the session's `default_collation` would decide there.
#}
{% macro default__where_bytes_decide() -%}
{% set text %}spec.nbsql_version{% endset -%}
WHERE CASE
  WHEN {{ text }} || 'a' > {{ text }} || 'B' AND {{ text }} || 'é' > {{ text }} || 'f'
    AND {{ text }} || 'é' <> {{ text }} || 'e' || chr(769)
  THEN TRUE
  ELSE {{ nbsql.error_of_collation() }}
END
{%- endmacro %}

{#
  The query of a table, view or macro in a DuckLake: an error in a session with a collation, as `where_bytes_decide`. texts: the columns of
  a table that have texts. They leave the query without collations, which a cast would keep, and without ENUMs, which a lake does not store.
#}
{% macro in_lake(query, texts) -%}
{% if texts -%}
SELECT * REPLACE (
  {%- for name in texts +%}
  decode(encode(CAST({{ nbsql.ident(name) }} AS {{ nbsql.string() }}))) AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {%- endfor +%}
)
{% endif -%}
FROM {{ nbsql.subquery(query) }} AS answer
WHERE CASE WHEN current_setting('default_collation') = '' THEN TRUE ELSE {{ nbsql.error_of_collation() }} END
{%- endmacro %}

{% macro error_of_collation() -%}
{{ nbsql.raise_error("a DuckLake stores no collations, so that this session's default_collation would decide which texts of a model "
  ~ "are equal: RESET default_collation") }}
{%- endmacro %}

{# The cells of the statistics. #}
{% macro cells_of(statistics) -%} SELECT slice, class, feature, value, n, mean, m2, batch FROM {{ statistics }} AS cells {%- endmacro %}

{# The cells of one batch. #}
{% macro cells_of_batch(statistics, batch) -%}
{{ nbsql.cells_of(statistics) }}
WHERE batch = {{ nbsql.text(batch) }}
{%- endmacro %}

{% macro cells_of_batches(statistics, batches) -%}
{{ nbsql.cells_of(statistics) }}
WHERE batch IN ({% for batch in batches %}{{ nbsql.text(batch) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# The same cells, negated. #}
{% macro negated_cells(cells, batch) -%}
SELECT slice, class, feature, value, -n AS n, mean, -m2 AS m2, {{ nbsql.text(batch) }}{{ nbsql.binary() }} AS batch
FROM {{ cells }} AS cells
{%- endmacro %}

{#
  What was learnt and what is to be forgotten, one row per cell of either: slice, class, feature, value, learnt, forgotten. x: the
  expression of what; where: the condition for its cells, if it is not of all.
#}
{% macro both_sides(statistics, cells, x, where=none) -%}
{% for relation, learnt, forgotten in [(statistics, x, 0), (cells, 0, x)] -%}
SELECT slice, class, feature, value, {{ learnt }} AS learnt, {{ forgotten }} AS forgotten
FROM {{ relation }} AS cells
{%- if where is not none +%}
WHERE {{ where }}
{%- endif %}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  At most one row, the first cell with more rows, or occurrences of a token, to forget than were learnt: class, feature, value, learnt,
  forgotten.
#}
{% macro overdrawn_cells(statistics, cells) -%}
{% set occurrences %}n * mean{% endset -%}
{% set of_tokens %}value IS NOT NULL AND mean IS NOT NULL AND m2 IS NULL{% endset -%}
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS class, feature, value, learnt, forgotten
FROM (
  {% for x, where in [(nbsql.word('n'), none), (occurrences, of_tokens)] %}
  SELECT slice, class, feature, value, sum(learnt) AS learnt, sum(forgotten) AS forgotten
  FROM {{ nbsql.subquery(nbsql.both_sides(statistics, cells, x, where)) | indent(2) }} AS sides
  GROUP BY slice, class, feature, value
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor +%}
) AS balance
WHERE forgotten > learnt + {{ nbsql.rounding_of_difference(nbsql.word('learnt'), nbsql.word('forgotten'), nbsql.word('forgotten'), 1e-9) }}
ORDER BY feature ASC NULLS FIRST, value ASC NULLS LAST, class ASC NULLS LAST
LIMIT 1
{%- endmacro %}

{#
  The squared deviations of numbers without those of the cells, one row per class and number of which something is left: class, feature, m2
  (with them), rest, n (what is left), rounding (of the means, whose difference is small if one row is heavy and the others are light).

    rest = m2 - m2_f - n_f (mean_f - mean)^2 n / (n - n_f)          Chan, Golub and LeVeque (1983), in reverse
#}
{% macro squares_left(statistics, cells) -%}
{% set difference_of_means %}abs(forgotten.mean - learnt.mean){% endset -%}
{% set digit %}1e-15 * greatest(abs(forgotten.mean), abs(learnt.mean)){% endset -%}
SELECT
  {{ nbsql.text_of(nbsql.word('learnt.class')) }} AS class,
  learnt.feature,
  learnt.m2,
  learnt.m2 - forgotten.m2
    - forgotten.n * (forgotten.mean - learnt.mean) * (forgotten.mean - learnt.mean) * learnt.n / (learnt.n - forgotten.n) AS rest,
  learnt.n - forgotten.n AS n,
  forgotten.n * (2 * {{ difference_of_means }} + {{ digit }}) * {{ digit }} * learnt.n / (learnt.n - forgotten.n) AS rounding
FROM {{ nbsql.subquery(nbsql.pooled_moments(nbsql.square_cells(statistics), ['slice', 'class', 'feature', 'value'])) }} AS learnt
JOIN {{ nbsql.subquery(nbsql.pooled_moments(nbsql.square_cells(cells), ['slice', 'class', 'feature', 'value'])) }} AS forgotten
  ON forgotten.slice IS NOT DISTINCT FROM learnt.slice AND forgotten.class = learnt.class AND forgotten.feature = learnt.feature
  AND forgotten.value IS NOT DISTINCT FROM learnt.value
WHERE learnt.n > forgotten.n
{%- endmacro %}

{#
  The first number of whose squared deviations too little would be left: fewer than none, beyond rounding, because the values of the cells
  were not learnt; or with `is_lost` so small a share of those with the cells that six digits of them are not known.
#}
{% macro overdrawn_squares(statistics, cells, is_lost=false) -%}
SELECT class, feature
FROM {{ nbsql.subquery(nbsql.squares_left(statistics, cells)) }} AS squares
WHERE {% if is_lost %}rest < 1e-9 * m2 AND n > 1{% else %}rest < -1e-6 * m2 - rounding{% endif +%}
ORDER BY feature ASC NULLS LAST, class ASC NULLS LAST
LIMIT 1
{%- endmacro %}

{#
  The first number whose sum, from which its rate is estimated, would become negative without that of the cells, because its values were
  not learnt.
#}
{% macro overdrawn_sums(statistics, cells) -%}
{% set total %}n * mean{% endset -%}
{% set of_rates %}value IS NULL AND m2 IS NULL AND mean IS NOT NULL{% endset -%}
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS class, feature
FROM {{ nbsql.subquery(nbsql.both_sides(statistics, cells, total, of_rates)) }} AS sides
GROUP BY slice, class, feature
HAVING sum(forgotten) > sum(learnt) + 1e-9 * sum(forgotten)
ORDER BY feature ASC NULLS LAST, class ASC NULLS LAST
LIMIT 1
{%- endmacro %}

{#
  The first feature with more rows without a value to forget than were learnt: class, feature, learnt, forgotten. Each of `features` has a
  cell that counts every row with a value, and the other rows of the class have none.
#}
{% macro overdrawn_missing(statistics, cells, features) -%}
WITH sides AS {{ nbsql.subquery(nbsql.both_sides(statistics, cells, nbsql.word('n'))) }},
sums AS (
  SELECT slice, class, feature, sum(learnt) AS learnt, sum(abs(learnt)) AS gross, sum(forgotten) AS forgotten
  FROM sides
  GROUP BY slice, class, feature
)
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS class, feature, learnt, forgotten
FROM (
  SELECT
    of_class.class,
    named.feature,
    of_class.gross AS rows,
    of_class.learnt - coalesce(present.learnt, 0) AS learnt,
    of_class.forgotten - coalesce(present.forgotten, 0) AS forgotten
  FROM sums AS of_class
  CROSS JOIN (
    VALUES {% for feature in features %}({{ nbsql.text(feature.name) }}){{ nbsql.comma_blank(loop) }}{% endfor +%}
  ) AS named(feature)
  LEFT JOIN sums AS present
    ON present.slice IS NOT DISTINCT FROM of_class.slice AND present.class = of_class.class AND present.feature = named.feature
  WHERE of_class.feature IS NULL
) AS gaps
WHERE forgotten > learnt + {{ nbsql.rounding_of_difference(nbsql.word('learnt'), nbsql.word('forgotten'), nbsql.word('rows'), 1e-9) }}
ORDER BY feature ASC NULLS LAST, class ASC NULLS LAST
LIMIT 1
{%- endmacro %}

{# One row, the rows that would be left without these cells, if there would be none. #}
{% macro nothing_left(statistics, cells) -%}
SELECT coalesce(sum(n), 0) AS n
FROM (
  SELECT n FROM {{ statistics }} AS statistics WHERE feature IS NULL
  UNION ALL
  SELECT -n FROM {{ cells }} AS cells WHERE feature IS NULL
) AS sides
HAVING coalesce(sum(n), 0) <= 0
{%- endmacro %}

{# Deletes the rows that were added after a line of the ledger, or up to it. #}
{% macro default__delete_batches(relation, batches, number, after) -%}
{% set side %}{% if after %}>{% else %}<={% endif %}{% endset -%}
DELETE FROM {{ relation }}
WHERE batch IN (SELECT batch FROM {{ batches }} AS batches WHERE number {{ side }} {{ number }})
{%- endmacro %}

{# The cells up to a line of the ledger. #}
{% macro cells_through(statistics, batches, number) -%}
{{ nbsql.cells_of(statistics) }}
WHERE batch IN (SELECT batch FROM {{ batches }} AS batches WHERE number <= {{ number }})
{%- endmacro %}
