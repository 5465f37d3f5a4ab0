{# SQLite's own forms (3.35 and later, with its mathematical functions). A macro sqlite__name takes the place of the macro `name`. #}

{# A number of a column. A text without a digit, such as the empty one that .import leaves in a column of numbers, is missing, not 0. #}
{% macro sqlite__number_of(column, relation=none) -%}
{% set x %}{{ relation or nbsql.word('source') }}.{{ nbsql.ident(column) }}{% endset -%}
CASE WHEN TYPEOF({{ x }}) <> 'text' OR {{ x }} GLOB '*[0-9]*' THEN CAST({{ x }} AS REAL) END
{%- endmacro %}

{# A date or time is a text of ISO 8601; one with a time zone is read in UTC. Another text is missing, and so is a number. #}
{% macro sqlite__part_of_time(x, part) -%}
{% set format = {'year': '%Y', 'month': '%m', 'day': '%d', 'hour': '%H', 'minute': '%M', 'weekday': '%w'}[part] -%}
CASE WHEN TYPEOF({{ x }}) = 'text' THEN CAST(STRFTIME({{ nbsql.text(format) }}, {{ x }}) AS INTEGER) END
{%- endmacro %}

{% macro sqlite__binary() %} COLLATE BINARY{% endmacro %}

{# SQLite merges a sub-select with what reads it, and computes its columns again for each use, unless it has an offset. #}
{% macro sqlite__optimisation_fence() %}

LIMIT -1 OFFSET 0
{%- endmacro %}

{# Numbers of which each is replaced by another one where it is NULL. #}
{% macro known_numbers(values) -%}
{% for value in values -%}
coalesce({{ value }}{% for other in values if other != value %}, {{ other }}{% endfor %}){{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endmacro %}

{# The first SELECT, without a row, names the columns. #}
{% macro sqlite__named_values(rows, name, columns) -%}
(
  SELECT {% for column in columns %}NULL AS {{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor %} WHERE FALSE
  UNION ALL
  VALUES
    {{ rows | indent(4) }}
) AS {{ nbsql.word(name) }}
{%- endmacro %}

{# A source with the slice of each row. A whole number is written without a fraction, whatever its type. #}
{% macro sqlite__with_slices(source, expression) -%}
(
  SELECT
    source.*,
    CAST(CASE WHEN ({{ expression }}) = CAST(({{ expression }}) AS INTEGER) AND TYPEOF(({{ expression }})) = 'real'
      THEN CAST(({{ expression }}) AS INTEGER) ELSE ({{ expression }}) END AS TEXT) COLLATE BINARY AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{# A value as text: a whole number without a fraction and another number with one, whatever the type of its column. #}
{% macro sqlite__text_as_fitted(feature, column, whole, x) -%}
{% if whole -%}
CASE WHEN {{ x }} = CAST({{ x }} AS INTEGER) THEN CAST(CAST({{ x }} AS INTEGER) AS TEXT) ELSE CAST({{ x }} AS TEXT) END
{%- elif column in feature.fraction_types -%}
CASE WHEN TYPEOF({{ x }}) = 'text' THEN {{ x }} ELSE CAST(CAST({{ x }} AS REAL) AS TEXT) END
{%- else -%}
CAST({{ x }} AS TEXT)
{%- endif %} COLLATE BINARY
{%- endmacro %}
