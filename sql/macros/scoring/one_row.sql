{#
  The prediction of one row, given as the parameters $1, $2, ... of a prepared statement. One row per class, the best first:

    class_no, class, joint_log_likelihood, probability (of the class; NULL if no class explains the row)

  The plan for a table has an expression a column and class, and planning and starting these takes 20 ms however few the rows. Here each
  feature is a row instead, which is joined with the numbers of its family and summed by class: a few short expressions, however many
  features there are. For columns, groups and classes see nbsql/queries/one_row.py.

  The numbers of a model in the wide form, which are slow to read as columns, are lists in the statement; those of a model in the long
  form are read from its table. A calibrated probability is at the temperature that is fitted.
#}
{% macro row_scores(model, row, parameters, lookups, temperature=1) -%}
WITH {{ nbsql.terms_of_row(model, row, parameters, lookups) }},
joint AS (
  SELECT class_no, sum(term) AS joint FROM terms GROUP BY class_no
),
best AS (
  SELECT class_no, joint, max(joint) OVER () AS highest FROM joint
)
{% set below %}{% if temperature == 1 %}joint - highest{% else %}(joint - highest) / {{ nbsql.number(temperature) }}{% endif %}{% endset -%}
SELECT
  best.class_no,
  classes.class,
  best.joint AS joint_log_likelihood,
  CASE WHEN highest > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(below) }} / sum({{ nbsql.exp(below) }}) OVER () END AS probability
FROM best
JOIN {% if row.listed %}(
  SELECT
    unnest({{ nbsql.list_by_class(model) }}) AS class_no,
    unnest({{ nbsql.list_by_class(model, 'class') }}) AS class
  FROM {{ parameters }} AS parameters
){% else %}numbers{% endif %} AS classes ON classes.class_no = best.class_no

ORDER BY best.joint DESC NULLS LAST, best.class_no ASC NULLS LAST
{%- endmacro %}

