{#
  Features that live in dimension tables. A dimension has one row per key, and these attributes:

    relation  its relation
    pairs     for every key column, an expression over the source or over earlier dimensions, and the column that it equals
    columns   pairs of a column and its name in the joined source
    scored    none, or a model of the features by which its rows are scored before the join (nbsql/plan/joins.py)
    passed    those of the columns that are joined as they are
    place     its number among the dimensions, from 1
#}

{#
  The rows of a source, each joined with the row of every dimension that has its key; the columns are NULL if there is none.

  A column of a dimension appears under its bare name, so a source with a column of the same name is refused as ambiguous. The exception
  is a column named `source`, which in a table macro would be the macro's argument. numbered: adds the row number from before the joins,
  because joins do not keep the order.
#}
{% macro joined_source(source, dimensions, numbered=false, parameters=none, lookups=none) -%}
(
  SELECT
    source.*
    {%- for dimension in dimensions %}
    {%- for _, name in dimension.passed_columns %},
    {%+ if name | lower == 'source' %}dimension_{{ dimension.place }}.{%+ endif %}{{ nbsql.ident(name) }}
    {%- endfor %}
    {%- if dimension.scored_model %}
    {%- for k in dimension.scored_model.form.class_numbers %},
    dimension_{{ dimension.place }}.nbsql_dimension_{{ dimension.place }}_class_{{ k }}
    {%- endfor %}
    {%- endif %}
    {%- endfor +%}
  FROM {% if numbered %}(
    SELECT {{ nbsql.row_id() }} AS nbsql_row, source.* FROM {{ source }} AS source
  ){% else %}{{ source }}{% endif %} AS source
  {% for dimension in dimensions %}
  LEFT JOIN (
    {% if dimension.scored_model %}
    {{ nbsql.scored_dimension(dimension, parameters, lookups) | indent(4) }}
    {% else %}
    {{ nbsql.dimension_rows(dimension, dimension.columns) | indent(4) }}
    {% endif %}
  ) AS dimension_{{ dimension.place }} ON {{ nbsql.keys_are_equal(dimension, dimension.place) }}
  {% endfor %}
)
{%- endmacro %}

{# The rows of a dimension: its key as nbsql_key_1, nbsql_key_2, ..., and some of its columns under their names in the joined source. #}
{% macro dimension_rows(dimension, columns) -%}
SELECT
  {% for _, column in dimension.pairs %}
  {% set x %}dimension.{{ nbsql.ident(column) }}{% endset %}
  {{ nbsql.as_key(x, dimension.dimension.types[loop.index0]) }} AS nbsql_key_{{ loop.index }}
  {%- if columns %},{% else %}{{ nbsql.comma(loop) }}{% endif +%}
  {% endfor %}
  {% for column, name in columns %}
  dimension.{{ nbsql.ident(column) }} AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ dimension.relation }} AS dimension
{%- endmacro %}

{#
  The scored rows of a dimension: its key, the columns that are passed on, and nbsql_dimension_1_class_2, the sum of the terms of the first
  dimension's features for the second class.
#}
{% macro scored_dimension(dimension, parameters, lookups) -%}
{% set model = dimension.scored_model -%}
{% set relation -%}
{{ nbsql.subquery(nbsql.dimension_rows(dimension, dimension.columns)) }}
{%- endset -%}
{% if model.has_row_numbers -%}
WITH {{ nbsql.numbered_source(model, relation, parameters, lookups) }}
{%- if model.form.category_blocks %},
{{ nbsql.block_sums(model, parameters, lookups) }}
{%- endif %}
{%- for feature in model.facts.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model, feature, lookups, parameters) }}
{%- endfor +%}
{% set relation = nbsql.word('numbered') -%}
{% endif -%}
SELECT
  {% for _ in dimension.pairs %}
  joint.nbsql_key_{{ loop.index }},
  {% endfor %}
  {% for _, name in dimension.passed_columns %}
  joint.{{ nbsql.ident(name) }},
  {% endfor %}
  {% for k in model.form.class_numbers %}
  {% set score %}joint.nbsql_joint_{{ k }}{% if model.form.features_with_common_term %} + joint.nbsql_common{% endif %}{% endset %}
  {{ score }} AS nbsql_dimension_{{ dimension.place }}_class_{{ k }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  {{ nbsql.joint_scores(model, relation, parameters, lookups) | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS joint
{%- endmacro %}

{# The join condition: the key of a row equals the key columns of the dimension. #}
{% macro keys_are_equal(dimension, place) -%}
{% for expression, _ in dimension.pairs -%}
{% set key = nbsql.as_key(expression, dimension.dimension.types[loop.index0]) -%}
dimension_{{ place }}.nbsql_key_{{ loop.index }} = {{ key }}{% if not loop.last %} AND {% endif %}
{%- endfor %}
{%- endmacro %}

{# A key of a type, as it is compared. #}
{% macro as_key(x, type) -%} {% if type | lower == 'varchar' %}{{ nbsql.text_of(x) }}{% else %}{{ x }}{% endif %} {%- endmacro %}

{# A key column of a dimension, as text. #}
{% macro key_as_text(column) -%} CAST(dimension.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }} {%- endmacro %}

{# At most one row, a key that occurs more than once in a dimension: key_1, key_2, ... (as text), and rows, the number of occurrences. #}
{% macro repeated_key(relation, columns) -%}
SELECT
  {% for column in columns %}
  {{ nbsql.key_as_text(column) }} AS key_{{ loop.index }},
  {% endfor %}
  count(*) AS rows
FROM {{ relation }} AS dimension
WHERE {% for column in columns %}dimension.{{ nbsql.ident(column) }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor +%}
GROUP BY {% for column in columns %}{{ nbsql.key_as_text(column) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
HAVING count(*) > 1
ORDER BY {% for column in columns %}key_{{ loop.index }} ASC NULLS LAST{{ nbsql.comma_blank(loop) }}{% endfor +%}
LIMIT 1
{%- endmacro %}

{#
  One row per class, slice and key of the fact rows: the class under its own name, the key columns as nbsql_key_1, nbsql_key_2, ..., and
  nbsql_weight, the number of rows or the sum of their weights. Rows of weight 0 are included, because a value breaks a rule whatever its
  row weighs.
#}
{% macro counted_keys(model, source, keys) -%}
{% set by -%}
{{ nbsql.target(model) }}
{%- if model.facts.slice_by %}, source.nbsql_slice{% endif %}
{%- for key, type in keys -%}
{% set x %}source.{{ nbsql.ident(key) }}{% endset %}, {{ nbsql.as_key(x, type) }}
{%- endfor %}
{%- endset -%}
SELECT
  {{ nbsql.target(model) }} AS {{ nbsql.ident(model.spec.target) }},
  {% if model.facts.slice_by %}
  source.nbsql_slice,
  {% endif %}
  {% for key, type in keys %}
  {% set x %}source.{{ nbsql.ident(key) }}{% endset %}
  {{ nbsql.as_key(x, type) }} AS nbsql_key_{{ loop.index }},
  {% endfor %}
  CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS nbsql_weight
FROM {{ source }} AS source
WHERE {{ nbsql.target(model) }} IS NOT NULL
GROUP BY {{ by }}
{%- endmacro %}
