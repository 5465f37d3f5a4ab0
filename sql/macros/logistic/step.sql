{#
  The step of Newton's method, one row: v, objective, worst (the largest loss of a row), n (their weight), direction, fall (twice what
  the step is to gain), biggest (change of a v), and collinear: 0, or the first of the unknowns that those before it make up.

  `curved` holds the products. The Hessian, scaled to a diagonal of 1, is positive definite, and L L' of a triangular L, which is found
  column by column (Cholesky; Golub and Van Loan, Matrix Computations, section 4.2). The gradient stands below it as one more row, so
  that the same steps make y = L^-1 gradient of it; L' x = y is then solved from the last of the unknowns to the first. What is
  left of a diagonal where the columns before it are taken away is nothing where they make it up.
#}
{% macro logistic_step(problem, sums, curved, tried, terms, penalty) -%}
{% set size = problem.width * (problem.others | length) -%}
{% set entry %}coalesce(entries.h / (sizes.size * others.size), 0){% endset -%}
{% set other %}grid.b{% endset -%}
{% set fall %}coalesce(gradient.g / sizes.size, 0){% endset -%}
{% set unknown %}gradient.a{% endset -%}
{% set below %}sides.below{% endset -%}
{% set solution %}solved.solution{% endset -%}
{% set product %}coalesce({{ nbsql.list_product(below, solution) }}, 0){% endset -%}
{% set next %}(sides.y - {{ product }}) / sides.diagonal{% endset -%}
WITH RECURSIVE classes AS MATERIALIZED (
  SELECT
    unnest({{ nbsql.array() }}[{% for c, o, b, a in problem.pairs %}{{ c }}{{ nbsql.comma(loop) }}{% endfor %}]) AS c,
    unnest({{ nbsql.array() }}[{% for c, o, b, a in problem.pairs %}{{ o }}{{ nbsql.comma(loop) }}{% endfor %}]) AS o,
    unnest({{ nbsql.array() }}[{% for c, o, b, a in problem.pairs %}{{ b }}{{ nbsql.comma(loop) }}{% endfor %}]) AS block,
    unnest({{ nbsql.array() }}[{% for c, o, b, a in problem.pairs %}{{ nbsql.number(a) }}{{ nbsql.comma(loop) }}{% endfor %}]) AS share
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
rows AS MATERIALIZED (
  SELECT grid.a, {{ nbsql.gathered(entry, other) }} AS entries
  FROM (
    SELECT a, {{ nbsql.whole_numbers(1, size + 1) | indent(2) }} AS b
    FROM (
      SELECT {{ nbsql.whole_numbers(1, size + 1) | indent(4) }} AS a
    ) AS unknowns
  ) AS grid
  LEFT JOIN entries ON entries.a = grid.a AND entries.b = grid.b
  LEFT JOIN sizes ON sizes.a = grid.a
  LEFT JOIN sizes AS others ON others.a = grid.b
  GROUP BY grid.a
  UNION ALL
  SELECT {{ size + 1 }}, {{ nbsql.gathered(fall, unknown) }}
  FROM gradient
  LEFT JOIN sizes ON sizes.a = gradient.a
),
factor AS (
  {{ nbsql.logistic_factor(size) | indent(2) }}
),
sides AS MATERIALIZED (
  {{ nbsql.logistic_sides(size) | indent(2) }}
),
solved AS (
  SELECT max(k) AS k, CAST({{ nbsql.array() }}[] AS {{ nbsql.double() }}[]) AS solution FROM sides HAVING max(k) = {{ size }}
  UNION ALL
  SELECT solved.k - 1, {{ nbsql.list_appended(solution, next) }}
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
  tried.v,
  losses.sums[1] + coalesce((SELECT sum(pulls.g * unknowns.v) / 2 FROM pulls JOIN unknowns ON unknowns.a = pulls.a), 0) AS objective,
  losses.sums[2] AS worst,
  losses.sums[3] AS n,
  (SELECT {{ nbsql.gathered(nbsql.word('direction'), nbsql.word('a')) }} FROM directions) AS direction,
  (SELECT sum(gradient.g * directions.direction) FROM gradient JOIN directions ON directions.a = gradient.a) AS fall,
  (SELECT max(abs(direction)) FROM directions) AS biggest,
  (SELECT CASE WHEN max(k) < {{ size }} THEN max(k) + 1 ELSE 0 END FROM factor) AS collinear
FROM {{ tried }} AS tried
CROSS JOIN (
  SELECT sums FROM {{ sums }} AS sums WHERE i IS NULL
) AS losses
{%- endmacro %}

{# L, column by column: k columns of every row of `rows` that is not done yet. #}
{% macro logistic_factor(size) -%}
SELECT 0 AS k, a, CAST([] AS {{ nbsql.double() }}[]) AS l FROM rows
UNION ALL
SELECT factor.k + 1, factor.a, list_append(factor.l, (rows.entries[factor.k + 1] - coalesce(list_dot_product(factor.l, ahead.l), 0)) / sqrt(ahead.rest))
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

{# What solves it: k, below (column k of L, from the last row up), diagonal, y. #}
{% macro logistic_sides(size) -%}
SELECT
  k,
  list(l[k] ORDER BY a DESC) FILTER (WHERE a > k AND a <= {{ size }}) AS below,
  max(CASE WHEN a = k THEN l[k] END) AS diagonal,
  max(CASE WHEN a = {{ size + 1 }} THEN l[k] END) AS y
FROM factor
WHERE k > 0
GROUP BY k
{%- endmacro %}

{# What decides on a step: objective, worst, n, fall, biggest, collinear. #}
{% macro logistic_judged(step) -%}
SELECT objective, worst, n, fall, biggest, collinear FROM {{ step }} AS step
{%- endmacro %}

{# The v that are tried next: a part of a step further. #}
{% macro logistic_next(step, part) -%}
{% set moved %}x - {{ nbsql.number(part) }} * {{ nbsql.at(nbsql.word('direction'), nbsql.word('a')) }}{% endset -%}
SELECT {{ nbsql.list_mapped(nbsql.word('v'), moved, 'x', 'a') }} AS v FROM {{ step }} AS step
{%- endmacro %}

{# The feature, value and kind of one of the unknowns; of the bias there is none. #}
{% macro logistic_term(problem, terms, unknown) -%}
SELECT feature, value, kind FROM {{ terms }} AS terms WHERE j = ({{ unknown }} - 1) % {{ problem.width }}
{%- endmacro %}
