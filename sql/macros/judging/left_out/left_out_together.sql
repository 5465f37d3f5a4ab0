{#
  Several numbers with a covariance matrix (families/multivariate_gaussian.sql), with a row left out. S is the scatter of a class, its n
  times its covariance, and d = x - m_c. Without a row of weight w

    n' = n - w     m' = m - w d / n'     x - m' = (n / n') d     S' = S - g d d',  g = w n / n'

  and W, the scatter within all classes, also loses g d d'. By Sherman and Morrison (1950), and the determinant of a matrix after a
  rank-one change,

    u' S'^-1 v = u' S^-1 v + g (u' S^-1 d) (v' S^-1 d) / (1 - g d' S^-1 d)     ln |S'| = ln |S| + ln (1 - g d' S^-1 d)

  so a row needs only products of vectors whitened by the matrices of all rows. A class that has no more of these numbers takes the mean
  of all other rows and their covariances within the classes, as in covariance.sql. If a matrix is left without an inverse, which a fit
  would refuse, these numbers add nothing to the score of its classes, as in the models for folds.

  If next to nothing of a determinant is left, 1 - g d' S^-1 d has no digits: nearly all of S comes from that row. Such a row is decisive.
  There are few, because these shares of all rows add up to the number of columns and classes. Each decisive row is a fold by itself, and
  is scored by the model of the other folds (folds.sql).

    pooled      one row: pooled_n_3, pooled_classes_3, pooled_height_3 = ln |W|, centre_3_1, ..., white_3_1, ..., A of A'A = W^-1
    of_classes  one row per class with such numbers: class, n_3, from_centre_3_1, ..., A (m_c - centre), and for a matrix of each class
                height_3 = ln |S_c|, mean_3_1, ..., white_3_1, ...
#}

