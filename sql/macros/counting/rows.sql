{# The parts of a row that counting statements read: its label, its slice, its weight, and the column names of a feature. #}

{# The slice of a cell: a column if the model has slices, else NULL. #}
{% macro cell_slice(model) -%} {% if model.facts.slice_by %}slice{% else %}{{ nbsql.no_text() }}{% endif +%} {%- endmacro %}

{# The columns by which the rows of a scan are grouped. #}
{% macro class_and_slice(model) -%} class{% if model.facts.slice_by %}, slice{% endif %} {%- endmacro %}

{#
  A source with the slice of each row, from an expression of the user's. A whole number is written without a fraction whatever its type: a
  frame with a gap in a column of whole numbers holds doubles, and 1.0 must find the slice that 1 made.
#}
{% macro default__with_slices(source, expression) -%}
{% set text %}CAST(({{ expression }}) AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
(
  SELECT
    source.*,
    CASE
      WHEN lower(typeof(({{ expression }}))) IN ('double', 'float') THEN regexp_replace({{ text }}, '[.]0$', '')
      ELSE {{ text }}
    END AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{# The ending of a column name in a scan: mean_3 belongs to the third feature, x_3_2 to the second column of the third feature. #}
{% macro feature_suffix(feature, column=none) -%} _{{ feature.index }}{% if column is not none %}_{{ column }}{% endif %} {%- endmacro %}

{# The name of a column of a feature. #}
{% macro of_feature(name, feature, column=none) -%} {{ nbsql.word(name) }}{{ nbsql.feature_suffix(feature, column) }} {%- endmacro %}


{# A comma, except in the last iteration of a loop: at the end of a line of the loop. #}
{% macro comma(iteration) -%} {% if not iteration.last %},{% endif %} {%- endmacro %}

{# The same within a line, with a blank. #}
{% macro comma_blank(iteration) %}{% if not iteration.last %}, {% endif %}{% endmacro %}

{# The same with the end of the line. #}
{% macro comma_line(iteration) -%}
{% if not iteration.last %},
{% endif %}
{%- endmacro %}

{# The same between queries of which all rows are returned. #}
{% macro union_all(iteration) %}
{% if not iteration.last +%}
UNION ALL
{% endif %}
{%- endmacro %}

{# To stand in a SELECT: columns of a relation, one a line, each followed by a comma. #}
{% macro listed_columns(relation, columns) -%}
{% for column in columns %}{{ relation }}.{{ nbsql.ident(column) }},{% if not loop.last +%}
{% endif %}{% endfor %}
{%- endmacro %}

{# The class of a row, as labels are compared. It is cast if the classes are texts, because its column may be an ENUM. #}
{% macro target(model) -%}
{% set label %}source.{{ nbsql.ident(model.spec.target) }}{% endset -%}
{% set text %}CAST({{ label }} AS {{ nbsql.string() }}){% endset -%}
{{ nbsql.as_label(text if nbsql.is_text(model.spec.target_type) else label, model.spec.target_type) }}
{%- endmacro %}

{# A label, given as text, in the type of the classes. #}
{% macro class_literal(label, type) -%}
CAST({{ nbsql.text(label) }} AS {{ type }}){% if nbsql.is_text(type) %}{{ nbsql.binary() }}{% endif %}
{%- endmacro %}

{# Renders something if the type is one of texts, else nothing. #}
{% macro is_text(type) %}{% if type | lower in ['varchar', 'text', 'character varying'] %}yes{% endif %}{% endmacro %}

{# The weight of a row. #}
{% macro weight(model) -%} CAST(source.{{ nbsql.ident(model.spec.weight) }} AS {{ nbsql.double() }}) {%- endmacro %}

{# The same, and 1 in a model without weights. #}
{% macro row_weight(model) -%}
{% if model.spec.weight %}{{ nbsql.weight(model) }}{% else %}{{ nbsql.unit_weight() }}{% endif %}
{%- endmacro %}

{# To stand in a SELECT: the class of a row, its slice if the model has slices, and its weight if rows have weights. #}
{% macro counted_columns(model) -%}
{{ nbsql.target(model) }} AS class
{%- if model.facts.slice_by %},
source.nbsql_slice AS slice
{%- endif %}
{%- if model.spec.weight %},
{{ nbsql.weight(model) }} AS weight
{%- endif %}
{%- endmacro %}

{# The number of rows for which x is not NULL, or the sum of their weights. #}
{% macro weighted_count(model, x) -%}
{% if model.spec.weight %}sum(CASE WHEN {{ x }} IS NOT NULL THEN weight ELSE 0 END){% else %}count({{ x }}){% endif %}
{%- endmacro %}

{# The weighted sum of x over the rows of a class. #}
{% macro class_total(model, x) -%} {% if model.spec.weight %}sum(weight * {{ x }}){% else %}sum({{ x }}){% endif %} {%- endmacro %}

{# The condition that a row counts. A row of weight 0 counts for nothing, and neither do its values. #}
{% macro is_counted(model) -%}
{{ nbsql.target(model) }} IS NOT NULL{% if model.spec.weight %} AND {{ nbsql.weight(model) }} > 0{% endif %}
{%- endmacro %}

{#
  One row per slice that still has rows, oldest first: slice, n, age (0 is the newest). Slices are ordered as numbers if they are numbers,
  else as texts, which sorts ISO dates correctly.
#}
{% macro slices(statistics) -%}
SELECT slice, n, row_number() OVER (ORDER BY {{ nbsql.as_number(nbsql.word('slice')) }} DESC NULLS LAST, slice DESC NULLS LAST) - 1 AS age
FROM {{ nbsql.subquery(nbsql.class_counts(statistics, ['slice'], sliced=true)) }} AS counts
{%- endmacro %}

{#
  One row per row and item, each of which has an index: class, weight, feature (the index) and x, the expression of the item, which a block
  renders. So a statement about many columns stays short.
#}
{% macro values_of_features(model, source, items) -%}
{% set expression = caller -%}
{% set indexes %}{% call(item) nbsql.array_of_each(items) %}{{ item.index }}{% endcall %}{% endset -%}
{% set values %}{% call(item) nbsql.array_of_each(items) %}{{ expression(item) }}{% endcall %}{% endset -%}
SELECT
  {{ nbsql.target(model) }} AS class,
  {{ nbsql.row_weight(model) }} AS weight,
  {% if items | length == 1 %}
  {{ items[0].index }} AS feature,
  {{ expression(items[0]) }} AS x
  {% else %}
  {{ nbsql.unnested([indexes, values], ['feature', 'x']) | indent(2) }}
  {% endif %}
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}
