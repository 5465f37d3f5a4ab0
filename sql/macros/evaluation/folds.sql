{#
  Cross-validation without a second fit. One scan counts the statistics by fold, and the model for a fold is the total minus its cells,
  which is the sum of the other folds. The tables that scoring reads hold the models of all folds, with the fold in nbsql_slice, and each
  row is joined with the model for its fold.
#}

{#
  The columns that a model reads, with the fold of each row, which is given by a column of the user's or assigned:

    class   in the order of the rows' class and then of a hash, so that every fold has its share of every class
    hash    by the hash alone, which is as even in a large table and needs no sort
    number  by a hash of the row's number in its table, which needs no copy of one

  kinds: the kind of each column, by name. All but the last always assign the same fold to the same row. Assigned folds are numbers, which
  are counted and joined faster than texts. The row number is hashed twice, because the columns may depend on a hash of it, too.
#}
{% macro rows_with_folds(source, columns, target, type, folds, fold, by, kinds) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  {{ nbsql.fold_of_row(columns, target, type, folds, fold, by, kinds) | indent(2) }} AS nbsql_slice
FROM {{ source }} AS source
{%- endmacro %}

{# The fold of a row; the arguments are those of rows_with_folds. #}
{% macro fold_of_row(columns, target, type, folds, fold, by, kinds) -%}
{% set label %}source.{{ nbsql.ident(target) }}{% endset -%}
{% set hashed = nbsql.hash_of(columns, kinds) -%}
{% if fold is not none %}CAST(source.{{ nbsql.ident(fold) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- elif by == 'class' %}
{%- set text %}CAST({{ label }} AS {{ nbsql.string() }}){% endset %}
{%- set ordered = nbsql.as_label(text if nbsql.is_text(type) else label, type) %}
{%- set place %}row_number() OVER (ORDER BY {{ ordered }} ASC NULLS LAST, {{ hashed }} ASC NULLS LAST){% endset -%}
CAST(({{ place }} - 1) % {{ folds }} AS INTEGER)
{%- elif by == 'hash' -%}
CAST({{ hashed }} % {{ folds }} AS INTEGER)
{%- else -%}
CAST(hash(hash(source.rowid)) % {{ folds }} AS INTEGER)
{%- endif %}
{%- endmacro %}

{# All columns of the rows, with the part of each as nbsql_part: a fold among some, one of which a choice must not see. #}
{% macro rows_in_parts(source, columns, target, type, parts, fold, by, kinds) -%}
SELECT source.*, {{ nbsql.fold_of_row(columns, target, type, parts, fold, by, kinds) | indent(2) }} AS nbsql_part
FROM {{ source }} AS source
{%- endmacro %}

{# The names of the parts that have rows with a class and a weight, if rows have weights, in the order of numbers or else of texts. #}
{% macro names_of_parts(rows, model) -%}
SELECT name
FROM (
  SELECT DISTINCT {{ nbsql.part_name() }} AS name
  FROM {{ rows }} AS source
  WHERE nbsql_part IS NOT NULL AND source.{{ nbsql.ident(model.spec.target) }} IS NOT NULL
    {%- if model.spec.weight %} AND {{ nbsql.weight(model) }} > 0{% endif %}
) AS parts
ORDER BY {{ nbsql.as_number(nbsql.word('name')) }} ASC NULLS LAST, name ASC NULLS LAST
{%- endmacro %}

{# The name of the part of a row. #}
{% macro part_name() -%} {{ nbsql.text_of(nbsql.word('nbsql_part')) }} {%- endmacro %}

{# One row: how many classes are in one fold only, whose rows no model of the other folds can explain, and how many are in several. #}
{% macro classes_of_one_fold(source, model, fold) -%}
SELECT sum(CASE WHEN folds < 2 THEN 1 ELSE 0 END) AS of_one, sum(CASE WHEN folds > 1 THEN 1 ELSE 0 END) AS of_several
FROM (
  SELECT {{ nbsql.folds_of_class(fold) }} AS folds
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  GROUP BY {{ nbsql.target(model) }}
) AS classes
{%- endmacro %}

{# The rows without those of the classes that are in one fold only. #}
{% macro rows_of_several_folds(source, model, fold) -%}
SELECT source.*
FROM {{ source }} AS source
WHERE {{ nbsql.target(model) }} IS NULL OR {{ nbsql.target(model) }} IN (
  SELECT {{ nbsql.target(model) }}
  FROM {{ source | indent(2) }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  GROUP BY {{ nbsql.target(model) }}
  HAVING {{ nbsql.folds_of_class(fold) }} > 1
)
{%- endmacro %}

{# In how many folds the rows of a class are: as many as they are, unless a column has the folds. #}
{% macro folds_of_class(fold) -%}
{% if fold is none %}count(*){% else %}count(DISTINCT source.{{ nbsql.ident(fold) }}){% endif %}
{%- endmacro %}

{# The relation of the rows of a fold. #}
{% macro rows_of_fold(folded_rows, fold) -%}
(SELECT * FROM {{ folded_rows }} AS source WHERE nbsql_slice = {{ nbsql.text(fold) }})
{%- endmacro %}

{# One row in `share` of a relation, by a hash of its number. #}
{% macro some_rows(rows, share) -%}
(
  SELECT *
  FROM (
    SELECT {{ nbsql.row_id() }} AS nbsql_number, source.* FROM {{ rows | indent(4) }} AS source
  ) AS source
  WHERE {{ nbsql.mixed_hash(nbsql.word('nbsql_number')) }} % {{ share }} = 0
)
{%- endmacro %}

{#
  The training rows of a fold, with the fold that is left out as nbsql_slice: the rows of the other folds and, if asked for, all rows
  without a class.
#}
{% macro training_rows_of_fold(model, folded_rows, columns, fold, unlabelled) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  {{ nbsql.slice_name(model, fold) }} AS nbsql_slice
FROM {{ folded_rows }} AS source
WHERE source.nbsql_slice <> {{ nbsql.slice_name(model, fold) }}
{%- if unlabelled %} OR {{ nbsql.target(model) }} IS NULL{% endif +%}
{%- endmacro %}

{# The folds with counted rows. #}
{% macro folds_of(cells) -%}
SELECT {{ nbsql.text_of(nbsql.word('slice')) }} AS fold
FROM {{ cells }} AS cells
WHERE feature IS NULL AND slice IS NOT NULL
GROUP BY slice
ORDER BY {{ nbsql.as_number(nbsql.word('slice')) }} ASC NULLS LAST, slice ASC NULLS LAST
{%- endmacro %}

{#
  The cells of one setting, if several were counted at once. names: for each feature, a pair of its name among the cells and its name in
  the setting. fold: the fold whose cells to leave out, rendered; none keeps all cells, in no slice. left_out: whether the slice of a cell
  is the fold that it already leaves out.
#}
{% macro cells_of_setting(cells, names, fold=none, left_out=false) -%}
SELECT
  {%+ if fold is none %}{{ nbsql.no_text() }} AS slice{% else %}cells.slice{%+ endif %},
  cells.class,
  names.name AS feature,
  cells.value,
  cells.n,
  cells.mean,
  cells.m2,
  cells.batch
FROM {{ cells }} AS cells
JOIN (
  VALUES
    ({{ nbsql.no_text() }}, {{ nbsql.no_text() }})
    {%- for counted, name in names %},
    ({{ nbsql.text(counted) }}, {{ nbsql.text(name) }})
    {%- endfor +%}
) AS names(counted, name) ON names.counted IS NOT DISTINCT FROM cells.feature
{%- if fold is not none +%}
WHERE cells.slice {% if left_out %}={% else %}<>{% endif %} {{ fold }}
{%- endif %}
{%- endmacro %}

{# A fold as the rows name it. #}
{% macro slice_name(model, fold) -%}
{% if model.options.integer_slices %}CAST({{ nbsql.text(fold) }} AS INTEGER){% else %}{{ nbsql.text(fold) }}{% endif %}
{%- endmacro %}

{#
  The parameters or the lookups of the models for some folds, each from the cells of all other folds. It is one statement, because the
  engine evaluates a query on one fold for every fold. A class that the other folds do not have has none.

  kind: the macro, parameters or lookups; statistics and priors: those of one fold, `folds.nbsql_slice`.
#}
{% macro models_of_folds(kind, model, statistics, priors, folds) -%}
SELECT folds.nbsql_slice, models.*
FROM {% call(fold, _) nbsql.constants(folds, 'folds', ['nbsql_slice']) %}{{ nbsql.slice_name(model, fold) }}{% endcall +%}
CROSS JOIN LATERAL {{ nbsql.subquery(nbsql[kind](model, statistics, priors)) }} AS models
{%- endmacro %}

{# The rows of several queries. #}
{% macro union_of_rows(queries) -%}
{% for query in queries -%}
{{ query }}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  The same for a single fold, which is a literal: DuckDB before 2.0 cannot evaluate a recursive query, such as an inverse, for every fold.
#}
{% macro model_of_fold(kind, model, statistics, priors, fold) -%}
SELECT {{ nbsql.slice_name(model, fold) }} AS nbsql_slice, models.*
FROM {{ nbsql.subquery(nbsql[kind](model, statistics, priors)) }} AS models
{%- endmacro %}

{# The class numbers in the models for the folds: nbsql_slice, class, class_no. #}
{% macro classes_of_folds(model, parameters) -%}
SELECT *
FROM (
  {% if model.form.class_numbers %}
  SELECT
    nbsql_slice,
    {{ nbsql.unnested([nbsql.list_by_class(model, 'class'), nbsql.list_by_class(model)], ['class', 'class_no']) | indent(4) }}
  FROM {{ parameters }} AS parameters
  {% else %}
  SELECT nbsql_slice, class, class_no FROM {{ parameters }} AS parameters
  {% endif %}
) AS numbered
WHERE class IS NOT NULL
{%- endmacro %}

{# The classes of all rows, or all declared ones: class, class_no. #}
{% macro classes_of_cells(model, cells) -%}
SELECT class, row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no
{% if model.spec.classes %}
FROM {{ nbsql.subquery(nbsql.declared_classes(model.spec.classes, model.facts.class_type)) }} AS declared
{%- else %}
FROM {{ cells }} AS cells
WHERE feature IS NULL
GROUP BY class
{%- endif %}
{%- endmacro %}

{#
  How well each fold is predicted: fold, rows, weight, accuracy, log_loss. The posterior of the true class is kept away from 0 and 1 as in
  evaluate.sql.

  scored: the rows as scored by the models of the other folds (predict.sql). name: of all folds together, none for a row per fold.
#}
{% macro fold_scores(model, scored, parameters, name=none) -%}
{% call nbsql.scores_by_fold() -%}
SELECT
  {%+ if name is none %}source.nbsql_slice{% else %}{{ nbsql.text(name) }}{%+ endif %} AS fold,
  {{ nbsql.row_weight(model) }} AS weight,
  source.nbsql_prediction = {{ nbsql.target(model) }} AS right_class,
  {% set posterior = nbsql.posterior(model, nbsql.numbered_joint(model)) %}
  CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ posterior | indent(2) }} END AS posterior
FROM {{ scored }} AS source
LEFT JOIN (
  {{ nbsql.classes_of_folds(model, parameters) | indent(2) }}
) AS numbered ON numbered.nbsql_slice = source.nbsql_slice AND numbered.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.is_counted(model) }}
{%- endcall %}
{%- endmacro %}

{# The same from a query of the rows, the caller: fold, weight, right_class, and posterior, that of the true class, 0 where it is NULL. #}
{% macro scores_by_fold() -%}
SELECT
  {{ nbsql.text_of(nbsql.word('fold')) }} AS fold,
  count(*) AS rows,
  sum(weight) AS weight,
  sum(CASE WHEN right_class THEN weight ELSE 0 END) / sum(weight) AS accuracy,
  {% set posterior %}coalesce(posterior, 0){% endset %}
  sum(weight * {{ nbsql.log_loss_of(posterior) }}) / sum(weight) AS log_loss
FROM {{ nbsql.subquery(caller()) }} AS outcomes
GROUP BY outcomes.fold
{%- endmacro %}

{# The joint log-likelihood of a row in the class with the number in the relation of classes. #}
{% macro numbered_joint(model) -%}
{% if model.form.class_numbers -%}
CASE numbered.class_no{% for k in model.form.class_numbers %} WHEN {{ k }} THEN source.nbsql_joint_{{ k }}{% endfor %} END
{%- else -%}
source.nbsql_joints[numbered.class_no]
{%- endif %}
{%- endmacro %}

{#
  The rows as scored by the models of the other folds (predict.sql), for the queries of evaluate.sql: target, weight, prediction,
  probability, what posteriors are relative to, and the list of the joint log-likelihoods in the order of all classes, whatever their
  numbers in the model for a fold. extra_columns: further columns of `scored` to keep.
#}
{% macro out_of_fold(model, scored, parameters, classes, extra_columns=()) -%}
SELECT
  {% for column in extra_columns %}
  source.{{ nbsql.word(column) }},
  {% endfor %}
  {{ nbsql.target(model) }} AS {{ nbsql.ident(model.spec.target) }},
  {% if model.spec.weight %}
  source.{{ nbsql.ident(model.spec.weight) }},
  {% endif %}
  source.nbsql_prediction,
  source.nbsql_probability,
  source.nbsql_highest,
  source.nbsql_relative_evidence,
  {% set joints %}({{ nbsql.list_of_joints(model) }}){% endset %}
  {% set joint %}coalesce({{ nbsql.element(joints, nbsql.word('number')) }}, -{{ nbsql.infinity() }}){% endset %}
  {{ nbsql.list_mapped(nbsql.word('numbers.class_nos'), joint, 'number') }} AS nbsql_joints
FROM {{ scored }} AS source
JOIN (
  SELECT folds.nbsql_slice, {{ nbsql.ordered_list(nbsql.word('numbered.class_no'), nbsql.word('classes.class_no')) }} AS class_nos
  FROM (
    SELECT DISTINCT nbsql_slice FROM {{ parameters }} AS parameters
  ) AS folds
  CROSS JOIN {{ classes }} AS classes
  LEFT JOIN (
    {{ nbsql.classes_of_folds(model, parameters) | indent(4) }}
  ) AS numbered ON numbered.nbsql_slice = folds.nbsql_slice AND numbered.class = classes.class
  GROUP BY folds.nbsql_slice
) AS numbers ON numbers.nbsql_slice = source.nbsql_slice
{%- endmacro %}