{#
  The same for a caller that has the labels and computes the posteriors itself, which is a third of the planning. One row per class:
  class_no, joint_log_likelihood, and the time of the model's last change, which shows whether it has changed meanwhile; without a spec
  only the former, for a statement that reads no relation.
#}
{% macro row_joints(model, row, parameters, lookups, spec=none) -%}
WITH {{ nbsql.terms_of_row(model, row, parameters, lookups) }}
SELECT
  class_no,
  sum(term) AS joint_log_likelihood
  {%- if spec %},
  (SELECT updated_at FROM {{ spec }} AS spec) AS nbsql_updated_at
  {%- endif %}

FROM terms
GROUP BY class_no
{%- endmacro %}

{#
  The rows of a table as literals, each column as the text of one list, which takes hardly any planning. columns: of each its name, that
  text, which is JSON unless the column has numbers, or lists of them, and its type.
#}
{% macro table_of_literals(columns) -%}
SELECT
  {% for name, values, type, are_numbers in columns %}
  {% set list %}{% if are_numbers %}{{ nbsql.text(values) }}{% else %}{{ nbsql.texts_in_json(values) }}{% endif %}{% endset %}
  unnest(CAST({{ list }} AS {{ type }}[])) AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
{%- endmacro %}

{# A query with the tables that it reads as literals: pairs of a name and a query. #}
{% macro with_tables(query, tables) -%}
{% if tables -%}
WITH {% for name, literals in tables %}{{ name }} AS {{ nbsql.subquery(literals) }}{{ nbsql.comma(loop) }}
{% endfor %}
SELECT * FROM {{ nbsql.subquery(query) }} AS answer
{%- else %}{{ query }}{% endif %}
{%- endmacro %}

{# The call of a statement that is planned once (prepare_answer). given: pairs of the literal of a parameter and its type. #}
{% macro execute_answer(given) -%}
EXECUTE nbsql_answer{% if given %}({% for value, type in given %}CAST({{ value }} AS {{ type }}){{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endif %}
{%- endmacro %}

{# The relation `terms`, one row per class and part of a score: class_no, term; and the relations that it reads, before it. #}
{% macro terms_of_row(model, row, parameters, lookups) -%}
{% if row.looked_up -%}
given AS {{ nbsql.subquery(nbsql.row_columns(row, row.looked_up)) }},
{% endif %}
{% if not row.listed %}
numbers AS MATERIALIZED {{ nbsql.subquery(nbsql.parameters_by_class(model, parameters)) }},
{% endif %}
terms AS (
  {% if row.listed %}
  SELECT
    {{ nbsql.row_list(row.numbers[0], 'INTEGER') }} AS class_no,
    {{ nbsql.row_list(row.numbers[1], 'DOUBLE') }} AS term
  {%- else %}
  SELECT class_no, log_prior AS term
  FROM numbers
  {%- endif %}
  {%- for group in row.groups %}

  UNION ALL
  {{ nbsql.row_terms(row, group) | indent(2) }}
  {%- endfor %}
  {%- if row.levels or row.bags %}

  UNION ALL
  {{ nbsql.row_values(model, row, lookups) | indent(2) }}
  {%- endif %}

)
{%- endmacro %}

{# One row with some of its columns. #}
{% macro row_columns(row, names) -%}
SELECT{% if not names %} 1 AS nbsql_nothing{% endif %}
{%- for name in names %}

  {{ nbsql.row_value(row, name) }} AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
{%- endfor %}
{%- endmacro %}

{# The value of a column: a parameter of the statement, or derived from parameters. #}
{% macro row_value(row, name) -%}
{% if name in row.derived -%}
(SELECT source.{{ nbsql.ident(name) }} FROM {{ nbsql.row_as_source(row) }} AS source)
{%- else -%}
{{ nbsql.row_parameter(row, name) }}
{%- endif %}
{%- endmacro %}

{% macro row_parameter(row, name) -%}
{% set place, type = row.parameters[name] -%}
CAST(${{ place }} AS {{ type }})
{%- endmacro %}

{#
  The terms of numbers of one kind. All use the expression of one feature that represents them: the column nbsql_given with the parameters
  mean_0 and so on, which stand in order of the classes. A join of the numbers with the parameters would be half of the planning.
#}
{% macro row_terms(row, group) -%}
{% set given %}{% call(item) nbsql.array_of_each(group.items) %}{{ nbsql.row_value(row, item.column) }}{% endcall %}{% endset -%}
{% set inputs -%}
SELECT source.*, {{ nbsql.inputs(group.stand_in, none, true, false) }}
FROM (
  {% if row.listed %}
  SELECT
    {{ nbsql.row_list(group.numbers[0], 'INTEGER') }} AS class_no,
    {%- for name in group.parameters %}

    {{ nbsql.row_list(group.numbers[loop.index], 'DOUBLE') }} AS {{ name }},
    {%- endfor %}

    unnest({{ nbsql.concatenated_lists([nbsql.word('items.given')] * row.class_count) }}) AS nbsql_given
  FROM (SELECT {{ given }} AS given) AS items
  {%- else %}
  SELECT
    class_no,
    {%- for name in group.parameters %}
    {%- set position = loop.index0 %}

    unnest({% call(item) nbsql.array_of_each(group.items) %}{{ item.parameters[position] }}{% endcall %}) AS {{ name }},
    {%- endfor %}

    unnest({{ given }}) AS nbsql_given
  FROM numbers
  {%- endif %}

) AS source
{%- endset -%}
SELECT number.class_no, {{ group.term }} AS term
FROM {{ nbsql.subquery(nbsql.completed_inputs(inputs, [group.stand_in])) }} AS number
{%- endmacro %}

{# Numbers as rows, from one text, which takes no planning time, however many they are. #}
{% macro row_list(numbers, type) -%}
unnest(CAST({{ nbsql.list_in_text(numbers) }} AS {% if type == 'INTEGER' %}INTEGER{% else %}{{ nbsql.double() }}{% endif %}[]))
{%- endmacro %}

{# The terms of categories and tokens: the lookups of the row's values. #}
{% macro row_values(model, row, lookups) -%}
SELECT class_no, times * score AS term
FROM (
  SELECT
    met.times,
    {% if model.form.class_numbers %}
    unnest({{ nbsql.list_by_class(model) }}) AS class_no,
    unnest({{ nbsql.list_by_class(model, 'lookups.class') }}) AS score
    {%- else %}
    generate_subscripts(lookups.scores, 1) AS class_no,
    unnest(lookups.scores) AS score
    {%- endif %}

  FROM (
    {% if row.levels %}
    SELECT
      {% set given = nbsql.word('given') %}
      unnest({% call(feature) nbsql.array_of_each(row.levels) %}{{ nbsql.text(feature.name) }}{% endcall %}) AS feature,
      unnest(
        {%- call(feature) nbsql.array_of_each(row.levels) %}{{ nbsql[feature.family.macros.value](feature, given) }}{% endcall -%}
      ) AS value,
      1 AS times
    FROM given
    {% endif %}
    {% for feature in row.bags %}
    {% if row.levels or not loop.first %}
    UNION ALL
    {% endif %}
    SELECT {{ nbsql.text(feature.name) }} AS feature, value, times
    FROM {{ nbsql.subquery(nbsql.tokens(feature, nbsql.word('given'), nbsql.unit_weight())) | indent(4) }} AS tokens
    {% endfor %}
  ) AS met
  JOIN {{ lookups }} AS lookups ON lookups.feature = met.feature AND lookups.value = met.value
) AS scores
{%- endmacro %}

{# One row as a source, for models without such a short form, which compute the ordinary posteriors of the row. #}
{% macro row_as_source(row) -%}
{% set given -%}
(
  SELECT{% if not row.columns %} 1 AS nbsql_nothing{% endif %}
  {%- for name in row.parameters %}

    {{ nbsql.row_parameter(row, name) }} AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {%- endfor %}

)
{%- endset -%}
{{ nbsql.derived_source(given, row.layers) }}
{%- endmacro %}

{# An answer, or only an error if the model has changed, for a statement that others prepare. #}
{% macro with_change_guard(query, spec, updated_at, message) -%}
SELECT answer.*
FROM {{ nbsql.subquery(query) }} AS answer
JOIN {{ spec }} AS spec
  ON CASE WHEN spec.updated_at = CAST({{ nbsql.text(updated_at) }} AS TIMESTAMP) THEN TRUE ELSE {{ nbsql.raise_error(message) }} END
ORDER BY answer.joint_log_likelihood DESC NULLS LAST, answer.class_no ASC NULLS LAST
{%- endmacro %}

{# An answer with the time of the model's last change, which shows whether it has changed meanwhile. #}
{% macro with_updated_at(query, spec) -%}
SELECT answer.*, spec.updated_at AS nbsql_updated_at
FROM {{ nbsql.subquery(query) }} AS answer
CROSS JOIN {{ spec }} AS spec
{%- endmacro %}
