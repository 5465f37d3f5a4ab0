{#
  Spark's form of logistic regression. Spark computes a common table expression wherever it is named. So one scan makes all sums of
  numbers, a second those of the values of all categories, a third those of their pairs, and a step is one chain of groups.
#}

{#
  One row a sum over the rows: i, j, and sums, a list. i and j are NULL for the loss (its sum, its maximum, the sum of the weights), j is
  NULL for the gradient of i, and both are given for a part of the Hessian.
#}
{% macro spark__logistic_sums(problem, design, trial, curvature) -%}
{% set zs = [0] + (problem.numbers | map(attribute='j') | list) -%}
{% set is_blocked = curvature and problem.many -%}
{% set product %}sums[0]{% endset -%}
{% set no_j %}CAST(NULL AS INT){% endset -%}
{% set numbers %}{% for i in zs %}{{ i }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set others, blocks = problem.others | length, problem.blocks | length -%}
WITH predicted AS (
  {{ nbsql.logistic_predicted(problem, design, trial) | indent(2) }}
)
SELECT inline(concat(
  array(struct({{ no_j }} AS i, {{ no_j }} AS j, losses AS sums)),
  transform(
    array({{ numbers }}),
    (i, place) -> struct(i AS i, {{ no_j }} AS j, slice(gradients, place * {{ others }} + 1, {{ others }}) AS sums)
  )
  {%- if curvature and not is_blocked %},
  {{ nbsql.logistic_pair_sums(zs, blocks) }}
  {%- endif %}

))
FROM (
  SELECT
    {% set losses %}sum(weight * loss), max(loss), sum(weight){% endset %}
    {% set gradients %}{% for i in zs %}{{ nbsql.logistic_gradient(problem, i) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
    {{ nbsql.list_of(losses, nbsql.double()) }} AS losses,
    {{ nbsql.list_of(gradients, nbsql.double()) }} AS gradients
    {%- if curvature and not is_blocked %}
    {%- set products -%}
    {% call(i, j) nbsql.over_pairs(zs) %}{{ nbsql.logistic_product(problem, i, j) }}{% endcall %}
    {%- endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products
    {%- endif %}

  FROM predicted
) AS totals
{%- if is_blocked %}

UNION ALL
SELECT i, j, {{ nbsql.ordered_list(product, nbsql.word('block')) }}
FROM (
  SELECT block, inline({{ nbsql.logistic_pair_sums(zs, 1) }})
  FROM (
    SELECT block, array({{ nbsql.logistic_products_of_block(zs) }}) AS products
    FROM (
      SELECT *, posexplode(array({% for _ in problem.blocks %}q_{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %})) AS (block, q)
      FROM predicted
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
  transform(
    array({{ numbers }}),
    (i, place) -> struct(i AS i, code AS j, slice(products, place * {{ blocks }} + 1, {{ blocks }}) AS sums)
  )
  {%- endif %}

))
FROM (
  SELECT
    code,
    {{ nbsql.list_of(nbsql.logistic_gradient(problem, 0), nbsql.double()) }} AS gradient
    {%- if curvature %}
    {%- set products -%}
    {% for i in zs %}{{ nbsql.logistic_product(problem, i, 0) }}{{ nbsql.comma(loop) }}{% endfor %}
    {%- endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products
    {%- endif %}

  FROM (
    SELECT *, explode(array(
      {%- for feature in problem.levels %}code{{ nbsql.feature_suffix(feature) }}{{ nbsql.comma(loop) }}{% endfor %})) AS code
    FROM predicted
  ) AS codes
  WHERE code IS NOT NULL
  GROUP BY code
) AS by_code
{%- if curvature and problem.levels[1:] %}

UNION ALL
SELECT i, j, {{ nbsql.list_of(nbsql.logistic_product(problem, 0, 0), nbsql.double()) }}
FROM (
  SELECT *, inline(array(
    {%- for feature in problem.levels[:-1] %}
    {%- for other in problem.levels[loop.index:] -%}
    struct(code{{ nbsql.feature_suffix(feature) }} AS i, code{{ nbsql.feature_suffix(other) }} AS j){{ nbsql.comma(loop) }}
    {%- endfor %}{{ nbsql.comma(loop) }}
    {%- endfor %}))
  FROM predicted
) AS pairs
WHERE i IS NOT NULL AND j IS NOT NULL
GROUP BY i, j
{%- endif %}
{%- endif %}
{%- endmacro %}

{# A list of i, j and sums, one element a pair i <= j, from the list `products`, which has `width` numbers a pair. #}
{% macro logistic_pair_sums(zs, width) -%}
transform(
    zip_with(array({{ nbsql.logistic_pairs(zs, true) }}), array({{ nbsql.logistic_pairs(zs, false) }}), (i, j) -> struct(i AS i, j AS j)),
    (pair, place) -> struct(pair.i AS i, pair.j AS j, slice(products, place * {{ width }} + 1, {{ width }}) AS sums)
  )
{%- endmacro %}
