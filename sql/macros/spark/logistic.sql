{#
  Where logistic regression differs. A common table expression is computed wherever it is named: so all sums of numbers come from one
  scan, those of the values of all categories from a second, and those of their pairs from a third, and a step is one chain of groups.
#}

{% macro spark__logistic_sums(problem, design, tried, curvature) -%}
{% set zs = [0] + (problem.numbers | map(attribute='j') | list) -%}
{% set many = curvature and problem.many -%}
{% set product %}sums[0]{% endset -%}
{% set no_j %}CAST(NULL AS INT){% endset -%}
{% set numbers %}{% for i in zs %}{{ i }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}{% endset -%}
{% set others, blocks = problem.others | length, problem.blocks | length -%}
WITH predicted AS (
  {{ nbsql.logistic_predicted(problem, design, tried) | indent(2) }}
)
SELECT inline(concat(
  array(struct({{ no_j }} AS i, {{ no_j }} AS j, losses AS sums)),
  transform(array({{ numbers }}), (i, place) -> struct(i AS i, {{ no_j }} AS j, slice(gradients, place * {{ others }} + 1, {{ others }}) AS sums))
  {%- if curvature and not many %},
  {{ nbsql.logistic_spread(zs, blocks) }}
  {%- endif %}

))
FROM (
  SELECT
    {% set losses %}sum(weight * loss), max(loss), sum(weight){% endset %}
    {% set gradients %}{% for i in zs %}{{ nbsql.logistic_gradient(problem, i) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
    {{ nbsql.list_of(losses, nbsql.double()) }} AS losses,
    {{ nbsql.list_of(gradients, nbsql.double()) }} AS gradients
    {%- if curvature and not many %}
    {%- set products %}{% for i in zs %}{% for j in zs[loop.index0:] %}{{ nbsql.logistic_product(problem, i, j) }}{{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}{% endfor %}{% endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products
    {%- endif %}

  FROM predicted
) AS totals
{%- if many %}

UNION ALL
SELECT i, j, {{ nbsql.gathered(product, nbsql.word('block')) }}
FROM (
  SELECT block, inline({{ nbsql.logistic_spread(zs, 1) }})
  FROM (
    SELECT block, array({% for i in zs %}{% for j in zs[loop.index0:] %}sum(q{% if i %} * z_{{ i }}{% endif %}{% if j %} * z_{{ j }}{% endif %}){{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}{% endfor %}) AS products
    FROM (
      SELECT *, posexplode(array({% for b in problem.blocks %}q_{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %})) AS (block, q) FROM predicted
    ) AS blocks
    GROUP BY block
  ) AS sums
) AS products
GROUP BY i, j
{%- endif %}
{%- if problem.levels %}

UNION ALL
SELECT inline(concat(
  array(struct(code AS i, {{ no_j }} AS j, gradient AS sums))
  {%- if curvature %},
  array(struct(code AS i, code AS j, slice(products, 1, {{ blocks }}) AS sums)),
  transform(array({{ numbers }}), (i, place) -> struct(i AS i, code AS j, slice(products, place * {{ blocks }} + 1, {{ blocks }}) AS sums))
  {%- endif %}

))
FROM (
  SELECT
    code,
    {{ nbsql.list_of(nbsql.logistic_gradient(problem, 0), nbsql.double()) }} AS gradient
    {%- if curvature %}
    {%- set products %}{% for i in zs %}{{ nbsql.logistic_product(problem, i, 0) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products
    {%- endif %}

  FROM (
    SELECT *, explode(array({% for feature in problem.levels %}code{{ nbsql.sub(feature) }}{{ nbsql.comma(loop) }}{% endfor %})) AS code FROM predicted
  ) AS codes
  WHERE code IS NOT NULL
  GROUP BY code
) AS by_code
{%- if curvature and problem.levels[1:] %}

UNION ALL
SELECT i, j, {{ nbsql.list_of(nbsql.logistic_product(problem, 0, 0), nbsql.double()) }}
FROM (
  SELECT *, inline(array({% for feature in problem.levels[:-1] %}{% for other in problem.levels[loop.index:] %}struct(code{{ nbsql.sub(feature) }} AS i, code{{ nbsql.sub(other) }} AS j){{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}{% endfor %})) FROM predicted
) AS pairs
WHERE i IS NOT NULL AND j IS NOT NULL
GROUP BY i, j
{%- endif %}
{%- endif %}
{%- endmacro %}

{# The list `products` of the pairs i <= j, of so many numbers a pair, as a list of i, j and sums. #}
{% macro logistic_spread(zs, width) -%}
transform(
    zip_with(array({{ nbsql.logistic_places(zs, true) }}), array({{ nbsql.logistic_places(zs, false) }}), (i, j) -> struct(i AS i, j AS j)),
    (pair, place) -> struct(pair.i AS i, pair.j AS j, slice(products, place * {{ width }} + 1, {{ width }}) AS sums)
  )
{%- endmacro %}

{#
  The system of equations, a row an unknown a: its row of the Hessian, and its gradient in the end; row 0 has the objective, the largest
  loss of a row and their weight. The parts of each number are listed, with zeros where there may be none, and added up.
#}
{% macro logistic_system(problem, sums, curved, tried, terms, penalty) -%}
{% set size = problem.width * (problem.others | length) -%}
{% set classes %}{% for c, o, b, a in problem.pairs %}struct({{ c }} AS c, {{ o }} AS o, {{ b }} AS block, {{ nbsql.number(a) }} AS share){{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}{% endset -%}
{% set v, a, b, block = nbsql.word('v'), nbsql.word('a'), nbsql.word('b'), nbsql.word('block') -%}
SELECT a, {{ nbsql.gathered(nbsql.word('h'), b) }} AS entries
FROM (
  SELECT a, b, sum(h) AS h
  FROM (
    SELECT 0 AS a, {{ nbsql.unnested_with_places(nbsql.word('sums'), 'b', 'h') }} FROM {{ sums }} AS sums WHERE i IS NULL
    UNION ALL
    SELECT (c - 1) * {{ problem.width }} + i + 1, {{ size + 1 }}, g
    FROM (
      SELECT i, {{ nbsql.unnested_with_places(nbsql.word('sums'), 'c', 'g') }} FROM {{ sums }} AS sums WHERE i IS NOT NULL AND j IS NULL
    ) AS gradients
    UNION ALL
    SELECT (c - 1) * {{ problem.width }} + i + 1, (o - 1) * {{ problem.width }} + j + 1, {{ nbsql.at(nbsql.word('sums'), block) }}
    FROM (
      SELECT i, j, sums, inline(array({{ classes }}))
      FROM (
        SELECT sums, inline(CASE WHEN i = j THEN array(struct(i AS i, j AS j)) ELSE array(struct(i AS i, j AS j), struct(j AS i, i AS j)) END)
        FROM {{ curved }} AS curved
        WHERE j IS NOT NULL
      ) AS sides
    ) AS products
    UNION ALL
    SELECT inline(array(
      struct(a AS a, b AS b, h AS h),
      struct(a AS a, {{ size + 1 }} AS b, h * {{ nbsql.at(v, b) }} AS h),
      struct(0 AS a, 1 AS b, h * {{ nbsql.at(v, a) }} * {{ nbsql.at(v, b) }} / 2 AS h)
    ))
    FROM (
      SELECT
        CAST((c - 1) * {{ problem.width }} + j + 1 AS INT) AS a,
        CAST((o - 1) * {{ problem.width }} + j + 1 AS INT) AS b,
        2 * {{ nbsql.number(penalty) }} * share / (scale * scale) AS h,
        v
      FROM (
        SELECT{{ nbsql.with_few(nbsql.word('tried')) }} terms.j, terms.scale, tried.v, inline(array({{ classes }}))
        FROM {{ terms }} AS terms
        CROSS JOIN {{ tried }} AS tried
      ) AS terms
    ) AS penalties
    UNION ALL
    SELECT a, {{ nbsql.whole_numbers(1, size + 2) | indent(4) }}, 0
    FROM (
      SELECT {{ nbsql.whole_numbers(1, size + 1) | indent(6) }} AS a
    ) AS unknowns
  ) AS parts
  GROUP BY a, b
) AS numbers
GROUP BY a
{%- endmacro %}

{#
  Gaussian elimination of the Hessian, scaled to a diagonal of 1, with the gradient as a last column: `sides` are the first rows of what
  is left, D L' and D L^-1 gradient, as long as the diagonal there is not nothing. The last unknown is solved first.
#}
{% macro spark__logistic_step(problem, sums, curved, tried, terms, penalty) -%}
{% set size = problem.width * (problem.others | length) -%}
{% set head %}state.rest[0]{% endset -%}
{% set ahead %}slice(side, 2, size(solution)){% endset -%}
{% set solution = nbsql.word('solution') -%}
SELECT{{ nbsql.with_few(nbsql.word('solved')) }}
  tried.v,
  solved.decided[0] AS objective,
  solved.decided[1] AS worst,
  solved.decided[2] AS n,
  solved.direction,
  aggregate(zip_with(solved.direction, solved.gradient, (d, g) -> d * g), {{ nbsql.number(0) }}, (total, x) -> total + x) AS fall,
  array_max(transform(solved.direction, d -> abs(d))) AS biggest,
  CASE WHEN size(solved.sides) < {{ size }} THEN size(solved.sides) + 1 ELSE 0 END AS collinear
FROM {{ tried }} AS tried
CROSS JOIN (
  SELECT
    decided,
    sides,
    gradient,
    CASE WHEN size(sides) = {{ size }} THEN
      zip_with(
        aggregate(
          reverse(sides),
          CAST(array() AS ARRAY<{{ nbsql.double() }}>),
          (solution, side) -> concat(array((element_at(side, -1) - {{ nbsql.list_product(ahead, solution) }}) / side[0]), solution)
        ),
        sizes,
        (d, scale) -> d / scale
      )
    END AS direction
  FROM (
    SELECT
      decided,
      sizes,
      gradient,
      aggregate(
        sequence(1, {{ size }}),
        struct(
          zip_with(matrix, sizes, (row, own) -> zip_with(row, concat(sizes, array({{ nbsql.number(1) }})), (h, other) -> coalesce(h / (own * other), {{ nbsql.number(0) }}))) AS rest,
          CAST(array() AS ARRAY<ARRAY<{{ nbsql.double() }}>>) AS sides
        ),
        (state, k) -> CASE WHEN {{ head }}[0] > 1e-13D THEN
          struct(
            transform(
              slice(state.rest, 2, size(state.rest)),
              row -> zip_with(slice(row, 2, size(row)), slice({{ head }}, 2, size(row)), (h, ahead) -> h - ahead * (row[0] / {{ head }}[0]))
            ) AS rest,
            concat(state.sides, array({{ head }})) AS sides
          )
        ELSE state END,
        state -> state.sides
      ) AS sides
    FROM (
      SELECT
        decided,
        matrix,
        transform(matrix, row -> element_at(row, -1)) AS gradient,
        transform(matrix, (row, place) -> CASE WHEN row[place] > 0 THEN sqrt(row[place]) END) AS sizes
      FROM (
        SELECT element_at(rows, 1) AS decided, slice(rows, 2, {{ size }}) AS matrix
        FROM (
          SELECT {{ nbsql.gathered(nbsql.word('entries'), nbsql.word('a')) }} AS rows
          FROM (
            {{ nbsql.logistic_system(problem, sums, curved, tried, terms, penalty) | indent(12) }}
          ) AS system
        ) AS system
      ) AS system
    ) AS scaled
  ) AS eliminated
) AS solved
{%- endmacro %}
