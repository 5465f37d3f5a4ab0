{#
  The step of Newton's method, one row: v, objective, worst (the largest loss of a row), n (their weight), direction, fall (twice what
  the step is to gain), biggest (change of a v), and collinear: 0, or the first of the unknowns that those before it make up.

  `curved` holds the products. The Hessian is scaled to a diagonal of 1, and solved by Gauss and Jordan's elimination, which needs no
  pivoting as it is positive definite (Golub and Van Loan, Matrix Computations, section 4.2): every step takes the first row from all
  others, drops its column, and puts it last, so that in the end one column is left, the solution.
#}
{% macro logistic_step(problem, sums, curved, tried, terms, penalty) -%}
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
  SELECT generate_subscripts(v, 1) AS a, unnest(v) AS v FROM {{ tried }} AS tried
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
      SELECT i, j, sums FROM {{ curved }} AS curved WHERE j IS NOT NULL
      UNION ALL
      SELECT j, i, sums FROM {{ curved }} AS curved WHERE i < j
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
eliminated AS (
  SELECT 1 AS k, 0 AS collinear, list(list_append(entries, g) ORDER BY a) AS matrix
  FROM (
    SELECT grid.a, list(coalesce(entries.h / (sizes.size * others.size), 0) ORDER BY grid.b) AS entries, max(coalesce(gradient.g / sizes.size, 0)) AS g
    FROM (
      SELECT a, unnest(range(1, {{ size + 1 }})) AS b
      FROM (
        SELECT unnest(range(1, {{ size + 1 }})) AS a
      ) AS rows
    ) AS grid
    LEFT JOIN entries ON entries.a = grid.a AND entries.b = grid.b
    LEFT JOIN sizes ON sizes.a = grid.a
    LEFT JOIN sizes AS others ON others.a = grid.b
    LEFT JOIN gradient ON gradient.a = grid.a
    GROUP BY grid.a
  ) AS scaled
  UNION ALL
  SELECT
    k + 1,
    CASE WHEN head > 1e-13 THEN 0 ELSE k END,
    list_append(
      list_transform(matrix[2:], lambda row: list_transform(row[2:], lambda x, j: x - row[1] * ahead[j + 1])),
      ahead[2:]
    )
  FROM (
    SELECT *, list_transform(matrix[1], lambda x: x / head) AS ahead
    FROM (
      SELECT *, matrix[1][1] AS head FROM eliminated WHERE k <= {{ size }} AND collinear = 0
    ) AS heads
  ) AS step
),
directions AS MATERIALIZED (
  SELECT last.a, last.direction / sizes.size AS direction
  FROM (
    SELECT generate_subscripts(matrix, 1) AS a, unnest(matrix)[1] AS direction FROM eliminated WHERE k = {{ size + 1 }} AND collinear = 0
  ) AS last
  JOIN sizes ON sizes.a = last.a
)
SELECT
  tried.v,
  losses.sums[1] + coalesce((SELECT sum(pulls.g * unknowns.v) / 2 FROM pulls JOIN unknowns ON unknowns.a = pulls.a), 0) AS objective,
  losses.sums[2] AS worst,
  losses.sums[3] AS n,
  (SELECT list(direction ORDER BY a) FROM directions) AS direction,
  (SELECT sum(gradient.g * directions.direction) FROM gradient JOIN directions ON directions.a = gradient.a) AS fall,
  (SELECT max(abs(direction)) FROM directions) AS biggest,
  (SELECT max(collinear) FROM eliminated) AS collinear
FROM {{ tried }} AS tried
CROSS JOIN (
  SELECT sums FROM {{ sums }} AS sums WHERE i IS NULL
) AS losses
{%- endmacro %}

{# What decides on a step: objective, worst, n, fall, biggest, collinear. #}
{% macro logistic_judged(step) -%}
SELECT objective, worst, n, fall, biggest, collinear FROM {{ step }} AS step
{%- endmacro %}

{# The v that are tried next: a part of a step further. #}
{% macro logistic_next(step, part) -%}
SELECT list_transform(v, lambda x, a: x - {{ nbsql.number(part) }} * direction[a]) AS v FROM {{ step }} AS step
{%- endmacro %}

{# The feature, value and kind of one of the unknowns; of the bias there is none. #}
{% macro logistic_term(problem, terms, unknown) -%}
SELECT feature, value, kind FROM {{ terms }} AS terms WHERE j = ({{ unknown }} - 1) % {{ problem.width }}
{%- endmacro %}
