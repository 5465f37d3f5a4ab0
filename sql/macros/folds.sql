{#
  Cross-validation without a second fit: the statistics are counted by fold in one scan, and the model of a fold's rows is the
  total minus their cells, that is the sum of the other folds.
#}

{#
  The columns that a model reads, with the fold of each row: by a column of the user's, or dealt. Rows are dealt in the order of
  their class and then of a hash, so that every fold has its share of every class, and the same rows always the same fold; with
  `sorts` off the hash alone decides, which spares the sort of a large table and is as even there.
#}
{% macro dealt(source, columns, target, folds, fold, sorts) -%}
{% set hashed %}hash({% for column in columns %}source.{{ nbsql.ident(column) }}{% if not loop.last %}, {% endif %}{% endfor %}){% endset -%}
SELECT
  {% for column in columns %}
  source.{{ nbsql.ident(column) }},
  {% endfor %}
  CAST(
    {%+ if fold is not none -%}
    source.{{ nbsql.ident(fold) }}
    {%- elif sorts -%}
    (row_number() OVER (ORDER BY source.{{ nbsql.ident(target) }}, {{ hashed }}) - 1) % {{ folds }}
    {%- else -%}
    {{ hashed }} % {{ folds }}
    {%- endif %} AS {{ nbsql.string() }}
  ) AS nbsql_slice
FROM {{ source }} AS source
{%- endmacro %}

{% macro rows_of_fold(dealt, fold) -%}
(SELECT * FROM {{ dealt }} AS dealt WHERE nbsql_slice = {{ nbsql.text(fold) }})
{%- endmacro %}

{% macro cells_of_other_folds(cells, fold) -%}
{{ nbsql.cells_of(cells) }}
WHERE slice <> {{ nbsql.text(fold) }}
{%- endmacro %}

{# The folds and their rows. #}
{% macro folds_of(dealt) -%}
SELECT nbsql_slice AS fold, count(*) AS rows
FROM {{ dealt }} AS dealt
GROUP BY nbsql_slice
ORDER BY TRY_CAST(nbsql_slice AS {{ nbsql.double() }}) NULLS LAST, nbsql_slice
{%- endmacro %}

{#
  The rows of one fold as the model of the other folds scores them, in the form of `scored` (predict.sql), with the classes
  numbered as in the whole. numbers: for every class of the whole the number it has in the fold's model, or none.
#}
{% macro out_of_fold(model, scored, fold, numbers) -%}
SELECT
  {{ nbsql.target(model) }},
  {% if model.weight %}
  source.{{ nbsql.ident(model.weight) }},
  {% endif %}
  {{ nbsql.text(fold) }} AS nbsql_fold,
  source.nbsql_prediction,
  source.nbsql_probability,
  source.nbsql_log_evidence,
  {% if model.class_numbers %}
  {% for number in numbers %}
  {%+ if number is none %}-{{ nbsql.infinity() }}{% else %}source.nbsql_joint_{{ number }}{% endif %} AS nbsql_joint_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
  {% else %}
  [{% for number in numbers %}{% if number is none %}-{{ nbsql.infinity() }}{% else %}source.nbsql_joints[{{ number }}]{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}] AS nbsql_joints
  {% endif %}
FROM {{ scored }} AS source
{%- endmacro %}

{# How well each fold is predicted: fold, rows, weight, accuracy, log_loss (kept from 0 and 1 as in evaluate.sql). #}
{% macro fold_scores(model, scored, parameters) -%}
SELECT
  fold,
  count(*) AS rows,
  sum(weight) AS weight,
  sum(CASE WHEN right_class THEN weight ELSE 0 END) / sum(weight) AS accuracy,
  -sum(weight * ln(least(greatest(posterior, 2.220446049250313e-16), 1 - 2.220446049250313e-16))) / sum(weight) AS log_loss
FROM (
  SELECT
    source.nbsql_fold AS fold,
    {%+ if model.weight %}{{ nbsql.weight(model) }}{% else %}1{% endif %} AS weight,
    coalesce(source.nbsql_prediction = {{ nbsql.target(model) }}, FALSE) AS right_class,
    coalesce(list_extract({{ nbsql.posteriors(model) | indent(4) }}, numbered.class_no), 0) AS posterior
  FROM {{ scored }} AS source
  LEFT JOIN (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS numbered ON numbered.class = {{ nbsql.target(model) }}
  WHERE {{ nbsql.counted(model) }}
) AS outcomes
GROUP BY fold
ORDER BY TRY_CAST(fold AS {{ nbsql.double() }}) NULLS LAST, fold
{%- endmacro %}
