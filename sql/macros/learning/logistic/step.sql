{#
  Newton's step at a point, for each of some systems of equations. One row per system, in order: objective, worst (the largest loss of a
  row), n (the weight of the rows), direction, fall (twice the expected gain of the step), biggest (the largest change of an unknown), and
  collinear: 0, or the first unknown that is a linear combination of earlier ones. It is solved on DuckDB, whichever engine computed the
  sums (nbsql/learning/newton.py).

  The Hessian, scaled to a diagonal of 1, is positive definite, so it is L L' with a triangular L, which is computed column by column
  (Cholesky; Golub and Van Loan, Matrix Computations, section 4.2). The gradient stands below it as another row, so that the same steps
  turn it into y = L^-1 gradient. L' x = y is then solved from the last unknown to the first. If the earlier columns determine a column,
  nothing remains of its diagonal.

  The systems differ in the sums, whose column f is the number of the system, from 1, and in the growth of the penalty, and share the
  products: five folds take the time of one, most of which is the planning of the statement and the steps of the recursion.
#}
{% macro logistic_step(problem, sums, products, point, terms, penalty, growths) -%}
{% set size = problem.width * (problem.others | length) -%}
WITH RECURSIVE classes AS MATERIALIZED (
  SELECT
    unnest([{% for c, o, b, a in problem.pairs %}{{ c }}{{ nbsql.comma(loop) }}{% endfor %}]) AS c,
    unnest([{% for c, o, b, a in problem.pairs %}{{ o }}{{ nbsql.comma(loop) }}{% endfor %}]) AS o,
    unnest([{% for c, o, b, a in problem.pairs %}{{ b }}{{ nbsql.comma(loop) }}{% endfor %}]) AS block,
    unnest([{% for c, o, b, a in problem.pairs %}{{ nbsql.number(a) }}{{ nbsql.comma(loop) }}{% endfor %}]) AS share
),
systems AS MATERIALIZED (
  SELECT generate_subscripts(growths, 1) AS f, unnest(growths) AS growth
  FROM (SELECT [{% for growth in growths %}{{ nbsql.number(growth) }}{{ nbsql.comma(loop) }}{% endfor %}] AS growths) AS systems
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
  SELECT f, a, sum(g) AS g
  FROM (
    SELECT f, (generate_subscripts(sums, 1) - 1) * {{ problem.width }} + i + 1 AS a, unnest(sums) AS g
    FROM {{ sums }} AS sums
    WHERE i IS NOT NULL AND j IS NULL
    UNION ALL
    SELECT f, a, growth * g FROM pulls CROSS JOIN systems
  ) AS parts
  GROUP BY f, a
),
entries AS MATERIALIZED (
  SELECT f, a, b, sum(CASE WHEN is_penalty THEN growth * h ELSE h END) AS h
  FROM (
    SELECT (c - 1) * {{ problem.width }} + i + 1 AS a, (o - 1) * {{ problem.width }} + j + 1 AS b, sums[block] AS h, FALSE AS is_penalty
    FROM (
      SELECT i, j, sums FROM {{ products }} AS products WHERE j IS NOT NULL
      UNION ALL
      SELECT j, i, sums FROM {{ products }} AS products WHERE i < j
    ) AS sides
    CROSS JOIN classes
    UNION ALL
    SELECT a, b, h, TRUE AS is_penalty FROM penalties
  ) AS parts
  CROSS JOIN systems
  GROUP BY f, a, b
),
sizes AS MATERIALIZED (
  SELECT f, a, sqrt(h) AS size FROM entries WHERE a = b AND h > 0
),
rows AS MATERIALIZED (
  SELECT grid.f, grid.a, list(coalesce(entries.h / (sizes.size * others.size), 0) ORDER BY grid.b ASC NULLS LAST) AS entries
  FROM (
    SELECT systems.f, unknowns.a, others.a AS b
    FROM systems
    CROSS JOIN range(1, {{ size + 1 }}) AS unknowns(a)
    CROSS JOIN range(1, {{ size + 1 }}) AS others(a)
  ) AS grid
  LEFT JOIN entries ON entries.f = grid.f AND entries.a = grid.a AND entries.b = grid.b
  LEFT JOIN sizes ON sizes.f = grid.f AND sizes.a = grid.a
  LEFT JOIN sizes AS others ON others.f = grid.f AND others.a = grid.b
  GROUP BY grid.f, grid.a
  UNION ALL
  SELECT gradient.f, {{ size + 1 }}, list(coalesce(gradient.g / sizes.size, 0) ORDER BY gradient.a ASC NULLS LAST)
  FROM gradient
  LEFT JOIN sizes ON sizes.f = gradient.f AND sizes.a = gradient.a
  GROUP BY gradient.f
),
factor AS {{ nbsql.subquery(nbsql.logistic_cholesky(size)) }},
sides AS MATERIALIZED {{ nbsql.subquery(nbsql.logistic_triangular_system(size)) }},
solved AS (
  SELECT f, max(k) AS k, CAST([] AS DOUBLE[]) AS solution FROM sides GROUP BY f HAVING max(k) = {{ size }}
  UNION ALL
  SELECT
    solved.f,
    solved.k - 1,
    list_append(solved.solution, (sides.y - coalesce(list_dot_product(sides.below, solved.solution), 0)) / sides.diagonal)
  FROM solved
  JOIN sides ON sides.f = solved.f AND sides.k = solved.k
),
directions AS MATERIALIZED (
  SELECT solved.f, solved.a, solved.direction / sizes.size AS direction
  FROM (
    SELECT f, {{ size + 1 }} - generate_subscripts(solution, 1) AS a, unnest(solution) AS direction FROM solved WHERE k = 0
  ) AS solved
  JOIN sizes ON sizes.f = solved.f AND sizes.a = solved.a
),
steps AS (
  SELECT
    gradient.f,
    list(directions.direction ORDER BY gradient.a ASC NULLS LAST) FILTER (WHERE directions.a IS NOT NULL) AS direction,
    sum(gradient.g * directions.direction) AS fall,
    max(abs(directions.direction)) AS biggest
  FROM gradient
  LEFT JOIN directions ON directions.f = gradient.f AND directions.a = gradient.a
  GROUP BY gradient.f
)
SELECT
  losses.sums[1]
    + coalesce(systems.growth * (SELECT sum(pulls.g * unknowns.v) / 2 FROM pulls JOIN unknowns ON unknowns.a = pulls.a), 0)
    AS objective,
  losses.sums[2] AS worst,
  losses.sums[3] AS n,
  steps.direction,
  steps.fall,
  steps.biggest,
  CASE WHEN ranks.k < {{ size }} THEN ranks.k + 1 ELSE 0 END AS collinear
