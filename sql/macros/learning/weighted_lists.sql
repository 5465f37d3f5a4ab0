{#
  The search for weights (weighted.sql) where rows are few. A statement that names a number of each term and class, as those of weighted.sql
  do, is planned in ten times the time in which it reads few rows, so that lists of these numbers take the place of their names.
#}

{#
  The evidence as one row of lists in one order, whatever that is: the numbers of the rows, their folds, classes and weights, and for each
  class rows_k, of the lists of the numbers of each row, and terms_k, of the lists of those of each term.
#}
{% macro listed_evidence(problem, evidence) -%}
SELECT
  list(nbsql_row) AS numbers,
  list(fold) AS folds,
  list(y) AS classes,
  list(weight) AS weights
  {%- for k in problem.scored_classes %},
  list([
    {{- nbsql.number(0) }}{% for term in problem.numbers %}, {{ nbsql.number_of_term(problem, term, k) or 0 }}{% endfor -%}
  ]) AS rows_{{ k }},
  [
    {%- for term in problem.numbers %}list(CAST({{ nbsql.number_of_term(problem, term, k) or 0 }} AS {{ nbsql.double() }}))
    {{- nbsql.comma_blank(loop) }}{% endfor -%}
  ] AS terms_{{ k }}
  {%- endfor +%}
FROM {{ evidence }} AS evidence
{%- endmacro %}

{# One row per row of them: place, nbsql_row, fold, y, weight, and x_k, the list of the numbers of its terms in class k, after a 0. #}
{% macro rows_of_lists(problem, lists) -%}
SELECT
  generate_subscripts(classes, 1) AS place,
  unnest(numbers) AS nbsql_row,
  unnest(folds) AS fold,
  unnest(classes) AS y,
  unnest(weights) AS weight
  {%- for k in problem.scored_classes %},
  unnest(rows_{{ k }}) AS x_{{ k }}
  {%- endfor +%}
FROM {{ lists }} AS lists
{%- endmacro %}

{# One row per term: j, and z_k, the list of the numbers that the rows have in class k, in the order of their places. #}
{% macro terms_of_lists(problem, lists) -%}
SELECT
  generate_subscripts(terms_2, 1) AS j
  {%- for k in problem.scored_classes %},
  unnest(terms_{{ k }}) AS z_{{ k }}
  {%- endfor +%}
FROM {{ lists }} AS lists
{%- endmacro %}

{# The rows of evidence_gradients of such lists, sums, and fold if they are those of each fold, in which other rows have no residuals. #}
{% macro listed_gradients(problem, rows, trial, by_fold=false) -%}
{% set is_own %}{% if by_fold %}residuals.fold = folds.fold{% else %}TRUE{% endif %}{% endset -%}
WITH residuals AS {{ nbsql.materialized() }}(
  SELECT * FROM {{ nbsql.evidence_residuals(problem, rows, trial) | indent(2) }}
),
lists AS {{ nbsql.materialized() }}(
  SELECT
    {% if by_fold %}
    CAST(folds.fold AS {{ nbsql.string() }}){{ nbsql.binary() }} AS fold,
    {% endif %}
    [sum(weight * loss) FILTER ({{ is_own }}), max(loss) FILTER ({{ is_own }}), sum(weight) FILTER ({{ is_own }}), 0] AS sums
    {%- for k in problem.scored_classes %},
    list(CASE WHEN {{ is_own }} THEN r_{{ k }} ELSE 0 END ORDER BY place ASC NULLS LAST) AS r_{{ k }}
    {%- endfor +%}
  FROM residuals
  {% if by_fold %}
  CROSS JOIN (SELECT DISTINCT fold FROM residuals) AS folds
  GROUP BY folds.fold
  {% endif %}
)
SELECT {% if by_fold %}fold, {% endif %}any_value(sums) || list(product ORDER BY j ASC NULLS LAST) AS sums
FROM (
  SELECT {% if by_fold %}fold, {% endif %}sums, j, {{ nbsql.sum_of_products(problem, 'z', 'r') }} AS product
  FROM {{ problem.listed }} AS terms
  CROSS JOIN lists
) AS products
{%- if by_fold +%}
GROUP BY fold
{%- endif %}
{%- endmacro %}

{#
  The rows of evidence_products of such lists. The product of two terms is the sum over the rows and classes of z_ic u_jc, where
  u_jc = n p_c (z_jc - m_j).
#}
{% macro listed_products(problem, rows, trial) -%}
WITH lists AS {{ nbsql.materialized() }}(
  SELECT
    sum(weight) AS weight
    {%- for k in problem.scored_classes %},
    list(p_{{ k }} ORDER BY place ASC NULLS LAST) AS p_{{ k }},
    list(weight * p_{{ k }} ORDER BY place ASC NULLS LAST) AS q_{{ k }}
    {%- endfor +%}
  FROM {{ nbsql.subquery(nbsql.evidence_posteriors(problem, rows, trial)) | indent(2) }} AS posteriors
),
centred AS {{ nbsql.not_materialized() }}(
  SELECT
    terms.*,
    lists.*,
    list_transform(z_2, lambda z, place: 0{% for k in problem.scored_classes %} + p_{{ k }}[place] * z_{{ k }}[place]{% endfor %}) AS mean
  FROM {{ problem.listed }} AS terms
  CROSS JOIN lists
),
others AS {{ nbsql.materialized() }}(
  SELECT
    j
    {%- for k in problem.scored_classes %},
    list_transform(z_{{ k }}, lambda z, place: q_{{ k }}[place] * (z - mean[place])) AS u_{{ k }}
    {%- endfor +%}
  FROM centred
)
SELECT 'total' AS part, CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, [0, 0, weight] AS sums FROM lists
UNION ALL
SELECT 'pair', 0, 0, [1]
UNION ALL
SELECT 'pair', terms.j, others.j, [{{ nbsql.sum_of_products(problem, 'z', 'u') }}]
FROM {{ problem.listed }} AS terms
JOIN others ON others.j >= terms.j
{%- endmacro %}

{# The sum over the classes of the products of two lists, whose names begin with these words. #}
{% macro sum_of_products(problem, one, other) -%}
{% for k in problem.scored_classes -%}
list_dot_product({{ nbsql.word(one ~ '_' ~ k) }}, {{ nbsql.word(other ~ '_' ~ k) }}){% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}
