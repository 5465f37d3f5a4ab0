{#
  Logistic regression by Newton's method, which is iteratively reweighted least squares (Hastie, Tibshirani and Friedman, The Elements of
  Statistical Learning, section 4.4; for several classes Böhning, Multinomial logistic regression algorithm, Annals of the Institute of
  Statistical Mathematics 44, 1992). With y = 1 for the larger of two classes and -1 for the smaller it minimises

    sum over the rows of n ln(1 + exp(-y (w'x + b))) + lambda |w|^2,       of several:  - sum n ln P(y | x) + lambda sum_c |w_c|^2

  n is the weight of the row; the bias b has no penalty. P(c | x) = exp(eta_c) / sum exp(eta), with eta of class 1 fixed at 0: the
  unknowns are the v_c = w_c - w_1 of the others. With several classes the w_c sum to 0, so w_c = v_c - (sum v) / K, and the penalty is
  lambda sum_co A_co v_c'v_o with A = I - 1/K; with two, A = 1.

  x are the terms, numbered j: first the numbers z_j = (x_j - centre_j) / scale_j, then one term per value of the categories, 1 where the
  row has it; j = 0 is the bias. The penalty is on the weights of x_j itself, v_j / scale_j. A missing number is at its mean, so z is 0; a
  missing or unseen category has none of its values.

  With the posteriors p, the derivatives at v are

    gradient  sum n (p_c - [y = c]) z_j + 2 lambda sum_o A_co v_oj / scale_j^2
    Hessian   sum n p_c ([c = o] - p_o) z_i z_j + 2 lambda A_co [i = j] / scale_j^2

  Both come from one scan (`logistic_sums`), and the step is Hessian^-1 gradient (nbsql/learning/newton.py).

  `problem` (nbsql/learning/logistic.py): classes, others (the numbers 1 .. K - 1 of the v_c), width (1 + the number of terms), numbers,
  levels and pairs, the (c, o, block, A_co). Products are computed by block, because those of (c, o) are those of (o, c).
#}

{# One row per class: class_no, class, n. #}
{% macro logistic_classes(priors) -%}
SELECT classes.class_no, classes.class, priors.n
FROM {{ nbsql.subquery(nbsql.classes(priors)) }} AS classes
JOIN {{ priors }} AS priors ON priors.class = classes.class
{%- endmacro %}

{#
  One row per term: j, place (of the number, or of the feature of a category), feature, value, kind, centre, scale. A column that never
  varies has no term.
#}
{% macro logistic_terms(statistics, numbers, levels) -%}
WITH counts AS (
  SELECT feature, value, sum(n) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IS NOT NULL AND mean IS NULL
  GROUP BY feature, value
),
terms AS (
  {% if numbers %}
  SELECT
    wanted.place,
    wanted.feature,
    wanted.value,
    wanted.kind,
    CASE wanted.kind
      WHEN 'number' THEN moments.mean
      WHEN 'binary' THEN answers.yes / nullif(answers.yes + answers.no, 0)
      WHEN 'missing' THEN answers.missing / totals.n
      ELSE counts.n / totals.n
    END AS centre,
    moments.m2 / moments.n AS variance
  FROM {% call(number, place) nbsql.constants(numbers, 'wanted', ['place', 'feature', 'value', 'kind'], 2) -%}
{{ place }}, {{ nbsql.text(number.feature.name) }}, {{ nbsql.nullable_text(number.value) }}, {{ nbsql.text(number.kind) }}
{%- endcall +%}
  CROSS JOIN (
    SELECT sum(n) AS n FROM {{ statistics }} AS statistics WHERE feature IS NULL
  ) AS totals
  LEFT JOIN (
    {{ nbsql.pooled_moments(nbsql.number_cells(statistics), ['feature']) | indent(4) }}
  ) AS moments ON moments.feature = wanted.feature
  LEFT JOIN counts ON counts.feature = wanted.feature AND counts.value = wanted.value
  LEFT JOIN (
    SELECT
      feature,
      sum(CASE WHEN value = 'true' THEN n ELSE 0 END) AS yes,
      sum(CASE WHEN value = 'false' THEN n ELSE 0 END) AS no,
      sum(CASE WHEN value IS NULL THEN n ELSE 0 END) AS missing
    FROM counts
    GROUP BY feature
  ) AS answers ON answers.feature = wanted.feature
  {% endif %}
  {% if numbers and levels %}
  UNION ALL
  {% endif %}
  {% if levels %}
  SELECT place, feature, value, 'level' AS kind, CAST(0 AS {{ nbsql.double() }}) AS centre, CAST(1 AS {{ nbsql.double() }}) AS variance
  FROM counts
  JOIN {% call(feature, _) nbsql.constants(levels, 'levels', ['place', 'feature', 'min_count'], 2) -%}
{{ feature.index }}, {{ nbsql.text(feature.name) }}, {{ feature.family.least_count }}
{%- endcall %} USING (feature)
  WHERE n > 0 AND n >= min_count
  {% endif %}
  {% if not (numbers or levels) %}
  SELECT 0 AS place, '' AS feature, '' AS value, 'level' AS kind, 0 AS centre, 0 AS variance
  {% endif %}
)
SELECT row_number() OVER (ORDER BY kind = 'level' ASC NULLS LAST, place ASC NULLS LAST, value ASC NULLS FIRST) AS j, *
FROM (
  SELECT
    place,
    feature,
    value,
    kind,
    centre,
    CASE WHEN kind IN ('number', 'level') THEN sqrt(variance) WHEN kind = 'count' THEN centre ELSE sqrt(centre * (1 - centre)) END AS scale
  FROM terms
) AS scaled
WHERE scale > 0
{%- endmacro %}

{#
  The rows as the scans read them: y, the number of the class; weight; z_j; and code_3, the term of the row's value of the third feature,
  a category. If there are no numbers to distinguish them, equal rows are merged into one.
#}
{% macro logistic_design(model, source, classes, terms, problem) -%}
{% set keys -%}
y
{%- for number in problem.numbers %}, z_{{ number.j }}{% endfor %}
{%- for feature in problem.levels %}, code{{ nbsql.feature_suffix(feature) }}{% endfor %}
{%- endset -%}
{% if problem.grouped -%}
SELECT {{ keys }}, sum(weight) AS weight
FROM {{ nbsql.subquery(nbsql.logistic_rows(model, source, classes, terms, problem)) }} AS design
GROUP BY {{ keys }}
{%- else -%}
{{ nbsql.logistic_rows(model, source, classes, terms, problem) }}
{%- endif %}
{%- endmacro %}

{#
  One row per row of the source: y (the number of its class), weight, z_j (a number, centred and scaled), and code_f (the number of the term
  for its value of feature f; NULL if there is none).
#}
{% macro logistic_rows(model, source, classes, terms, problem) -%}
{% set small_relations %}classes{% for feature in problem.levels %}, level{{ nbsql.feature_suffix(feature) }}{% endfor %}{% endset -%}
SELECT{{ nbsql.broadcast_hint(small_relations) }}
  classes.class_no AS y,
  {{ nbsql.row_weight(model) }} AS weight
  {%- for number in problem.numbers %},
  {{ nbsql.logistic_number(number) }} AS z_{{ number.j }}
  {%- endfor %}
  {%- for feature in problem.levels %},
  level{{ nbsql.feature_suffix(feature) }}.j AS code{{ nbsql.feature_suffix(feature) }}
  {%- endfor +%}
FROM {{ source }} AS source
JOIN {{ classes }} AS classes ON classes.class = {{ nbsql.target(model) }}
{%- for feature in problem.levels %}
{%- set level %}level{{ nbsql.feature_suffix(feature) }}{% endset %}
{%- set value = nbsql[feature.family.macros.value](feature, nbsql.word('source')) +%}
LEFT JOIN (
  SELECT value, CAST(j AS INTEGER) AS j FROM {{ terms }} AS terms WHERE kind = 'level' AND feature = {{ nbsql.text(feature.name) }}
) AS {{ level }}
  ON {{ level }}.value {% if feature.family.nulls == 'category' %}IS NOT DISTINCT FROM{% else %}={% endif %} {{ value }}
{%- endfor +%}
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# One number of a row, centred and scaled, 0 where it is missing. #}
{% macro logistic_number(number) -%}
{% set centred %} - {{ nbsql.number(number.centre) }}) / {{ nbsql.number(number.scale) }}{% endset -%}
{% if number.kind == 'missing' -%}
(CASE WHEN {{ nbsql.weighted_number(number.feature) }} IS NULL THEN 1 ELSE 0 END{{ centred }}
{%- elif number.kind == 'count' -%}
(coalesce({{ nbsql.finite(nbsql.number_of(number.value)) }}, 0){{ centred }}
{%- else -%}
coalesce(({{ nbsql.weighted_number(number.feature) }}{{ centred }}, 0)
{%- endif %}
{%- endmacro %}

{#
  One row per sampled row of the design, which is one in `share`: weight (times `share`), and the other columns. By a hash, because each
  third row may be of one class.
#}
{% macro default__logistic_sample(others, design, share) -%}
SELECT
  {% for name in others %}{{ nbsql.ident(name) }}, {% endfor %}
  weight * {{ share }} AS weight

FROM (
  SELECT design.*, {{ nbsql.row_id() }} AS place FROM {{ design }} AS design
) AS design
WHERE {{ nbsql.mixed_hash(nbsql.word('place')) }} % {{ share }} = 0
{%- endmacro %}
