{# One scan of the rows of a logistic model; its terms and unknowns are those of rows.sql. #}

{#
  The sums over the rows at a trial value of v, as flat lists, one row per group of rows: part, i, j, sums. Python knows what each number
  of a list is a sum of (nbsql/learning/newton.py).

    part   i      j           sums
    total                     the loss, the largest loss of a row, the weight; the gradient of each number, by class; and, if the curvature
                              is asked for, the products of each pair of numbers, by block
    block  block              the products of each pair of numbers in one block, if all blocks would make the statement too long
    code   level              the gradient of a level, and its products with each number, by block
    pair   level  other one   their products, by block
#}
{% macro logistic_sums(problem, design, trial, curvature) -%}
{% set zs = problem.zs -%}
{% set pairs = problem.number_pairs if curvature and not problem.many else [] -%}
{% set products %}{% for i, j in pairs %}, {{ nbsql.logistic_product(problem, i, j) }}{% endfor %}{% endset -%}
{% set total = nbsql.logistic_gradients(problem) ~ products -%}
WITH predicted AS {{ nbsql.materialized() if problem.levels or problem.many else nbsql.not_materialized() }}(
  {{ nbsql[problem.rows_macro](problem, design, trial) | indent(2) }}
)
SELECT 'total' AS part, CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, {{ nbsql.list_of(total, nbsql.double()) }} AS sums
FROM predicted
{%- if curvature and problem.many %}
{%- set numbers %}{% for _ in problem.blocks %}{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
{%- set factors %}{% for _ in problem.blocks %}q_{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
{%- set sums -%}
{% for i, j in problem.number_pairs %}{{ nbsql.logistic_sum(nbsql.word('q'), i, j) }}{{ nbsql.comma(loop) }}{% endfor %}
{%- endset +%}
UNION ALL
SELECT 'block', block, NULL, {{ nbsql.list_of(sums, nbsql.double()) }}
FROM (
  SELECT
    {% for i in zs[1:] %}
    z_{{ i }},
    {% endfor %}
    {{ nbsql.unnested([nbsql.array_of(numbers), nbsql.array_of(factors)], ['block', 'q']) | indent(4) }}
  FROM predicted
) AS blocks
GROUP BY block
{%- endif %}
{{- nbsql.logistic_groups(problem, curvature) }}
{%- endmacro %}

{# The losses and the gradients of the numbers: the elements of a list. #}
{% macro logistic_gradients(problem) -%}
sum(weight * loss), max(loss), sum(weight)
{%- for i in problem.zs %}, {{ nbsql.logistic_gradient(problem, i) }}{% endfor %}
{%- endmacro %}

{# The sums of the rows with each level, and of those with each pair of levels. #}
{% macro default__logistic_groups(problem, curvature) -%}
{% set rows = nbsql.word('predicted') -%}
{% for feature in problem.levels -%}
{{ nbsql.logistic_group(problem, curvature, rows, nbsql.of_feature('code', feature)) }}
{%- endfor %}
{%- for one, other in problem.level_pairs if curvature -%}
{{ nbsql.logistic_group(problem, curvature, rows, nbsql.of_feature('code', one), nbsql.of_feature('code', other)) }}
{%- endfor %}
{%- endmacro %}

{# The sums of some rows by their level, or by their level and another one. #}
{% macro logistic_group(problem, curvature, rows, code, other=none) -%}
{% set sums -%}
{% if other %}{{ nbsql.logistic_product(problem, 0, 0) }}
{%- else %}{{ nbsql.logistic_gradient(problem, 0) }}
{%- for i in problem.zs if curvature %}, {{ nbsql.logistic_product(problem, i, 0) }}{% endfor %}
{%- endif %}
{%- endset %}


UNION ALL
SELECT {% if other %}'pair', {{ code }}, {{ other }}{% else %}'code', {{ code }}, NULL{% endif %}, {{ nbsql.list_of(sums, nbsql.double()) }}
FROM {{ rows }}
WHERE {{ code }} IS NOT NULL{% if other %} AND {{ other }} IS NOT NULL{% endif +%}
GROUP BY {{ code }}{% if other %}, {{ other }}{% endif +%}
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

{# One row per row of the design: its columns with loss, r_c = n (p_c - [y = c]) by class, and q_b = n p_c ([c = o] - p_o) by block. #}
{% macro logistic_predicted(problem, design, trial) -%}
{% set unknowns = namespace(columns=[]) -%}
{% for c in problem.others -%}
{% for j in problem.zs -%}
{% set unknown = nbsql.element(nbsql.word('v'), (c - 1) * problem.width + 1 + j) -%}
{% set unknowns.columns = unknowns.columns + [('v_' ~ c ~ '_' ~ j, unknown)] -%}
{% endfor -%}
{% endfor -%}
{% set trial %}{{ trial }} AS tried{% endset -%}
{% set margins -%}
(
  SELECT{{ nbsql.broadcast_hint(nbsql.word('tried')) }}
    design.*
    {%- for c in problem.others %},
    {{ nbsql.logistic_log_odds(problem, c) | indent(4) }} AS eta_{{ c }}
    {%- endfor +%}
  FROM {{ design }} AS design
  CROSS JOIN {{ nbsql.with_columns(trial, unknowns.columns, 'tried') | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS margins
{%- endset -%}
SELECT
  predicted.*,
  {% for c in problem.others %}
  weight * (p_{{ c }} - CASE WHEN y = {{ c + 1 }} THEN 1 ELSE 0 END) AS r_{{ c }},
  {% endfor %}
  {% for c, o in problem.blocks %}
  weight * p_{{ c }} * {% if c == o %}(1 - p_{{ c }}){% else %}-p_{{ o }}{% endif %} AS q_{{ loop.index }},
  {% endfor %}
  highest - CASE y{% for c in problem.others %} WHEN {{ c + 1 }} THEN eta_{{ c }}{% endfor %} ELSE 0 END + ln(mass) AS loss
FROM {{ nbsql.with_posteriors_of_scores(margins, problem.others, true) }}
{{- nbsql.optimisation_fence() }}
{%- endmacro %}

{#
  The relation `predicted` of rows with the scores eta_1, eta_2, ... of classes: the posteriors p_1, p_2, ..., the highest score, and mass,
  the sum of the likelihoods relative to it. reference: whether there is one more class, with a score of 0.
#}
{% macro with_posteriors_of_scores(rows, numbers, reference=false) -%}
{% set scores %}{% for k in numbers %}eta_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set highest %}greatest({% if reference %}0, {% endif %}{{ scores }}){% endset -%}
{% set below %}-highest{% endset -%}
{% set of_reference %}{% if reference %}{{ nbsql.logistic_relative_likelihood(below) }} + {% endif %}{% endset -%}
{% set likelihoods = namespace(list=[], shares=[]) -%}
{% for k in numbers -%}
{% set below %}eta_{{ k }} - highest{% endset -%}
{% set share %}{{ nbsql.logistic_relative_likelihood(below) }} / mass{% endset -%}
{% set likelihoods.list = likelihoods.list + [nbsql.logistic_relative_likelihood(below)] -%}
{% set likelihoods.shares = likelihoods.shares + [('p_' ~ k, share)] -%}
{% endfor -%}
{% set mass %}{{ of_reference }}{% call(x) nbsql.sum_in_blocks(likelihoods.list) %}{{ x }}{% endcall %}{% endset -%}
{% set rows = nbsql.with_columns(nbsql.with_columns(rows, [('highest', highest)]), [('mass', mass)]) -%}
{{ nbsql.with_columns(rows, likelihoods.shares, 'predicted') }}
{%- endmacro %}

{# The log-odds of class c against the first. #}
{% macro logistic_log_odds(problem, c) -%}
tried.v_{{ c }}_0
{%- if problem.numbers %} + {% call(number) nbsql.sum_in_blocks(problem.numbers) -%}
tried.v_{{ c }}_{{ number.j }} * z_{{ number.j }}
{%- endcall %}{% endif %}
{%- if problem.levels %} + {% call(feature) nbsql.sum_in_blocks(problem.levels) -%}
{% set place %}{{ (c - 1) * problem.width + 1 }} + code{{ nbsql.feature_suffix(feature) }}{% endset -%}
coalesce({{ nbsql.element(nbsql.word('tried.v'), place) }}, 0)
{%- endcall %}{% endif %}
{%- endmacro %}

{# One row: the list v of the unknowns at a point. #}
{% macro logistic_point(point) -%}
{% set unknowns %}{% for x in point %}{{ nbsql.number(x) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
SELECT {{ nbsql.list_of(unknowns, nbsql.double()) }} AS v
{%- endmacro %}
