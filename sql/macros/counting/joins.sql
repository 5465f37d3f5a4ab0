{#
  Features that live in dimension tables. A dimension has a row a key; the macros know of it

    relation  where it is
    pairs     an expression over the source, or over the dimensions before it, and the column that it equals, for every key column
    columns   pairs of a column and the name that it has in the joined source
    scored    none, or a model of the features that its rows are scored by before they are joined (nbsql/plan/dimension_scores.py)
    passed    those of the columns that are joined by themselves
    place     its number among the dimensions, from 1
#}

{#
  The rows of a source, each with the columns of the row of every dimension that has its key, NULL where none has.

  A column that a dimension brings stands alone, so that a source that has one of that name is refused as ambiguous; but for one
  named `source`, which in a table macro would be its argument. Numbered: with the number of the row, from before the joins,
  which keep no order.
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
    {%- for k in dimension.scored_model.class_numbers %},
    dimension_{{ dimension.place }}.nbsql_said_{{ dimension.place }}_{{ k }}
    {%- endfor %}
    {%- endif %}
    {%- endfor %}

  FROM {% if numbered %}(
    SELECT {{ nbsql.row_id() }} AS nbsql_row, source.* FROM {{ source }} AS source
  ){% else %}{{ source }}{% endif %} AS source
  {%- for dimension in dimensions %}

  LEFT JOIN (
    {% if dimension.scored_model %}
    {{ nbsql.scored_dimension(dimension, parameters, lookups) | indent(4) }}
    {% else %}
    {{ nbsql.dimension_rows(dimension, dimension.columns) | indent(4) }}
    {% endif %}
  ) AS dimension_{{ dimension.place }} ON {{ nbsql.keys_are_equal(dimension, dimension.place) }}
  {%- endfor %}

)
{%- endmacro %}

{# The rows of a dimension: its key as nbsql_key_1, nbsql_key_2, ..., and some of its columns under the names that they are to have. #}
{% macro dimension_rows(dimension, columns) -%}
SELECT
  {% for _, column in dimension.pairs %}
  {% set x %}dimension.{{ nbsql.ident(column) }}{% endset %}
  {{ nbsql.as_key(x, dimension.dimension.types[loop.index0]) }} AS nbsql_key_{{ loop.index }}
  {%- if columns %},{% else %}{{ nbsql.comma(loop) }}{% endif %}

  {% endfor %}
  {% for column, name in columns %}
  dimension.{{ nbsql.ident(column) }} AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ dimension.relation }} AS dimension
{%- endmacro %}

{#
  The rows of a dimension, scored: its key and the columns that are passed on, and nbsql_said_1_2, what the features of the first
  dimension say for the second class.
#}
{% macro scored_dimension(dimension, parameters, lookups) -%}
{% set model = dimension.scored_model -%}
{% set relation -%}
(
  {{ nbsql.dimension_rows(dimension, dimension.columns) | indent(2) }}
)
{%- endset -%}
{% if model.has_row_numbers -%}
WITH {{ nbsql.numbered_source(model, relation, parameters, lookups) }}
{%- if model.category_blocks %},
{{ nbsql.block_sums(model, parameters, lookups) }}
{%- endif %}
{%- for feature in model.features | selectattr('family.bag') %},
{{ nbsql.bag_sums(model, feature, lookups, parameters) }}
{%- endfor %}

{% set relation = nbsql.word('numbered') -%}
{% endif -%}
SELECT
  {% for _ in dimension.pairs %}
  joint.nbsql_key_{{ loop.index }},
  {% endfor %}
  {% for _, name in dimension.passed_columns %}
  joint.{{ nbsql.ident(name) }},
  {% endfor %}
  {% for k in model.class_numbers %}
  {% set score %}joint.nbsql_joint_{{ k }}{% if model.features_with_common_term %} + joint.nbsql_common{% endif %}{% endset %}
  {{ score }} AS nbsql_said_{{ dimension.place }}_{{ k }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  {{ nbsql.joint_scores(model, relation, parameters, lookups) | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS joint
{%- endmacro %}

{# The condition of a join: the columns of the key of a row are those of the dimension. #}
{% macro keys_are_equal(dimension, place) -%}
{% for expression, _ in dimension.pairs -%}
{% set key = nbsql.as_key(expression, dimension.dimension.types[loop.index0]) -%}
dimension_{{ place }}.nbsql_key_{{ loop.index }} = {{ key }}{% if not loop.last %} AND {% endif %}
{%- endfor %}
{%- endmacro %}

{# A key of a type, as it is compared. #}
{% macro as_key(x, type) -%}
{% if type | lower == 'varchar' %}CAST({{ x }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% else %}{{ x }}{% endif %}
{%- endmacro %}

{# A column of a key of a dimension, as text. #}
{% macro key_as_text(column) -%}
CAST(dimension.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endmacro %}

{# At most one row, a key that a dimension has more than once: key_1, key_2, ... (its columns as text), and rows, how often. #}
{% macro repeated_key(relation, columns) -%}
SELECT
  {% for column in columns %}
  {{ nbsql.key_as_text(column) }} AS key_{{ loop.index }},
  {% endfor %}
  count(*) AS rows
FROM {{ relation }} AS dimension
WHERE {% for column in columns %}dimension.{{ nbsql.ident(column) }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor %}

GROUP BY {% for column in columns %}{{ nbsql.key_as_text(column) }}{% if not loop.last %}, {% endif %}{% endfor %}

HAVING count(*) > 1
ORDER BY {% for column in columns %}key_{{ loop.index }} ASC NULLS LAST{% if not loop.last %}, {% endif %}{% endfor %}

LIMIT 1
{%- endmacro %}

{#
  How often each key of the facts met each class, or with what weight: a row a class, slice and key, with the class under its own
  name, the columns of the key as nbsql_key_1, nbsql_key_2, ..., and nbsql_weight. Rows of weight 0 are among them: a rule that a
  value breaks is broken whatever its row weighs.
#}
{% macro counted_keys(model, source, keys) -%}
{% set by -%}
{{ nbsql.target(model) }}
{%- if model.slice_by %}, source.nbsql_slice{% endif %}
{%- for key, type in keys -%}
{% set x %}source.{{ nbsql.ident(key) }}{% endset %}, {{ nbsql.as_key(x, type) }}
{%- endfor %}
{%- endset -%}
SELECT
  {{ nbsql.target(model) }} AS {{ nbsql.ident(model.target) }},
  {% if model.slice_by %}
  source.nbsql_slice,
  {% endif %}
  {% for key, type in keys %}
  {% set x %}source.{{ nbsql.ident(key) }}{% endset %}
  {{ nbsql.as_key(x, type) }} AS nbsql_key_{{ loop.index }},
  {% endfor %}
  CAST({{ nbsql.size(model) }} AS {{ nbsql.double() }}) AS nbsql_weight
FROM {{ source }} AS source
WHERE {{ nbsql.target(model) }} IS NOT NULL
GROUP BY {{ by }}
{%- endmacro %}
