{# One scan of the rows of a logistic model; its terms and unknowns are those of rows.sql. #}

{#
  One row a sum over the rows, at a trial value of v: i, j, and sums, a list.

    i, j NULL    the loss, the largest loss of a row, the weight
    j NULL       the gradient of term i, by class
    i <= j       the products of terms i and j, by block, if the curvature is asked for

  If one sum a block and pair of numbers would make the statement too long, the rows are repeated for each block.
#}
{% macro logistic_sums(problem, design, trial, curvature) -%}
{% set zs = [0] + (problem.numbers | map(attribute='j') | list) -%}
{% set is_blocked = curvature and problem.many -%}
{% set numbers %}{% for i in zs %}{{ i }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set null_index %}CAST(NULL AS INTEGER){% endset -%}
WITH {% if problem.levels or is_blocked %}predicted AS MATERIALIZED (
  {{ nbsql[problem.rows_macro](problem, design, trial) | indent(2) }}
),
{% endif -%}
totals AS MATERIALIZED (
  SELECT
    {% set losses %}sum(weight * loss), max(loss), sum(weight){% endset %}
    {% set gradients -%}
    {% for i in zs %}{{ nbsql.matrix_row(nbsql.logistic_gradient(problem, i)) }}{{ nbsql.comma(loop) }}{% endfor %}
    {%- endset %}
    {{ nbsql.list_of(losses, nbsql.double()) }} AS losses,
    {{ nbsql.list_of(gradients, nbsql.double()) }} AS gradients
    {%- if curvature and not is_blocked %}
    {%- set products -%}
    {% call(i, j) nbsql.over_pairs(zs) %}{{ nbsql.matrix_row(nbsql.logistic_product(problem, i, j)) }}{% endcall %}
    {%- endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products
    {%- endif %}

  FROM {% if problem.levels or is_blocked %}predicted{% else %}(
    {{ nbsql[problem.rows_macro](problem, design, trial) | indent(4) }}
  ) AS predicted{% endif %}

)
{%- if is_blocked %},
by_block AS (
  SELECT
    block,
    unnest({{ nbsql.array() }}[{{ nbsql.logistic_pairs(zs, true) }}]) AS i,
    unnest({{ nbsql.array() }}[{{ nbsql.logistic_pairs(zs, false) }}]) AS j,
    unnest(products) AS product
  FROM (
    SELECT block, {{ nbsql.array_of(nbsql.logistic_products_of_block(zs)) }} AS products
    FROM (
      SELECT
        {{ nbsql.whole_numbers(1, problem.blocks | length + 1) | indent(4) }} AS block,
        unnest({{ nbsql.array() }}[{% for b in problem.blocks %}q_{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %}]) AS q
        {%- for i in zs[1:] %},
        z_{{ i }}
        {%- endfor %}

      FROM predicted
    ) AS blocks
    GROUP BY block
  ) AS sums
)
{%- endif %}
{%- for feature in problem.levels %},
by{{ nbsql.feature_suffix(feature) }} AS MATERIALIZED (
  SELECT
    code{{ nbsql.feature_suffix(feature) }} AS code,
    {{ nbsql.list_of(nbsql.logistic_gradient(problem, 0), nbsql.double()) }} AS gradient
    {%- if curvature %}
    {%- set products -%}
    {% for i in zs %}{{ nbsql.matrix_row(nbsql.logistic_product(problem, i, 0)) }}{{ nbsql.comma(loop) }}{% endfor %}
    {%- endset %},
    {{ nbsql.list_of(products, nbsql.double()) }} AS products,
    {{ nbsql.list_of(nbsql.logistic_product(problem, 0, 0), nbsql.double()) }} AS squares
    {%- endif %}

  FROM predicted
  WHERE code{{ nbsql.feature_suffix(feature) }} IS NOT NULL
  GROUP BY code{{ nbsql.feature_suffix(feature) }}
)
{%- endfor %}

SELECT CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, losses AS sums FROM totals
UNION ALL
{{ nbsql.unnested_matrix([(numbers, none), (none, null_index)], nbsql.word('gradients'), problem.others | length, nbsql.word('totals')) }}
{%- for feature in problem.levels %}

UNION ALL
SELECT code, NULL, gradient FROM by{{ nbsql.feature_suffix(feature) }}
{%- endfor %}
{%- if curvature %}

UNION ALL
{% if is_blocked %}
SELECT i, j, {{ nbsql.ordered_list(nbsql.word('product'), nbsql.word('block')) }} FROM by_block GROUP BY i, j
{%- else %}
{% set places = [(nbsql.logistic_pairs(zs, true), none), (nbsql.logistic_pairs(zs, false), none)] -%}
{{ nbsql.unnested_matrix(places, nbsql.word('products'), problem.blocks | length, nbsql.word('totals')) }}
{%- endif %}
{%- for feature in problem.levels %}

UNION ALL
{% set places, by_code = [(numbers, none), (none, nbsql.word('code'))], nbsql.word('by') ~ nbsql.feature_suffix(feature) -%}
{{ nbsql.unnested_matrix(places, nbsql.word('products'), problem.blocks | length, by_code) }}

UNION ALL
SELECT code, code, squares FROM by{{ nbsql.feature_suffix(feature) }}
{%- for other in problem.levels[loop.index:] %}

UNION ALL
{% set code, other_code = nbsql.word('code') ~ nbsql.feature_suffix(feature), nbsql.word('code') ~ nbsql.feature_suffix(other) -%}
SELECT {{ code }}, {{ other_code }}, {{ nbsql.list_of(nbsql.logistic_product(problem, 0, 0), nbsql.double()) }}
FROM predicted
WHERE {{ code }} IS NOT NULL AND {{ other_code }} IS NOT NULL
GROUP BY {{ code }}, {{ other_code }}
{%- endfor %}
{%- endfor %}
{%- endif %}
{%- endmacro %}

{# The pairs i <= j of some terms, in the order of their products: the elements of the list of the first terms, or of the second terms. #}
{% macro logistic_pairs(zs, first) -%}
{% call(i, j) nbsql.over_pairs(zs) %}{% if first %}{{ i }}{% else %}{{ j }}{% endif %}{% endcall %}
{%- endmacro %}

{# The elements of a list, one a pair i <= j of some terms, which a block renders. #}
{% macro over_pairs(zs) -%}
{% for i in zs -%}
{% for j in zs[loop.index0:] %}{{ caller(i, j) }}{{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}
{%- endfor %}
{%- endmacro %}

{# The sum over the rows of a number times two terms; term 0, the constant, is 1. #}
{% macro logistic_sum(number, i=0, j=0) -%}
sum({{ number }}{% if i %} * z_{{ i }}{% endif %}{% if j %} * z_{{ j }}{% endif %})
{%- endmacro %}

{# The gradient of term i, by class: the elements of a list. #}
{% macro logistic_gradient(problem, i) -%}
{% for c in problem.others %}{{ nbsql.logistic_sum(nbsql.word('r_' ~ c), i) }}{{ nbsql.comma(loop) }}{% endfor %}
{%- endmacro %}

{# The products of the terms i and j, by block: the elements of a list. #}
{% macro logistic_product(problem, i, j) -%}
{% for _ in problem.blocks %}{{ nbsql.logistic_sum(nbsql.word('q_' ~ loop.index), i, j) }}{{ nbsql.comma(loop) }}{% endfor %}
{%- endmacro %}

{# The products of all pairs i <= j of some terms, in the order of logistic_pairs, for rows of one block: the elements of a list. #}
{% macro logistic_products_of_block(zs) -%}
{% call(i, j) nbsql.over_pairs(zs) %}{{ nbsql.logistic_sum(nbsql.word('q'), i, j) }}{% endcall %}
{%- endmacro %}

{# One row per row of the design: its columns with loss, r_c = n (p_c - [y = c]) by class, and q_b = n p_c ([c = o] - p_o) by block. #}
{% macro logistic_predicted(problem, design, trial) -%}
SELECT
  predicted.*,
  {% for c in problem.others %}
  weight * (p_{{ c }} - CASE WHEN y = {{ c + 1 }} THEN 1 ELSE 0 END) AS r_{{ c }},
  {% endfor %}
  {% for c, o in problem.blocks %}
  weight * p_{{ c }} * {% if c == o %}(1 - p_{{ c }}){% else %}-p_{{ o }}{% endif %} AS q_{{ loop.index }},
  {% endfor %}
  highest + ln(mass) - CASE y{% for c in problem.others %} WHEN {{ c + 1 }} THEN eta_{{ c }}{% endfor %} ELSE 0 END AS loss
FROM (
  SELECT
    *
    {%- for c in problem.others %},
    {% set below %}eta_{{ c }} - highest{% endset %}
    {{ nbsql.logistic_relative_likelihood(below) }} / mass AS p_{{ c }}
    {%- endfor %}

  FROM (
    {% set below %}-highest{% endset %}
    SELECT
      *,
      {{ nbsql.logistic_relative_likelihood(below) }}
      {%- for c in problem.others %}
      {%- set below %}eta_{{ c }} - highest{% endset %} + {{ nbsql.logistic_relative_likelihood(below) }}
      {%- endfor %} AS mass
    FROM (
      SELECT *, greatest(0{% for c in problem.others %}, eta_{{ c }}{% endfor %}) AS highest
      FROM (
        SELECT{{ nbsql.broadcast_hint(nbsql.word('tried')) }}
          design.*
          {%- for c in problem.others %},
          {{ nbsql.logistic_log_odds(problem, c) | indent(10) }} AS eta_{{ c }}
          {%- endfor %}

        FROM {{ design }} AS design
        CROSS JOIN (
          SELECT
            v
            {%- for c in problem.others %}
            {%- set start = (c - 1) * problem.width + 1 %},
            {{ nbsql.element(nbsql.word('v'), start) }} AS v_{{ c }}_0
            {%- for number in problem.numbers %},
            {{ nbsql.element(nbsql.word('v'), start + number.j) }} AS v_{{ c }}_{{ number.j }}
            {%- endfor %}
            {%- endfor %}

          FROM {{ trial }} AS tried
          {{- nbsql.optimisation_fence() | indent(10) }}
        ) AS tried
        {{- nbsql.optimisation_fence() | indent(8) }}
      ) AS margins
      {{- nbsql.optimisation_fence() | indent(6) }}
    ) AS highest
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS masses
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS predicted
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{# The log-odds of class c against the first. It is a sum in blocks, because an expression may not nest as deep as there are terms. #}
{% macro logistic_log_odds(problem, c) -%}
{% set start = (c - 1) * problem.width + 1 -%}
{% set unknowns = nbsql.word('tried.v') -%}
tried.v_{{ c }}_0
{%- for block in problem.numbers | batch(50) %} + (
{%- for number in block -%}
tried.v_{{ c }}_{{ number.j }} * z_{{ number.j }}{% if not loop.last %} + {% endif %}
{%- endfor %}){% endfor %}
{%- for block in problem.levels | batch(50) %} + (
{%- for feature in block -%}
{% set place %}{{ start }} + code{{ nbsql.feature_suffix(feature) }}{% endset -%}
coalesce({{ nbsql.element(unknowns, place) }}, 0){% if not loop.last %} + {% endif %}
{%- endfor %}){% endfor %}
{%- endmacro %}
