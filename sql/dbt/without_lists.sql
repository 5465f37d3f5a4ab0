{#
  The forms of counting and scoring for engines that have no lists, or none that become rows (ADAPTERS in nbsql/dbt/package.py): plain
  SELECTs, in which rows of constants and CASE take the place of lists.
#}

{#
  The cells that a scan counted column by column, a list of dictionaries: place, and feature, value, n, centre, total, squares, each an
  expression. The families list the elements of each of these columns, which are names and texts.
#}
{% macro cells_of_scan(features) -%}
{% set found, columns = [], {} -%}
{% for feature in features -%}
{% for column in ['feature', 'value', 'n', 'centre', 'total', 'squares'] -%}
{% set elements = nbsql[feature.family.macros.cells](feature, column) -%}
{% do columns.update({column: modules.re.findall("'(?:[^'\\\\]|''|\\\\.)*'|[^,' ][^,']*", elements | string)}) %}
{% endfor -%}
{% for _ in columns.n -%}
{% set cell, place = {'place': found | length + 1}, loop.index0 -%}
{% for column, elements in columns.items() %}{% do cell.update({column: elements[place] | trim}) %}{% endfor -%}
{% do found.append(cell) %}
{% endfor -%}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# One row per class and cell of the scanned features: class, slice, feature, value, n, centre, total, squares. #}
{% macro without_lists__scanned_cells(model, scan, features) -%}
{% set cells = nbsql.cells_of_scan(features) -%}
SELECT
  scan.class,
  {% if model.facts.slice_by %}
  scan.slice,
  {% endif %}
  cells.feature,
  cells.value
  {%- for column in ['n', 'centre', 'total', 'squares'] %},
  CASE cells.place
    {%- for cell in cells if cell[column] != 'NULL' %} WHEN {{ cell.place }} THEN {{ cell[column] }}{% else %} WHEN 0 THEN 0{% endfor %}
    {{- ' ' }}END AS {{ column }}
  {%- endfor +%}
FROM {{ scan }} AS scan
CROSS JOIN {% call(cell, _) nbsql.constants(cells, 'cells', ['place', 'feature', 'value']) -%}
{{ cell.place }}, {{ cell.feature }}, {{ cell.value }}
{%- endcall %}
WHERE scan.class IS NOT NULL
{%- endmacro %}

{# The one row of parameters: each class and each of its parameters is picked out of its row by its number. #}
{% macro without_lists__parameters_in_one_row(model, classes) -%}
SELECT
  {% for k in model.form.class_numbers %}
  max(CASE WHEN class_no = {{ k }} THEN class END) AS class_{{ k }},
  max(CASE WHEN class_no = {{ k }} THEN log_prior END) AS log_prior_{{ k }},
  {% for item in model.form.column_parameters if k == 1 or not item.parameter.common %}
  max(CASE WHEN class_no = {{ k }} AND position = {{ item.position }} THEN number END) AS {{ nbsql.parameter_name(item) }}_{{ k }},
  {% endfor %}
  {% endfor %}
  count(DISTINCT class_no) AS class_count
FROM (
  SELECT class_no, class, log_prior, 0 AS position, {{ nbsql.nullable_double(none) }} AS number FROM {{ classes }}
  {% if model.form.column_parameters %}
  UNION ALL
  SELECT numbers.class_no, NULL, NULL, numbers.position, numbers.number FROM numbers
  {% endif %}
) AS listed
{%- endmacro %}

{# The form is always wide here. `most_numbers` is what a row holds. #}
{% macro without_lists__is_wide(model, class_count) -%}
{% set numbers, most = class_count * (5 + model.facts.parameters | length), nbsql.most_numbers() -%}
{% do nbsql.refuse_if(numbers > most or class_count > 100,
  class_count ~ " classes with " ~ model.facts.parameters | length ~ " parameters each, of '" ~ model.name ~ "', do not fit into a row of "
  ~ target.type ~ ', which holds ' ~ most ~ ' numbers of 100 classes; take fewer classes or features') %}
{% do return(true) %}
{%- endmacro %}

{# One row per class: class, class_no. #}
{% macro without_lists__numbered_classes(model, parameters) -%}
{% for k in model.form.class_numbers -%}
SELECT class_{{ k }} AS class, {{ k }} AS class_no FROM {{ parameters }} AS parameters{{ nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{# The posteriors of a judged row, a column for each class, and the sum of their squares. #}
{% macro without_lists__posterior_columns(model) -%}
{% set posteriors = [] -%}
{% for k in model.form.class_numbers -%}
{% set posterior -%}
CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ nbsql.posterior(model, nbsql.joint(model, k)) }} ELSE 0 END
{%- endset -%}
{% do posteriors.append(posterior) %}
{{ posterior }} AS posterior_{{ k }},
{% endfor -%}
{% for posterior in posteriors %}({{ posterior }}) * ({{ posterior }}){% if not loop.last %} + {% endif %}{% endfor %} AS squares
{%- endmacro %}

{#
  One row per judged row and class of the model: the columns of `judged`, of_class (its number), posterior and, with two classes, that of
  the other one.
#}
{% macro without_lists__posteriors_of_judged(model) -%}
,
class_posteriors AS (
  SELECT
    judged.*,
    known.class_no AS of_class,
    CASE known.class_no{% for k in model.form.class_numbers %} WHEN {{ k }} THEN judged.posterior_{{ k }}{% endfor %} END AS posterior,
    {% set is_binary = model.form.class_numbers | list | length == 2 %}
    {% set other %}CASE known.class_no WHEN 1 THEN judged.posterior_2 ELSE judged.posterior_1 END{% endset %}
    {% if is_binary %}{{ other }}{% else %}{{ nbsql.nullable_double(none) }}{% endif %} AS other

  FROM judged
  CROSS JOIN known
)
{%- endmacro %}

{# As in curves.sql and evaluate.sql, by the rows of `class_posteriors`. #}
{% macro without_lists__one_against_rest(sliced=0) -%}
one_against_rest AS (
  SELECT
    {{ nbsql.slice_columns(sliced) }}of_class AS class_no,
    posterior,
    {{ nbsql.rank_of(nbsql.word('posterior'), nbsql.word('other')) | indent(4) }} AS rank,
    weight,
    CASE WHEN of_class = class_no THEN weight ELSE 0 END AS positive
  FROM class_posteriors
)
{%- endmacro %}

{# The rows with their log loss and Brier score: one row per judged row, from its posteriors by class. #}
{% macro without_lists__row_losses() -%}
row_losses AS (
  SELECT
    losses.*,
    {{ nbsql.log_loss_of(nbsql.word('p')) }} AS log_loss,
    {{ nbsql.brier_of(nbsql.word('p'), nbsql.word('squares')) }} AS brier
  FROM (
    SELECT class_posteriors.*, CASE WHEN of_class = class_no THEN posterior ELSE 0 END AS p
    FROM class_posteriors
    WHERE of_class = coalesce(class_no, 1)
  ) AS losses
)
{%- endmacro %}

{# The metrics of the whole and of each class as rows: class, metric, value. #}
{% macro without_lists__listed_metrics(overall, rates) -%}
SELECT class, metric, value
FROM (
  {% for part, relation, metrics in [(0, 'overall', overall), (1, 'by_class', ['support'] + rates)] %}
  SELECT
    {{ part }} AS part,
    {% if part %}by_class.class{% else %}NULL{% endif %} AS class,
    names.position,
    names.metric,
    CASE names.position
      {%- for metric in metrics %} WHEN {{ loop.index }} THEN {{ nbsql.as_double(nbsql.metric_column(metric)) }}{% endfor %} END AS value
  FROM {{ nbsql.word(relation) }}
  CROSS JOIN {% call(metric, place) nbsql.constants(metrics, 'names', ['position', 'metric'], 2) -%}
{{ place }}, {{ nbsql.text(metric) }}
{%- endcall +%}
  {{ nbsql.union_all(loop) | indent(2) }}
  {% endfor %}
) AS metrics
ORDER BY part ASC NULLS LAST, class ASC NULLS LAST, position ASC NULLS LAST
{%- endmacro %}

{# The parameters, one row per class: class_no, class, log_prior, and the parameters of the features. #}
{% macro without_lists__parameters_by_class(model, parameters) -%}
{% for k in model.form.class_numbers -%}
SELECT
  {{ k }} AS class_no,
  class_{{ k }} AS class,
  log_prior_{{ k }} AS log_prior
  {%- for item in model.facts.parameters %},
  {% set name = nbsql.parameter_name(item) %}
  {{ name }}_{% if item.parameter.common %}1{% else %}{{ k }}{% endif %} AS {{ name }}
  {%- endfor +%}
FROM {{ parameters }} AS parameters{{ nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{# The scores of a token's lookup `found`, and of them that of the class of the parameters. #}
{% macro without_lists__scores_of_token(model) -%}
{% for k in model.form.class_numbers %}found.class_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{% macro without_lists__score_of_token(model) -%} {{ nbsql.score_of_class(model, nbsql.word('lookups')) }} {%- endmacro %}

{# Of the columns class_k of a relation, that of the class of the parameters. #}
{% macro score_of_class(model, relation) -%}
CASE parameters.class_no{% for k in model.form.class_numbers %} WHEN {{ k }} THEN {{ relation }}.class_{{ k }}{% endfor %} END
{%- endmacro %}

{# Some features, or columns of features, with their contribution in each class (scoring/explain.sql): a query for each. #}
{% macro without_lists__explained_block(model, parts, lookups) -%}
{% for part in parts -%}
{% set feature, found = part.feature, 'level' ~ nbsql.feature_suffix(part.feature) -%}
{% set term -%}
{% if feature.family.level -%}
{{ nbsql.level_term(feature, none, nbsql.score_of_class(model, nbsql.word(found))) }}
{%- else -%}
{{ nbsql.computed_term(feature, none, part.number) }}
{%- endif %}
{%- endset -%}
SELECT
  number.nbsql_row,
  parameters.class_no,
  {{ feature.index }} AS feature_no,
  {{ nbsql.text(feature.name) }} AS feature,
  {{ nbsql.explained_value(part) | indent(2) }} AS value,
  {{ term | indent(2) }} AS contribution
FROM {{ nbsql.with_inputs(nbsql.word('numbered'), [feature] if feature.family.parameters else []) }}
{{ nbsql.join_parameters_by_class(model, nbsql.word('number')) }}
{% if feature.family.level %}
{{ nbsql.lookup_join(model, feature, lookups) }}
{%- endif %}{{ nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}
