{#
  The weights of the features of a weighted model, by Newton's method on the evidence of each feature:

    score of a class  =  b_c + sum over the features of w_f e_fc,        e_fc = ln p(x_f | c), by the counts of the other folds

  (Zaidi, Cerquides, Carman and Webb, Alleviating naive Bayes attribute independence assumption by attribute weighting, Journal of Machine
  Learning Research 14, 2013). With one weight for each class and feature, e_fc = ln p(x_f | c) - ln p(x_f), where p(x_f) is the sum over
  the classes of P(c) p(x_f | c); with one for each feature, that difference is the same in all classes.

  The search minimises -sum n ln P(c | x) + lambda |v|^2 over the unknowns v, the terms. A term j has a number x_jc in each class:

    bias           of a class: 1 in it, and 0 in all others; without penalty
    prior          in place of these, if there are many classes: the log-odds of each, whose unknown is the weight of the prior
    all            the sum of all e_fc. Its unknown is the common weight
    feature        e_fc of one feature: the distance of its weight from the common weight
    class          e_fc of one feature in one class, and 0 in all others: the distance of that weight from that of the feature

  With the posteriors p and the mean m_j = sum_c p_c x_jc of a row, the derivatives are

    gradient  sum n sum_c (p_c - [y = c]) (x_jc - m_j)        Hessian  sum n sum_c p_c (x_ic - m_i) (x_jc - m_j)

  For the Hessian a row counts as one row for each class, with r = n (p_c - [y = c]) and q = n p_c, in the scan of logistic regression
  (logistic/scan.sql). Its constant, the term 0, changes nothing here and stays 0. The gradient needs no means, as the r of a row sum to 0.
#}

{#
  The rows to learn from: nbsql_row, nbsql_y (the number of the class), nbsql_weight, nbsql_part, and the columns of the source. Of many
  rows one in `share`, by a hash: each second row of a table may have one class, and each 24th be of one hour. The parts, by which
  penalties are chosen, are the folds. some: the folds to learn from, if not from all, and the number of parts of their rows.
#}
{% macro numbered_training_rows(model, source, classes, share, some=none) -%}
{% set part %}13 * source.nbsql_row{% endset -%}
SELECT
  source.*,
  classes.class_no AS nbsql_y,
  {{ nbsql.row_weight(model) }} AS nbsql_weight,
  {% if some %}{{ nbsql.mixed_hash(part) }} % {{ some[1] }}{% else %}source.nbsql_slice{% endif %} AS nbsql_part
FROM (
  SELECT {{ nbsql.row_id() }} AS nbsql_row, source.* FROM {{ source }} AS source
) AS source
JOIN {{ classes }} AS classes ON classes.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.is_counted(model) }}
{%- if share > 1 %} AND {{ nbsql.mixed_hash(nbsql.word('source.nbsql_row')) }} % {{ share }} = 0{% endif %}
{%- if some %} AND CAST(source.nbsql_slice AS {{ nbsql.string() }}) IN (
  {%- for name in some[0] %}{{ nbsql.text(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}){% endif +%}
{%- endmacro %}

{#
  What the features of a context say of these rows: nbsql_row, fold, y, weight, and e_3_1, that of the third feature in the first class.
  relative: whether it is what they say beyond the first class, which has no columns then. bins: further features, as pairs of a number
  in bins and the place of its first bin, whose scores are in a list (scoring/listed.sql): joins take three times as long.
#}
{% macro evidence_of_features(model, rows, parameters, lookups, relative, bins) -%}
{% set listed = bins | map('first') | list -%}
{% set inputs = model.form.computed_features + (model.form.star_categories + listed) | selectattr('family.parameters') | list -%}
WITH numbered AS {{ nbsql.materialized() }}(
  {% if bins %}
  {{ nbsql.with_scores_of_bins(model, rows, lookups, bins, true) | indent(2) }}
  {% else %}
  SELECT * FROM {{ rows }} AS source
  {% endif %}
)
{%- for feature in model.facts.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model, feature, lookups, parameters) }}
{%- endfor +%}
SELECT
  number.nbsql_row,
  number.nbsql_part AS fold,
  number.nbsql_y AS y,
  number.nbsql_weight AS weight
  {%- for feature in model.facts.features %}
  {%- set terms = namespace(list=[]) %}
  {%- for k in model.form.class_numbers %}{% set terms.list = terms.list + [nbsql.term(feature, k)] %}{% endfor %}
  {{- nbsql.evidence_of_terms(model, feature, terms.list, relative) }}
  {%- endfor %}
  {%- for feature in listed %}
  {%- set terms = namespace(list=[]) %}
  {%- for k in model.form.class_numbers %}
  {%- set terms.list = terms.list + [nbsql.level_term(feature, k, nbsql.found_score(feature, k))] %}
  {%- endfor %}
  {{- nbsql.evidence_of_terms(model, feature, terms.list, relative) }}
  {%- endfor +%}
FROM {{ nbsql.with_terms(model, nbsql.word('numbered'), inputs, parameters, lookups) }}
{%- endmacro %}

{# The columns of a feature: its term in each class, or in each beyond the first. #}
{% macro evidence_of_terms(model, feature, terms, relative) -%}
{% for k in model.form.class_numbers if k > 1 or not relative %},
  greatest({{ terms[k - 1] | indent(2) }}, -1000)
  {%- if relative %} - greatest({{ terms[0] | indent(2) }}, -1000){% endif %} AS e{{ nbsql.feature_suffix(feature) }}_{{ k }}
{%- endfor %}
{%- endmacro %}

{#
  Several such tables as one, with the evidence of all features, e_0_1; and x_1, the list of the evidence of each feature, if listed.
#}
{% macro joined_evidence(tables, features, class_numbers, listed) -%}
SELECT
  evidence_1.nbsql_row,
  evidence_1.fold,
  evidence_1.y,
  evidence_1.weight
  {%- for table in tables %}
  {%- set place = loop.index %}
  {%- for feature in table.features %}
  {%- for k in class_numbers %},
  evidence_{{ place }}.e{{ nbsql.feature_suffix(feature) }}_{{ k }}
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
  {%- for k in class_numbers %},
  {% call(feature) nbsql.sum_in_blocks(features) %}e{{ nbsql.feature_suffix(feature) }}_{{ k }}{% endcall %} AS e_0_{{ k }}
  {%- if listed %},
  [{% for feature in features %}e{{ nbsql.feature_suffix(feature) }}_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}] AS x_{{ k }}
  {%- endif %}
  {%- endfor +%}
FROM {{ tables[0].relation }} AS evidence_1
{%- for table in tables[1:] +%}
JOIN {{ table.relation }} AS evidence_{{ loop.index + 1 }} ON evidence_{{ loop.index + 1 }}.nbsql_row = evidence_1.nbsql_row
{%- endfor %}
{%- endmacro %}

{# The number of a term in class k; nothing where it is 0. relative: whether it is that beyond the first class. #}
{% macro number_of_term(problem, term, k) -%}
{% if term.kind == 'bias' %}{% if term.class_no == k %}1{% endif %}
{%- elif problem.relative and k == 1 %}
{%- elif term.kind == 'prior' %}{{ nbsql.number(term.priors[k - 1]) }}
{%- elif term.kind == 'all' %}e_0_{{ k }}
{%- elif term.class_no in (none, k) %}e{{ nbsql.feature_suffix(term.feature) }}_{{ k }}
{%- endif %}
{%- endmacro %}

{#
  The relation of points, with the list w of the weights of features if rows have lists of their evidence: to plan a product of each takes
  as long as to read 20,000 rows.
#}
{% macro points_tried(problem, points) -%}
{% set weights %}v[{{ problem.first_listed + 1 }}:]{% endset -%}
{% if problem.first_listed %}{{ nbsql.with_columns(points, [('w', weights)], 'tried') }}{% else %}{{ points }}{% endif %}
{%- endmacro %}

{# The score of class k at a point v. #}
{% macro score_by_terms(problem, k) -%}
{% if problem.listed -%}
{% if k in problem.scored_classes %}list_dot_product(v, x_{{ k }}){% else %}0{% endif %}
{%- else -%}
0{% for term in problem.named_terms %}
{%- set x = nbsql.number_of_term(problem, term, k) %}
{%- if x %} + {{ nbsql.element(nbsql.word('v'), term.j + 1) }} * {{ x }}{% endif %}
{%- endfor %}
{%- if problem.first_listed and k in problem.scored_classes %} + list_dot_product(w, x_{{ k }}){% endif %}
{%- endif %}
{%- endmacro %}

{# The evidence of one row in `share`, by a hash of its own for each `factor`: rows drawn by the same hash would all be drawn again. #}
{% macro evidence_of_some(evidence, share, factor) -%}
{% set number %}{{ factor }} * evidence.nbsql_row{% endset -%}
SELECT * FROM {{ evidence }} AS evidence WHERE {{ nbsql.mixed_hash(number) }} % {{ share }} = 0
{%- endmacro %}

{# The evidence of the rows that are not in a fold. #}
{% macro evidence_beside(evidence, fold) -%}
SELECT * FROM {{ evidence }} AS evidence WHERE CAST(fold AS {{ nbsql.string() }}){{ nbsql.binary() }} <> {{ nbsql.text(fold) }}
{%- endmacro %}

{# One row of sums at a trial value of v, without products, in the form of logistic/scan.sql: part, i, j, sums. #}
{% macro evidence_sums(problem, evidence, trial) -%}
{% if problem.listed -%}
SELECT 'total' AS part, CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, sums
FROM {{ nbsql.subquery(nbsql.listed_gradients(problem, evidence, trial)) }} AS gradients
{%- else -%}
SELECT 'total' AS part, CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, {{ nbsql.evidence_gradients(problem) }} AS sums
FROM {{ nbsql.evidence_residuals(problem, evidence, trial) }}
{%- endif %}
{%- endmacro %}

{#
  The products of pairs of terms of one row in `share`, in the form of logistic/scan.sql, beside the weight of these rows. listed: whether
  each is the product of two lists, of which a statement names two for each term, not one sum for each pair: it is planned in a fifth of
  the time. The term 0 then has a product of 1 with itself alone.
#}
{% macro evidence_products(problem, evidence, trial, share, listed) -%}
{% set rows = nbsql.subquery(nbsql.evidence_of_some(evidence, share, 11)) if share > 1 else evidence -%}
{% if problem.listed -%}
{{ nbsql.listed_products(problem, evidence, trial) }}
{%- elif not listed -%}
{{ nbsql.logistic_sums(problem, rows, trial, true) }}
{%- else -%}
WITH predicted AS {{ nbsql.not_materialized() }}(
  {{ nbsql.contrasted_evidence(problem, rows, trial) | indent(2) }}
),
lists AS {{ nbsql.materialized() }}(
  SELECT
    sum(weight) AS weight,
    [{% for term in problem.numbers %}list(z_{{ term.j }}){{ nbsql.comma_blank(loop) }}{% endfor %}] AS one,
    [{% for term in problem.numbers %}list(q_1 * z_{{ term.j }}){{ nbsql.comma_blank(loop) }}{% endfor %}] AS other
  FROM predicted
)
SELECT 'total' AS part, CAST(NULL AS INTEGER) AS i, CAST(NULL AS INTEGER) AS j, [0, 0, weight] AS sums FROM lists
UNION ALL
SELECT 'pair', 0, 0, [1]
UNION ALL
SELECT 'pair', rows.j, columns.j, [list_dot_product(rows.z, columns.z)]
FROM (
  SELECT unnest(one) AS z, generate_subscripts(one, 1) AS j FROM lists
) AS rows
JOIN (
  SELECT unnest(other) AS z, generate_subscripts(other, 1) AS j FROM lists
) AS columns ON columns.j >= rows.j
{%- endif %}
{%- endmacro %}

{# Rows with the same products: those of evidence_predicted or, of two classes, one per row, of which z_j = x_j2 - x_j1. #}
{% macro contrasted_evidence(problem, evidence, trial) -%}
{% if problem.class_numbers | length == 2 -%}
SELECT
  weight,
  weight * p_1 * p_2 AS q_1
  {%- for term in problem.numbers %},
  {{ nbsql.contrast_of_term(problem, term) }} AS z_{{ term.j }}
  {%- endfor +%}
FROM {{ nbsql.subquery(nbsql.evidence_posteriors(problem, evidence, trial)) }} AS posteriors
{%- else -%}
{{ nbsql.evidence_predicted(problem, evidence, trial) }}
{%- endif %}
{%- endmacro %}

{# The number of a term in the second class less that in the first. #}
{% macro contrast_of_term(problem, term) -%}
{% set first = nbsql.number_of_term(problem, term, 1) -%}
{{ nbsql.number_of_term(problem, term, 2) or 0 }}{% if first %} - {{ first }}{% endif %}
{%- endmacro %}

{# The same without products for each fold: its name, and the list. #}
{% macro sums_of_folds(problem, evidence, trial) -%}
{% if problem.listed -%}
{{ nbsql.listed_gradients(problem, evidence, trial, true) }}
{%- else -%}
SELECT CAST(fold AS {{ nbsql.string() }}){{ nbsql.binary() }} AS fold, {{ nbsql.evidence_gradients(problem) }} AS sums
FROM {{ nbsql.evidence_residuals(problem, evidence, trial) }}
GROUP BY fold
{%- endif %}
{%- endmacro %}

{# A list: the losses, the largest loss of a row, the weight, and the gradient of each term. #}
{% macro evidence_gradients(problem) -%}
{% set sums -%}
sum(weight * loss), max(loss), sum(weight), 0
{%- for term in problem.numbers %}
{%- set products = namespace(list=[]) %}
{%- for k in problem.class_numbers %}
{%- set x = nbsql.number_of_term(problem, term, k) %}
{%- set product %}r_{{ k }} * {{ x }}{% endset %}
{%- if x %}{% set products.list = products.list + [product] %}{% endif %}
{%- endfor %}, sum({{ products.list | join(' + ') or 0 }})
{%- endfor %}
{%- endset -%}
{{ nbsql.list_of(sums, nbsql.double()) }}
{%- endmacro %}

{# The relation of the rows of the evidence with their posteriors p_1, p_2, ..., their loss, and the residuals r_1, r_2, ... #}
{% macro evidence_residuals(problem, evidence, trial) -%}
{% set residuals = namespace(columns=[]) -%}
{% for k in problem.class_numbers -%}
{% set residual %}weight * (p_{{ k }} - CASE WHEN y = {{ k }} THEN 1 ELSE 0 END){% endset -%}
{% set residuals.columns = residuals.columns + [('r_' ~ k, residual)] -%}
{% endfor -%}
{% set posteriors %}{{ nbsql.subquery(nbsql.evidence_posteriors(problem, evidence, trial)) }} AS posteriors{% endset -%}
{{ nbsql.with_columns(posteriors, residuals.columns) }}
{%- endmacro %}

{# One row per row of the evidence: its columns, the posteriors p_1, p_2, ..., and the loss. #}
{% macro evidence_posteriors(problem, evidence, trial) -%}
{% set scored -%}
(
  SELECT{{ nbsql.broadcast_hint(nbsql.word('tried')) }}
    evidence.*
    {%- for k in problem.class_numbers %},
    {{ nbsql.score_by_terms(problem, k) }} AS eta_{{ k }}
    {%- endfor +%}
  FROM {{ evidence }} AS evidence
  CROSS JOIN {{ nbsql.points_tried(problem, trial ~ ' AS tried') | indent(2) }}
) AS scored
{%- endset -%}
SELECT *, highest - CASE y{% for k in problem.class_numbers %} WHEN {{ k }} THEN eta_{{ k }}{% endfor %} END + ln(mass) AS loss
FROM {{ nbsql.with_posteriors_of_scores(scored, problem.class_numbers) }}
{%- endmacro %}

{# One row per row of the evidence and class: fold, weight and loss (0 but in the first class), r_1, q_1, and z_j = x_jc - m_j. #}
{% macro evidence_predicted(problem, design, trial) -%}
WITH posteriors AS {{ nbsql.materialized() }}(
  {{ nbsql.evidence_posteriors(problem, design, trial) | indent(2) }}
),
centred AS {{ nbsql.materialized() }}(
  SELECT
    *
    {%- for term in problem.numbers %},
    0{% for k in problem.class_numbers %}
    {%- set x = nbsql.number_of_term(problem, term, k) %}
    {%- if x %} + p_{{ k }} * {{ x }}{% endif %}
    {%- endfor %} AS mean_{{ term.j }}
    {%- endfor +%}
  FROM posteriors
)

{# lists side by side, which take far less time to plan than a query for each class #}
{% set lists = namespace(made=[], names=['weight', 'loss', 'r_1', 'q_1']) -%}
{% set first %}weight{% for k in problem.class_numbers[1:] %}, 0{% endfor %}{% endset -%}
{% set losses %}loss{% for k in problem.class_numbers[1:] %}, 0{% endfor %}{% endset -%}
{% set residuals -%}
{% for k in problem.class_numbers %}weight * (p_{{ k }} - CASE WHEN y = {{ k }} THEN 1 ELSE 0 END){{ nbsql.comma(loop) }}{% endfor %}
{%- endset -%}
{% set masses %}{% for k in problem.class_numbers %}weight * p_{{ k }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% for each in [first, losses, residuals, masses] %}{% set lists.made = lists.made + [nbsql.array_of(each)] %}{% endfor -%}
{% for term in problem.numbers -%}
{% set distances -%}
{% for k in problem.class_numbers %}{{ nbsql.number_of_term(problem, term, k) or 0 }} - mean_{{ term.j }}{{ nbsql.comma(loop) }}{% endfor %}
{%- endset -%}
{% set lists.made = lists.made + [nbsql.array_of(distances)] -%}
{% set lists.names = lists.names + ['z_' ~ term.j] -%}
{% endfor -%}
SELECT
  fold,
  {{ nbsql.unnested(lists.made, lists.names) | indent(2) }}
FROM centred
{%- endmacro %}
