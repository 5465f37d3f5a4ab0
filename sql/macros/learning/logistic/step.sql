{#
  Newton's step at a point. One row: objective, worst (the largest loss of a row), n (the weight of the rows), direction, fall (twice the
  expected gain of the step), biggest (the largest change of an unknown), and collinear: 0, or the first unknown that is a linear
  combination of earlier ones. It is solved on DuckDB, whichever engine computed the sums (nbsql/learning/newton.py).

  The Hessian, scaled to a diagonal of 1, is positive definite, so it is L L' with a triangular L, which is computed column by column
  (Cholesky; Golub and Van Loan, Matrix Computations, section 4.2). The gradient stands below it as another row, so that the same steps
  turn it into y = L^-1 gradient. L' x = y is then solved from the last unknown to the first. If the earlier columns determine a column,
  nothing remains of its diagonal.
#}
{% macro logistic_step(problem, sums, products, point, terms, penalty) -%}
{% set size = problem.width * (problem.others | length) -%}
WITH RECURSIVE classes AS MATERIALIZED (
  SELECT
    unnest([{% for c, o, b, a in problem.pairs %}{{ c }}{{ nbsql.comma(loop) }}{% endfor %}]) AS c,
    unnest([{% for c, o, b, a in problem.pairs %}{{ o }}{{ nbsql.comma(loop) }}{% endfor %}]) AS o,
    unnest([{% for c, o, b, a in problem.pairs %}{{ b }}{{ nbsql.comma(loop) }}{% endfor %}]) AS block,
    unnest([{% for c, o, b, a in problem.pairs %}{{ nbsql.number(a) }}{{ nbsql.comma(loop) }}{% endfor %}]) AS share
),
penalties AS MATERIALIZED (
  SELECT
    (c - 1) * {{ problem.width }} + j + 1 AS a,
    (o - 1) * {{ problem.width }} + j + 1 AS b,
    2 * {{ nbsql.number(penalty) }} * share / (scale * scale) AS h
  FROM {{ terms }} AS terms
  CROSS JOIN classes
),
unknowns AS MATERIALIZED (
  SELECT generate_subscripts(v, 1) AS a, unnest(v) AS v
  FROM (
    {{ nbsql.logistic_point(point) }}
  ) AS point
),
pulls AS MATERIALIZED (
  SELECT penalties.a, sum(penalties.h * unknowns.v) AS g
  FROM penalties
  JOIN unknowns ON unknowns.a = penalties.b
  GROUP BY penalties.a
),
gradient AS MATERIALIZED (
  SELECT a, sum(g) AS g
  FROM (
    SELECT (generate_subscripts(sums, 1) - 1) * {{ problem.width }} + i + 1 AS a, unnest(sums) AS g
    FROM {{ sums }} AS sums
    WHERE i IS NOT NULL AND j IS NULL
    UNION ALL
    SELECT a, g FROM pulls
  ) AS parts
  GROUP BY a
),
entries AS MATERIALIZED (
  SELECT a, b, sum(h) AS h
  FROM (
    SELECT (c - 1) * {{ problem.width }} + i + 1 AS a, (o - 1) * {{ problem.width }} + j + 1 AS b, sums[block] AS h
    FROM (
      SELECT i, j, sums FROM {{ products }} AS products WHERE j IS NOT NULL
      UNION ALL
      SELECT j, i, sums FROM {{ products }} AS products WHERE i < j
    ) AS sides
    CROSS JOIN classes
    UNION ALL
    SELECT a, b, h FROM penalties
  ) AS parts
  GROUP BY a, b
),
sizes AS MATERIALIZED (
  SELECT a, sqrt(h) AS size FROM entries WHERE a = b AND h > 0
),
rows AS MATERIALIZED (
  SELECT grid.a, list(coalesce(entries.h / (sizes.size * others.size), 0) ORDER BY grid.b ASC NULLS LAST) AS entries
  FROM (
    SELECT unknowns.a, others.a AS b FROM range(1, {{ size + 1 }}) AS unknowns(a) CROSS JOIN range(1, {{ size + 1 }}) AS others(a)
  ) AS grid
  LEFT JOIN entries ON entries.a = grid.a AND entries.b = grid.b
  LEFT JOIN sizes ON sizes.a = grid.a
  LEFT JOIN sizes AS others ON others.a = grid.b
  GROUP BY grid.a
  UNION ALL
  SELECT {{ size + 1 }}, list(coalesce(gradient.g / sizes.size, 0) ORDER BY gradient.a ASC NULLS LAST)
  FROM gradient
  LEFT JOIN sizes ON sizes.a = gradient.a
),
factor AS (
  {{ nbsql.logistic_factor(size) | indent(2) }}
),
sides AS MATERIALIZED (
  {{ nbsql.logistic_triangular_system(size) | indent(2) }}
),
solved AS (
  SELECT max(k) AS k, CAST([] AS DOUBLE[]) AS solution FROM sides HAVING max(k) = {{ size }}
  UNION ALL
  SELECT
    solved.k - 1,
    list_append(solved.solution, (sides.y - coalesce(list_dot_product(sides.below, solved.solution), 0)) / sides.diagonal)
  FROM solved
  JOIN sides ON sides.k = solved.k
),
directions AS MATERIALIZED (
  SELECT solved.a, solved.direction / sizes.size AS direction
  FROM (
    SELECT {{ size + 1 }} - generate_subscripts(solution, 1) AS a, unnest(solution) AS direction FROM solved WHERE k = 0
  ) AS solved
  JOIN sizes ON sizes.a = solved.a
)
SELECT
  losses.sums[1] + coalesce((SELECT sum(pulls.g * unknowns.v) / 2 FROM pulls JOIN unknowns ON unknowns.a = pulls.a), 0) AS objective,
  losses.sums[2] AS worst,
  losses.sums[3] AS n,
  (SELECT list(direction ORDER BY a ASC NULLS LAST) FROM directions) AS direction,
  (SELECT sum(gradient.g * directions.direction) FROM gradient JOIN directions ON directions.a = gradient.a) AS fall,
  (SELECT max(abs(direction)) FROM directions) AS biggest,
  (SELECT CASE WHEN max(k) < {{ size }} THEN max(k) + 1 ELSE 0 END FROM factor) AS collinear