FROM {{ sums }} AS losses
JOIN systems ON systems.f = losses.f
JOIN steps ON steps.f = losses.f
JOIN (SELECT f, max(k) AS k FROM factor GROUP BY f) AS ranks ON ranks.f = losses.f
WHERE losses.i IS NULL
ORDER BY losses.f ASC NULLS LAST
{%- endmacro %}

{# L of each system, column by column: k columns of every row of `rows` that is not done yet. #}
{% macro logistic_cholesky(size) -%}
SELECT f, 0 AS k, a, CAST([] AS DOUBLE[]) AS l FROM rows
UNION ALL
SELECT
  factor.f,
  factor.k + 1,
  factor.a,
  list_append(factor.l, (rows.entries[factor.k + 1] - coalesce(list_dot_product(factor.l, ahead.l), 0)) / sqrt(ahead.rest))
FROM factor
JOIN rows ON rows.f = factor.f AND rows.a = factor.a
JOIN (
  SELECT factor.f, factor.l, rows.entries[factor.a] - coalesce(list_dot_product(factor.l, factor.l), 0) AS rest
  FROM factor
  JOIN rows ON rows.f = factor.f AND rows.a = factor.a
  WHERE factor.a = factor.k + 1
) AS ahead ON ahead.f = factor.f
WHERE factor.a > factor.k AND factor.k < {{ size }} AND ahead.rest > 1e-13
{%- endmacro %}

{# The triangular systems to solve: f, k, below (column k of L, from the last row up), diagonal, y. #}
{% macro logistic_triangular_system(size) -%}
SELECT
  f,
  k,
  list(l[k] ORDER BY a DESC NULLS LAST) FILTER (WHERE a > k AND a <= {{ size }}) AS below,
  max(CASE WHEN a = k THEN l[k] END) AS diagonal,
  max(CASE WHEN a = {{ size + 1 }} THEN l[k] END) AS y
FROM factor
WHERE k > 0
GROUP BY f, k
{%- endmacro %}

{# One row: the list v of the unknowns at a point. #}
{% macro logistic_point(point) -%}
{% set unknowns %}{% for x in point %}{{ nbsql.number(x) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
SELECT {{ nbsql.list_of(unknowns, nbsql.double()) }} AS v
{%- endmacro %}

{# The sums of scans (`logistic_sums`) as a query of parameters: a list of the scans, of the i, of the j, and of the lists of sums. #}
{% macro logistic_sums_as_parameters() -%}
SELECT
  unnest(CAST($1 AS INTEGER[])) AS f,
  unnest(CAST($2 AS INTEGER[])) AS i,
  unnest(CAST($3 AS INTEGER[])) AS j,
  unnest(CAST($4 AS DOUBLE[][])) AS sums
{%- endmacro %}
