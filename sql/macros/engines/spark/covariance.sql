{#
  Covariance matrices (covariance.sql) without recursion. A matrix is an array of its rows, and each class has one row with its means and
  its matrix, which is computed in steps. A step is a lateral view of one row: Spark would otherwise repeat the expression of a
  sub-select's column at every use, even within the functions applied to each element. Rows and columns of matrices are numbered from 0
  here.
#}

{# To follow a relation: columns that are computed once a row. columns: pairs of a name and an expression. #}
{% macro lateral_step(columns) -%}
LATERAL VIEW inline(array(struct(
    {% for name, expression in columns %}
    {{ expression }} AS {{ nbsql.word(name) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  ))) step AS {% for name, _ in columns %}{{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
{%- endmacro %}

{# The array of the whole numbers from 0 to p - 1. #}
{% macro index_range(p) -%} sequence(0, {{ p - 1 }}) {%- endmacro %}

{# A matrix of p rows and columns from an expression of i and j. #}
{% macro square_matrix(p, element) -%}
transform({{ nbsql.index_range(p) }}, i -> transform({{ nbsql.index_range(p) }}, j -> {{ element }}))
{%- endmacro %}

{# The sum of an expression of `place` over some places; a missing term counts as 0. #}
{% macro sum_over_indexes(places, place, element) -%}
{% set place = nbsql.word(place) -%}
aggregate({{ places }}, {{ nbsql.number(0) }}, (sum_{{ place }}, {{ place }}) -> sum_{{ place }} + coalesce({{ element }}, 0))
{%- endmacro %}

{# The same, but NULL if all terms are missing. #}
{% macro sum_of_present(places, element) -%}
aggregate({{ places }}, CAST(NULL AS {{ nbsql.double() }}), (total, place) -> coalesce(total + {{ element }}, total, {{ element }}))
{%- endmacro %}

{# The value of the cell for the columns i and j: the column itself, or the pair of both. #}
{% macro pair_value(feature, i, j) -%}
{% set quoted = feature.family.quoted_columns -%}
{% if i == j %}{{ nbsql.text(feature.columns[i]) }}{% else %}{{ nbsql.text('[' ~ quoted[i] ~ ',' ~ quoted[j] ~ ']') }}{% endif %}
{%- endmacro %}

{# The values of the cells of the upper triangle, row by row: the columns and the pairs of columns. #}
{% macro pair_values(feature) -%}
array(
{%- for i in range(feature.columns | length) %}
{%- set outer = loop %}
{%- for j in range(i, feature.columns | length) -%}
{{ nbsql.pair_value(feature, i, j) }}{% if not (loop.last and outer.last) %}, {% endif %}
{%- endfor %}
{%- endfor %})
{%- endmacro %}

{# The place of the pair i, j, i <= j, in that array, from 0. #}
{% macro pair_place(p, i, j) -%} shiftright({{ i }} * ({{ 2 * p + 1 }} - {{ i }}), 1) + {{ j }} - {{ i }} {%- endmacro %}

{# One row per pair of columns, each column with itself too: i, j, k (the number of the pair), value (of its cell), scale_i, scale_j. #}
{% macro spark__column_pairs(feature) -%}
{% set scales = feature.family.scales -%}
{% set k = namespace(value=0) -%}
SELECT *
FROM (
  VALUES
    {% for i in range(feature.columns | length) %}
    {% set outer = loop %}
    {% for j in range(i, feature.columns | length) %}
    {% set k.value = k.value + 1 %}
    {% set numbers %}{{ i + 1 }}, {{ j + 1 }}, {{ k.value }}{% endset %}
    {% set scale_i, scale_j = nbsql.number(scales[i]), nbsql.number(scales[j]) %}
    ({{ numbers }}, {{ nbsql.pair_value(feature, i, j) }}, {{ scale_i }}, {{ scale_j }}){% if not (loop.last and outer.last) %},{% endif +%}
    {% endfor %}
    {% endfor %}
) AS pairs(i, j, k, value, scale_i, scale_j)
{%- endmacro %}

{# The cells of a class as an array in the order of `pair_values`: structs of the place and of `columns`, rendered. #}
{% macro cells_in_order(feature, columns) -%}
array_sort(collect_list(struct(array_position({{ nbsql.pair_values(feature) }}, value) AS place, {{ columns }})))
{%- endmacro %}

{# `deviations` of the matrix `covariance`, and `matrix`, the result of eliminating its correlations (covariance.sql). #}
{% macro elimination_steps(p) -%}
{% set correlation %}coalesce(covariance[i][j] / nullif(deviations[i] * deviations[j], 0), 0){% endset -%}
{% set deviations %}transform({{ nbsql.index_range(p) }}, i -> sqrt(greatest(covariance[i][i], 0))){% endset -%}
{% set start -%}
transform({{ nbsql.index_range(p) }}, i -> concat(
      transform({{ nbsql.index_range(p) }}, j -> {{ correlation }}),
      transform({{ nbsql.index_range(p) }}, j -> CASE WHEN i = j THEN {{ nbsql.number(1) }} ELSE {{ nbsql.number(0) }} END)
    ))
{%- endset -%}
{% set eliminated -%}
{% if p == 1 -%}
{{ start }}
{%- else -%}
aggregate(
      {{ nbsql.index_range(p - 1) }},
      {{ start }},
      (rows, k) -> transform(rows, (row, i) -> CASE
        WHEN i <= k OR row[k] = 0 THEN row
        ELSE transform(row, (x, j) -> x - row[k] / nullif(rows[k][k], 0) * rows[k][j])
      END)
    )
{%- endif %}
{%- endset -%}
{{ nbsql.lateral_step([('deviations', deviations)]) }}
{{ nbsql.lateral_step([('matrix', eliminated)]) }}
{%- endmacro %}

{# ln |S|, from `matrix` and `deviations`; columns that do not vary are left out. #}
{% macro spark__log_determinant(p) -%}
{% set share -%}
CASE WHEN matrix[place][place] > 0 AND deviations[place] > 0 THEN ln(matrix[place][place]) + 2 * ln(deviations[place]) END
{%- endset -%}
{{ nbsql.sum_of_present(nbsql.index_range(p), share) }}
{%- endmacro %}

{# The rows of the triangular matrix W, where W'W is the inverse of the covariance matrix. #}
{% macro whitening(p) -%}
{% set element %}CASE WHEN matrix[j][j] > 0 THEN matrix[j][{{ p }} + i] / sqrt(matrix[j][j]) / nullif(deviations[i], 0) END{% endset -%}
transform({{ nbsql.index_range(p) }}, j -> transform(sequence(0, j), i -> {{ element }}))
{%- endmacro %}

{#
  One row per class, from `comoments` and `classes`: class, n, means and covariance, its own and shrunk. Without rows of the class all but
  the class are NULL.
#}
{% macro covariances_of_classes(feature) -%}
{% set family = feature.family -%}
{% set p = feature.columns | length -%}
{% set s = nbsql.number(family.fixed_shrinkage) -%}
{% set numbers %}mean, m2{% endset -%}
{% set first %}least(i, j){% endset -%}
{% set last %}greatest(i, j){% endset -%}
{% set cell_i %}cells[{{ nbsql.pair_place(p, nbsql.word('i'), nbsql.word('i')) }}]{% endset -%}
{% set cell_j %}cells[{{ nbsql.pair_place(p, nbsql.word('j'), nbsql.word('j')) }}]{% endset -%}
{% set pair %}cells[{{ nbsql.pair_place(p, first, last) }}]{% endset -%}
{% set means %}CASE WHEN n > 0 THEN transform({{ nbsql.index_range(p) }}, i -> {{ cell_i }}.mean) END{% endset -%}
{% set scales %}array({% for scale in family.scales %}{{ nbsql.number(scale) }}{{ nbsql.comma_blank(loop) }}{% endfor %}){% endset -%}
{% set element -%}
CASE
      WHEN i = j THEN {{ cell_i }}.m2
      ELSE scales[i] * scales[j]
        * ({{ pair }}.m2 - {{ cell_i }}.m2 / (scales[i] * scales[i]) - {{ cell_j }}.m2 / (scales[j] * scales[j])) / 2
    END / n
{%- endset -%}
{% set covariance %}CASE WHEN n > 0 THEN {{ nbsql.square_matrix(p, element) }} END{% endset -%}
SELECT class, n, means, {% if family.ledoit_wolf or family.fixed_shrinkage %}shrunk AS {% endif %}covariance
FROM (
  SELECT classes.class, cells.n, cells.cells, {{ scales }} AS scales
  FROM classes
  LEFT JOIN (
    SELECT class, max(n) AS n, {{ nbsql.cells_in_order(feature, numbers) | indent(4) }} AS cells
    FROM comoments
    WHERE feature = {{ nbsql.text(feature.name) }}
    GROUP BY class
  ) AS cells ON cells.class = classes.class
) AS cells
{{ nbsql.lateral_step([('means', means), ('covariance', covariance)]) }}
{%- if family.ledoit_wolf +%}
{{ nbsql.ledoit_wolf_steps(feature) }}
{%- elif family.fixed_shrinkage %}
{%- set trace = nbsql.sum_over_indexes(nbsql.index_range(p), 'place', nbsql.word('covariance') ~ '[place][place]') %}
{%- set element %}(1 - {{ s }}) * covariance[i][j] + CASE WHEN i = j THEN {{ s }} * trace / {{ p }} ELSE 0 END{% endset %}
{%- set shrunk %}CASE WHEN n > 0 THEN {{ nbsql.square_matrix(p, element) }} END{% endset +%}
{{ nbsql.lateral_step([('trace', trace)]) }}
{{ nbsql.lateral_step([('shrunk', shrunk)]) }}
{%- endif %}
{%- endmacro %}

{# The steps up to `shrunk`, the covariance matrix of a class shrunk by the formula of families/ledoit_wolf.sql. #}
{% macro ledoit_wolf_steps(feature) -%}
{% set p = feature.columns | length -%}
{% set varies %}CASE WHEN covariance[place][place] > 0 THEN 1 END{% endset -%}
{% set square %}covariance[one][other] * covariance[one][other] / nullif(covariance[one][one] * covariance[other][other], 0){% endset -%}
{% set fourth -%}
{% if feature.family.fourth -%}
CASE CAST(class AS {{ nbsql.string() }})
{%- for label, fourth in feature.family.fourth.items() %} WHEN {{ nbsql.text(label) }} THEN {{ nbsql.number(fourth) }}{% endfor %} END
{%- else -%}
CAST(NULL AS {{ nbsql.double() }})
{%- endif %}
{%- endset -%}
{% set share %}CASE WHEN b <= 0 OR d <= 0 THEN 0 ELSE least(b, d) / d END{% endset -%}
{% set element %}covariance[i][j] * CASE WHEN i = j THEN 1 - share + share * trace / {{ p }} ELSE 1 - share END{% endset -%}
{% set shrunk %}CASE WHEN n > 0 THEN {{ nbsql.square_matrix(p, element) }} END{% endset -%}
{% set squares = nbsql.sum_over_indexes(nbsql.index_range(p), 'one', nbsql.sum_over_indexes(nbsql.index_range(p), 'other', square)) -%}
{% set d %}(squares - trace * trace / {{ p }}) / {{ p }}{% endset -%}
{% set b %}({{ fourth }} - squares) / ({{ p }} * nullif(n, 0)){% endset -%}
{{ nbsql.lateral_step([('trace', nbsql.sum_over_indexes(nbsql.index_range(p), 'place', varies)), ('squares', squares)]) }}
{{ nbsql.lateral_step([('d', d), ('b', b)]) }}
{{ nbsql.lateral_step([('share', share)]) }}
{{ nbsql.lateral_step([('shrunk', shrunk)]) }}
{%- endmacro %}

{#
  One row per class, from `comoments` and `classes`; none if no class has any cells:

    class, n, means      n is NULL if the class has no rows; its means are then those over all classes
    pooled               the means over all classes
    middle               shared: the point about which linear scores are taken (families/multivariate_gaussian.sql)
    total, present       the n of all classes, and the number of classes that have one
    covariance, deviations, matrix    of the class; shared: the same for all classes
#}
{% macro matrices(feature) -%}
{% set family = feature.family -%}
{% set p = feature.columns | length -%}
{% set lost = 1 if family.variance == 'sample' else 0 -%}
{% set counted %}filter(classes, c -> c.n > 0){% endset -%}
{% set present %}size(counted){% endset -%}
{% set total %}nullif(aggregate(counted, {{ nbsql.number(0) }}, (total, c) -> total + c.n), 0){% endset -%}
{% set pooled_mean -%}
aggregate(counted, {{ nbsql.number(0) }}, (sum, c) -> sum + c.n * (c.means[i] - least[i])) / total + least[i]
{%- endset -%}
{% set pooled %}transform({{ nbsql.index_range(p) }}, i -> {{ pooled_mean }}){% endset -%}
{% set middle -%}
transform({{ nbsql.index_range(p) }}, i -> aggregate(
  array_sort(transform(counted, c -> struct(c.means[i] AS mean, c.n AS n))),
  struct({{ nbsql.number(0) }} AS n, CAST(NULL AS {{ nbsql.double() }}) AS mean),
  (seen, c) -> struct(seen.n + c.n AS n, CASE WHEN 2 * seen.n < total THEN c.mean ELSE seen.mean END AS mean),
  seen -> seen.mean
))
{%- endset -%}
{% set least %}transform({{ nbsql.index_range(p) }}, i -> array_min(transform(counted, c -> c.means[i]))){% endset -%}
{% set element %}aggregate(counted, {{ nbsql.number(0) }}, (sum, c) -> sum + c.n * c.covariance[i][j]) / total{% endset -%}
{% set corrected %}within_classes[i][j] * (total / nullif(greatest(total - {{ lost }} * present, 0), 0)){% endset -%}
{% set own_corrected -%}
{% set t = nbsql.number(family.pooled_shrinkage) -%}
{% if family.pooled_shrinkage %}(1 - {{ t }}) * {% endif %}own_covariance[i][j] * n / nullif(n - {{ lost }}, 0)
{%- if family.pooled_shrinkage %} + {{ t }} * {{ corrected }}{% endif %}
{%- endset -%}
{% set covariance -%}
{% if family.shared %}{{ nbsql.square_matrix(p, corrected) }}
{%- else %}CASE WHEN n > 0 THEN {{ nbsql.square_matrix(p, own_corrected) }} ELSE within_classes END
{%- endif %}
{%- endset -%}
{% set each_class %}LATERAL VIEW inline(classes) step AS class, n, own_means, own_covariance{% endset -%}
SELECT
  class,
  n,
  coalesce(own_means, pooled) AS means,
  pooled,
  {% if family.shared %}
  middle,
  {% endif %}
  total,
  present,
  covariance,
  deviations,
  matrix
FROM (
  SELECT collect_list(struct(class, n, means, covariance)) AS classes
  FROM {{ nbsql.subquery(nbsql.covariances_of_classes(feature)) | indent(2) }} AS covariances
) AS covariances
{{ nbsql.lateral_step([('counted', counted)]) }}
{{ nbsql.lateral_step([('total', total), ('present', present), ('least', least)]) }}
{% set middles = [('middle', middle)] if family.shared else [] -%}
{{ nbsql.lateral_step([('pooled', pooled), ('within_classes', nbsql.square_matrix(p, element))] + middles) }}
{% if not family.shared %}
{{ each_class }}
{% endif %}
{{ nbsql.lateral_step([('covariance', covariance)]) }}
{{ nbsql.elimination_steps(p) }}
{% if family.shared %}
{{ each_class }}
{% endif %}
WHERE present > 0
{%- endmacro %}

{#
  At most one row, the first class whose columns are not independent: class, and columns, the numbers of columns of which one is a linear
  combination of the others.
#}
{% macro spark__collinear_columns(model, statistics, feature) -%}
{% set p = feature.columns | length -%}
{% set pivot %}try_element_at(filter({{ nbsql.index_range(p) }}, i -> NOT coalesce(matrix[i][i] > 1e-10, FALSE)), 1){% endset -%}
WITH classes AS {{ nbsql.subquery(nbsql.class_counts(statistics)) }},
comoments AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.comoments_of(statistics, [feature]), ['class', 'feature', 'value'])) }}
SELECT class, columns
FROM (
  SELECT
    CAST(class AS {{ nbsql.string() }}) AS class,
    transform(filter(sequence(0, pivot), i -> abs(matrix[pivot][{{ p }} + i]) > 1e-6), i -> i + 1) AS columns
  FROM {{ nbsql.subquery(nbsql.matrices(feature)) | indent(2) }} AS matrices
  {{ nbsql.lateral_step([('pivot', pivot)]) | indent(2) }}
  WHERE pivot IS NOT NULL
) AS collinear
WHERE size(columns) > 0
ORDER BY class ASC NULLS LAST
LIMIT 1
{%- endmacro %}