{# The relation `pooled`. feature: with one matrix for all classes, neither shrunk nor corrected. #}
{% macro left_out_pooled(model, cells, feature) -%}
{% set i, p = nbsql.feature_suffix(feature), feature.columns | length -%}
{{ nbsql.covariances_of_cells(nbsql.left_out_classes_of(model, cells), cells, feature) }},
totals AS (
  SELECT sum(n) AS n, count(*) AS classes FROM centres_of_classes
)
SELECT
  totals.n AS pooled_n{{ i }},
  totals.classes AS pooled_classes{{ i }},
  {{ nbsql.log_determinant_of_scatter(p) }} AS pooled_height{{ i }}
  {%- for j in range(1, p + 1) %},
  {{ nbsql.element(nbsql.word('pooled_centre.means'), j) }} AS centre{{ nbsql.feature_suffix(feature, j) }}
  {%- endfor %},
  {{ nbsql.whitening_of_scatter(feature) | indent(2) }}
FROM whitened
CROSS JOIN pooled_centre
CROSS JOIN totals
{%- endmacro %}

{# ln |n S|, from `whitened` and totals.n. #}
{% macro log_determinant_of_scatter(p) -%}
{{ p }} * ln(totals.n) + {{ nbsql.log_determinant(p) }}
{%- endmacro %}

{# The elements of A; NULL if the columns are linearly dependent. #}
{% macro whitening_of_scatter(feature) -%}
{% set p = feature.columns | length -%}
{% for j in range(1, p + 1) -%}
{% set outer = loop -%}
{% for i in range(1, j + 1) -%}
{% set pivot, deviation = nbsql.element(nbsql.element(nbsql.word('matrix'), j), j), nbsql.element(nbsql.word('deviations'), i) -%}
{% set inverse = nbsql.element(nbsql.element(nbsql.word('matrix'), j), p + i) -%}
CASE WHEN {{ pivot }} > 1e-10 THEN {{ inverse }} / sqrt(abs({{ pivot }}) * totals.n) / nullif({{ deviation }}, 0) END
  AS {{ nbsql.whitening_column(feature, j, i) }}
{%- if not (loop.last and outer.last) %},
{% endif %}
{%- endfor %}
{%- endfor %}
{%- endmacro %}

{# The relation `of_classes`. feature: with a matrix a class, neither shrunk nor corrected; per_class: whether these matrices are needed. #}
{% macro left_out_of_classes(model, cells, feature, pooled, per_class) -%}
{% set i, p = nbsql.feature_suffix(feature), feature.columns | length -%}
{{ nbsql.covariances_of_cells(nbsql.left_out_classes_of(model, cells), cells, feature) }}
SELECT
  totals.class,
  totals.n AS n{{ i }}
  {%- for j in range(1, p + 1) %},
  {% call(l) nbsql.whitened(feature, j, 'pooled') -%}
  ({{ nbsql.element(nbsql.word('totals.means'), l) }} - pooled.centre{{ nbsql.feature_suffix(feature, l) }})
  {%- endcall %} AS from_centre{{ nbsql.feature_suffix(feature, j) }}
  {%- endfor %}
  {%- if per_class %}
  {%- for j in range(1, p + 1) %},
  {{ nbsql.element(nbsql.word('totals.means'), j) }} AS mean{{ nbsql.feature_suffix(feature, j) }}
  {%- endfor %},
  {{ nbsql.log_determinant_of_scatter(p) }} AS height{{ i }},
  {{ nbsql.whitening_of_scatter(feature) | indent(2) }}
  {%- endif %}

FROM centres_of_classes AS totals
CROSS JOIN {{ pooled }} AS pooled
{%- if per_class %}

JOIN whitened ON whitened.class = totals.class
{%- endif %}
{%- endmacro %}

{#
  Rows with the columns that the classes read: from_3_1, ..., A (x - centre); for their own class d_3_1, ..., A (x - m_c), its n, own_n_3,
  the remainder, left_3, and g, taken_3; and the products a_3 = d'd, b_3 = from'd and s_3 = from'from, and o_3, that of the class's
  matrix.
#}
{% macro left_out_whitened(parts, values, classes) -%}
SELECT
  rows.*
  {%- for feature in parts.together %}
  {%- set i, p = nbsql.feature_suffix(feature), feature.columns | length %},
  CASE
    WHEN rows.left{{ i }} > 0 THEN rows.nbsql_weight * rows.own_n{{ i }} / rows.left{{ i }}
    ELSE 0
  END AS taken{{ i }},
  {{ nbsql.dot_product('d', 'd', feature) }} AS a{{ i }},
  {{ nbsql.dot_product('from', 'd', feature) }} AS b{{ i }},
  {{ nbsql.dot_product('from', 'from', feature) }} AS s{{ i }},
  {% set square = nbsql.squared_mahalanobis(feature, nbsql.word('rows'), nbsql.word('own') ~ i) %}
  {%+ if feature.family.shared %}CAST(0 AS {{ nbsql.double() }}){% else %}{{ square }}{%+ endif %} AS o{{ i }}
  {%- endfor %}

FROM (
  SELECT
    rows.*
    {%- for feature in parts.together %}
    {%- set i, own_n = nbsql.feature_suffix(feature), nbsql.own_matrix_n(feature) %},
    {{ own_n }} AS own_n{{ i }},
    {{ nbsql.remaining_count(own_n, nbsql.word('rows.nbsql_weight')) }} AS left{{ i }}
    {%- for j in range(1, feature.columns | length + 1) %},
    {% set suffix = nbsql.feature_suffix(feature, j) %}
    rows.from{{ suffix }} - coalesce(own{{ i }}.from_centre{{ suffix }}, 0) AS d{{ suffix }}
    {%- endfor %}
    {%- endfor %}

  FROM (
    SELECT
      rows.*,
      own.class AS nbsql_own_class
      {%- for feature in parts.together %}
      {%- set i = nbsql.feature_suffix(feature) %},
      pooled{{ i }}.pooled_n{{ i }},
      pooled{{ i }}.pooled_classes{{ i }},
      pooled{{ i }}.pooled_height{{ i }}
      {%- for j in range(1, feature.columns | length + 1) %},
      {% call(l) nbsql.whitened(feature, j, 'pooled' ~ i) -%}
      (rows.nbsql_x{{ nbsql.feature_suffix(feature, l) }} - pooled{{ i }}.centre{{ nbsql.feature_suffix(feature, l) }})
      {%- endcall %} AS from{{ nbsql.feature_suffix(feature, j) }}
      {%- endfor %}
      {%- endfor %}

    FROM (
      {{ values | indent(6) }}
    ) AS rows
    JOIN {{ classes }} AS own ON own.class_no = rows.nbsql_own
    {%- for feature in parts.together %}
    {%- set pooled %}pooled{{ nbsql.feature_suffix(feature) }}{% endset %}

    LEFT JOIN {{ parts.matrices[feature.index][0] }} AS {{ pooled }} ON TRUE
    {%- endfor %}

  ) AS rows
  {{ nbsql.join_own_matrices(parts) | indent(2) }}
) AS rows
{{ nbsql.join_own_matrices(parts) }}
{%- endmacro %}

{# The columns by which a decisive row is found again, because no other row has the same values: a list of their names. #}
{% macro decisive_columns(parts) -%}
nbsql_own, nbsql_weight
{%- for feature in parts.together %}
{%- for j in range(1, feature.columns | length + 1) %}, nbsql_x{{ nbsql.feature_suffix(feature, j) }}{% endfor %}
{%- endfor %}
{%- endmacro %}

{#
  The decisive rows, which leave so little of a determinant that it must be counted without them: number, from 1, and the columns that
  name the row. If each class has its own matrix, only rows of classes with enough rows for one without them.
#}
{% macro left_out_decisive(model, source, parts, classes) -%}
WITH numbered AS (
  {{ nbsql.left_out_rows(model, source, classes, none, []) | indent(2) }}
)
SELECT row_number() OVER (ORDER BY {{ nbsql.decisive_columns(parts) }} ASC NULLS LAST) AS number, {{ nbsql.decisive_columns(parts) }}
FROM (
  {{ nbsql.left_out_values(parts, [], [], [], classes, none, true) | indent(2) }}
) AS rows
WHERE
  {% for feature in parts.together %}
  {% set i, shared = nbsql.feature_suffix(feature), feature.family.shared %}
  {%+ if not loop.first %}OR {%+ endif %}(left{{ i }} > 0 AND 1 - taken{{ i }} * {% if shared %}a{% else %}o{% endif %}{{ i }} < 1e-6
  {%- if not shared %}
    AND nbsql_own IN (SELECT nbsql_own FROM numbered GROUP BY nbsql_own HAVING count(*) > {{ feature.columns | length + 1 }})
  {%- endif %})
  {% endfor %}
{%- endmacro %}

{# The rows with a class, each with its fold, nbsql_slice: the number of a decisive row, or 0. #}
{% macro rows_with_decisive(model, source, columns, parts, classes, decisive) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  CAST(coalesce(decisive.number, 0) AS INTEGER) AS nbsql_slice
FROM (
  SELECT
    source.*,
    own.class_no AS nbsql_own,
    {{ nbsql.row_weight(model) }} AS nbsql_weight
    {%- for feature in parts.together %},
    {{ nbsql.inputs(feature, none, true, false) | indent(4) }}
    {%- endfor %}

  FROM {{ source }} AS source
  JOIN {{ classes }} AS own ON own.class = {{ nbsql.target(model) }}
) AS source
LEFT JOIN {{ decisive }} AS decisive
  ON {% for column in nbsql.decisive_columns(parts).split(', ') -%}
  decisive.{{ nbsql.word(column) }} IS NOT DISTINCT FROM source.{{ nbsql.word(column) }}{% if not loop.last %} AND {% endif %}
  {%- endfor %}
{%- endmacro %}

{# The rows of left_out, and in the same columns the decisive ones. outcomes: these by the models of the other folds (out_of_fold). #}
{% macro with_decisive_rows(model, left_out, outcomes, classes) -%}
SELECT * FROM {{ left_out }} AS others
UNION ALL
SELECT
  own.class_no,
  {{ nbsql.row_weight(model) }},
  source.nbsql_joints,
  best.class_no,
  source.nbsql_probability,
  source.nbsql_log_evidence
FROM {{ outcomes }} AS source
JOIN {{ classes }} AS own ON own.class = {{ nbsql.target(model) }}
LEFT JOIN {{ classes }} AS best ON best.class = source.nbsql_prediction
{%- endmacro %}

{# Joins that add to each row the matrix of its own class, for each feature with a covariance matrix. #}
{% macro join_own_matrices(parts) -%}
{% for feature in parts.together -%}
{% set own %}own{{ nbsql.feature_suffix(feature) }}{% endset -%}
LEFT JOIN {{ parts.matrices[feature.index][1] }} AS {{ own }} ON {{ own }}.class = rows.nbsql_own_class
{%- if not loop.last %}

{% endif %}
{%- endfor %}
{%- endmacro %}

{# The n of the matrix of the row's own class; 0 if there is none. #}
{% macro own_matrix_n(feature) -%} coalesce(own{{ nbsql.feature_suffix(feature) }}.n{{ nbsql.feature_suffix(feature) }}, 0) {%- endmacro %}

{# The product of two vectors of a row. #}
{% macro dot_product(one, other, feature) -%}
{% call(j) nbsql.sum_over_columns(feature) %}rows.{{ nbsql.word(one) }}{{ j }} * rows.{{ nbsql.word(other) }}{{ j }}{% endcall %}
{%- endmacro %}

{# The sum of the terms of the columns of a feature, which a block renders from the ending of their names. #}
{% macro sum_over_columns(feature) -%}
{% for _ in feature.columns %}{{ caller(nbsql.feature_suffix(feature, loop.index)) }}{% if not loop.last %} + {% endif %}{% endfor %}
{%- endmacro %}

{# |A (x - m)|^2 with the matrix and mean of a class. #}
{% macro squared_mahalanobis(feature, row, relation) -%}
{% for j in range(1, feature.columns | length + 1) -%}
pow({% call(l) nbsql.whitened(feature, j, relation) -%}
({{ row }}.nbsql_x{{ nbsql.feature_suffix(feature, l) }} - {{ relation }}.mean{{ nbsql.feature_suffix(feature, l) }})
{%- endcall %}, 2){% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# Joins that add the matrices of the classes. #}
{% macro matrices_of_classes(parts) -%}
{% for feature in parts.together %}
{% set other %}of{{ nbsql.feature_suffix(feature) }}{% endset %}

LEFT JOIN {{ parts.matrices[feature.index][1] }} AS {{ other }} ON {{ other }}.class = classes.class
{%- endfor %}
{%- endmacro %}

{# ln p(x | c) of a row and class. #}
{% macro left_out_together(parts, feature) -%}
{% set i, p = nbsql.feature_suffix(feature), feature.columns | length -%}
{% set shared = feature.family.shared -%}
{% set lost %}{% if feature.family.variance == 'sample' %}1{% else %}0{% endif %}{% endset -%}
{% set everything %}rows.pooled_n{{ i }}{% endset -%}
{% set rest %}{{ nbsql.remaining_count(everything, nbsql.word('rows.nbsql_weight')) }}{% endset -%}
{% set loss %}(1 - rows.taken{{ i }} * rows.a{{ i }}){% endset -%}
{% set own_loss %}(1 - rows.taken{{ i }} * rows.o{{ i }}){% endset -%}
{% set ratio %}pow(rows.own_n{{ i }} / nullif(rows.left{{ i }}, 0), 2){% endset -%}
{% set height %}rows.pooled_height{{ i }}{% endset -%}
{# for a class without rows, by the mean and the matrix of all other rows #}
{% set far -%}
pow(rows.pooled_n{{ i }} / nullif({{ rest }}, 0), 2) * (rows.s{{ i }} + rows.taken{{ i }} * rows.b{{ i }} * rows.b{{ i }} / {{ loss }})
{%- endset -%}
CASE
  WHEN rows.nbsql_x{{ nbsql.feature_suffix(feature, 1) }} IS NULL THEN 0
  {% if shared %}
  {% set divisor %}({{ rest }} - {{ lost }} * (rows.pooled_classes{{ i }} - CASE WHEN rows.left{{ i }} > 0 THEN 0 ELSE 1 END)){% endset -%}
  {% set gap -%}
  {% call(j) nbsql.sum_over_columns(feature) %}pow(rows.from{{ j }} - of{{ i }}.from_centre{{ j }}, 2){% endcall %}
  {%- endset -%}
  {% set across -%}
  {% call(j) nbsql.sum_over_columns(feature) %}(rows.from{{ j }} - of{{ i }}.from_centre{{ j }}) * rows.d{{ j }}{% endcall %}
  {%- endset -%}
  {% set square -%}
  CASE
    WHEN classes.class_no = rows.nbsql_own AND rows.left{{ i }} > 0 THEN {{ ratio }} * rows.a{{ i }} / {{ loss }}
    WHEN of{{ i }}.class IS NULL OR classes.class_no = rows.nbsql_own THEN {{ far }}
    ELSE {{ gap }} + rows.taken{{ i }} * pow({{ across }}, 2) / {{ loss }}
  END
  {%- endset -%}
  ELSE {{ nbsql.normal_density(p, height, loss, divisor, square) | indent(2) }}
  {% else %}
  {% set own_square %}{{ ratio }} * rows.o{{ i }} / {{ own_loss }}{% endset -%}
  {% set own_height %}of{{ i }}.height{{ i }}{% endset -%}
  {% set own_divisor %}(rows.left{{ i }} - {{ lost }}){% endset -%}
  {% set divisor %}(of{{ i }}.n{{ i }} - {{ lost }}){% endset -%}
  {% set square = nbsql.squared_mahalanobis(feature, nbsql.word('rows'), nbsql.word('of') ~ i) -%}
  {% set one = nbsql.number(1) -%}
  WHEN classes.class_no = rows.nbsql_own AND rows.left{{ i }} > 0
    THEN {{ nbsql.normal_density(p, own_height, own_loss, own_divisor, own_square) | indent(2) }}
  WHEN of{{ i }}.class IS NULL OR classes.class_no = rows.nbsql_own THEN {{ nbsql.normal_density(p, height, loss, rest, far) | indent(2) }}
  ELSE {{ nbsql.normal_density(p, own_height, one, divisor, square) | indent(2) }}
  {% endif %}
END
{%- endmacro %}

{# The log density for a scatter S after its determinant was reduced to a share of it, and the square of the distance by it. #}
{% macro normal_density(p, log_determinant, remaining_share, divisor, square) -%}
CASE
  WHEN {{ remaining_share }} > 1e-10 AND {{ divisor }} > 0 THEN coalesce(
    -0.5 * (
      {{ p }} * ln({{ nbsql.number(6.283185307179586) }}) + {{ log_determinant }} + ln(greatest({{ remaining_share }}, 1e-300))
        - {{ p }} * ln(greatest({{ divisor }}, 1e-300)) + {{ divisor }} * ({{ square }})
    ),
    0
  )
  ELSE 0
END
{%- endmacro %}
