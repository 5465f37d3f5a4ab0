{#
  The nondecreasing function of the score that fits the hits by least squares, by pooling adjacent violators: a block that is not higher
  than the one before is merged with it, until all blocks rise. Neighbours that fall end up in one block whatever is pooled first, so
  every step pools all of them (Ayer et al., Annals of Mathematical Statistics 26, 1955). The knots are the ends of the blocks.
#}

{# The first step: one block a class and score. #}
{% macro isotonic_start(scores) -%}
SELECT
  class_no,
  score AS low,
  score AS high,
  sum(weight) AS weight,
  sum(CASE WHEN hit THEN weight ELSE 0 END) AS hits,
  FALSE AS done
FROM {{ scores }} AS scores
GROUP BY class_no, score
{%- endmacro %}

{# One row per class and block after the next step: class_no, low, high, weight, hits, done. Neighbours in the wrong order are pooled. #}
{% macro isotonic_step(steps, points) -%}
SELECT class_no, min(low) AS low, max(high) AS high, sum(weight) AS weight, sum(hits) AS hits, min(least) = 1 AS done
FROM (
  SELECT *, sum(starts) OVER (PARTITION BY class_no ORDER BY low ASC NULLS LAST) AS block, min(starts) OVER (PARTITION BY class_no) AS least
  FROM (
    SELECT
      *,
      CASE WHEN hits / weight <= lag(hits / weight) OVER (PARTITION BY class_no ORDER BY low ASC NULLS LAST) THEN 0 ELSE 1 END AS starts
    FROM {{ steps }} AS steps
  ) AS compared
) AS numbered
GROUP BY class_no, block
{%- endmacro %}

{# One row per knot: class_no, score, probability. The knots are the ends of the blocks. #}
{% macro isotonic_result(steps) -%}
{% set ends %}low, high{% endset -%}
SELECT DISTINCT class_no, {{ nbsql.unnested([nbsql.array_of(ends)], ['score']) | indent(2) }}, hits / weight AS probability
FROM {{ steps }} AS steps
{%- endmacro %}