FROM {{ sums }} AS losses
WHERE losses.i IS NULL
{%- endmacro %}

{# L, column by column: k columns of every row of `rows` that is not done yet. #}
{% macro logistic_factor(size) -%}
SELECT 0 AS k, a, CAST([] AS DOUBLE[]) AS l FROM rows
UNION ALL
SELECT
  factor.k + 1,
  factor.a,
  list_append(factor.l, (rows.entries[factor.k + 1] - coalesce(list_dot_product(factor.l, ahead.l), 0)) / sqrt(ahead.rest))
FROM factor
JOIN rows ON rows.a = factor.a
CROSS JOIN (
  SELECT factor.l, rows.entries[factor.a] - coalesce(list_dot_product(factor.l, factor.l), 0) AS rest
  FROM factor
  JOIN rows ON rows.a = factor.a
  WHERE factor.a = factor.k + 1
) AS ahead
WHERE factor.a > factor.k AND factor.k < {{ size }} AND ahead.rest > 1e-13
{%- endmacro %}

{# The triangular system to solve: k, below (column k of L, from the last row up), diagonal, y. #}
{% macro logistic_triangular_system(size) -%}
SELECT
  k,
  list(l[k] ORDER BY a DESC NULLS LAST) FILTER (WHERE a > k AND a <= {{ size }}) AS below,
  max(CASE WHEN a = k THEN l[k] END) AS diagonal,
  max(CASE WHEN a = {{ size + 1 }} THEN l[k] END) AS y
FROM factor
WHERE k > 0
GROUP BY k
{%- endmacro %}

{# One row: the list v of the unknowns at a point. #}
{% macro logistic_point(point) -%}
{% set unknowns %}{% for x in point %}{{ nbsql.number(x) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
SELECT {{ nbsql.list_of(unknowns, nbsql.double()) }} AS v
{%- endmacro %}
