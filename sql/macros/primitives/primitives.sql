{#
  Expressions in which engines differ and which are too long for the table, primitives.txt, and the three gates through which names, texts
  and numbers enter a statement. The gates here are dbt's. Python renders the same macros with gates of its own
  (nbsql/rendering/dialect.py).
#}

{% macro default__ident(name) -%} "{{ nbsql.with_encoded_line_ends(name) | replace('"', '""') }}" {%- endmacro %}

{% macro default__text(value) -%} '{{ nbsql.with_encoded_line_ends(value) | replace("'", "''") }}' {%- endmacro %}

{# An exponent makes the literal a double: 0.1 alone is a DECIMAL, and sums of decimals overflow. #}
{% macro default__number(value) -%} {{ value }}{% if 'e' not in value | string %}e0{% endif %} {%- endmacro %}

{% macro boolean(value) -%} {% if value %}TRUE{% else %}FALSE{% endif %} {%- endmacro %}

{# A number as a double; NULL for none. #}
{% macro nullable_double(value) -%}
CAST({% if value is none %}NULL{% else %}{{ nbsql.number(value) }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# To stand in a SELECT: numbers that are not known, one a line, in columns of these names. #}
{% macro null_columns(names) -%}
{% for name in names %}CAST(NULL AS {{ nbsql.double() }}) AS {{ nbsql.word(name) }}{{ nbsql.comma_line(loop) }}{% endfor %}
{%- endmacro %}

{# A name of nbsql's own: lower-case letters, digits and underscores; with a dot, the column of a relation. #}
{% macro word(name) -%} {{ name }} {%- endmacro %}

{# The name of a type of numbers with fractions. #}
{% macro fraction(name) -%} {{ name }} {%- endmacro %}

{#
  To follow a text: it is then compared byte by byte, whatever the collation of its column or the session. A table keeps the collation of
  its columns, and expressions inherit it, so it is enough on one side of a comparison.
#}
{% macro default__binary() %} COLLATE "C"{% endmacro %}

{# An expression as a text that is compared byte by byte, and one that is NULL. #}
{% macro text_of(x) -%} CAST({{ x }} AS {{ nbsql.string() }}){{ nbsql.binary() }} {%- endmacro %}
{% macro no_text() -%} CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} {%- endmacro %}

{# A text, or the missing one. #}
{% macro nullable_text(value) -%} {% if value is none %}{{ nbsql.no_text() }}{% else %}{{ nbsql.text(value) }}{% endif %} {%- endmacro %}

{# To precede the query of a common table expression that is read more than once and should be run once. #}
{% macro default__materialized() %}MATERIALIZED {% endmacro %}

{# The opposite: the query is run wherever it is read. #}
{% macro default__not_materialized() %}NOT MATERIALIZED {% endmacro %}

{# The natural logarithm; -infinity for 0, for which some engines raise an error, and NULL for NULL. #}
{% macro safe_ln(x) -%} CASE WHEN {{ x }} <= 0 THEN -{{ nbsql.infinity() }} ELSE ln({{ x }}) END {%- endmacro %}

{# NULL in place of a divisor of 0: the quotient is then unused, and on some engines and settings it would be an error. #}
{% macro null_if_zero(x) -%} nullif({{ x }}, 0) {%- endmacro %}

{# The weight of a row in a model without weights. #}
{% macro unit_weight() -%} {{ nbsql.number(1) }} {%- endmacro %}

{# One row per whole number, from the first up to the one before the end. #}
{% macro default__whole_numbers(first, end) -%}
unnest(range(
      {{ first }},
      {{ end }}
    ))
{%- endmacro %}

{% macro values_to_hash(columns, kinds) -%}
{% for column in columns %}{{ nbsql.value_to_hash(column, kinds[column]) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{# The value of a column, such that its hash does not depend on a collation: since 2.0.1 DuckDB hashes a text as it compares it. #}
{% macro default__value_to_hash(column, kind) -%}
{% set x %}source.{{ nbsql.ident(column) }}{% endset -%}
{% if kind == 'text' %}{{ nbsql.text_of(x) }}
{%- elif kind == 'tokens' %}list_transform({{ x }}, lambda token: encode(token))
{%- elif kind == 'token counts' %}encode(CAST(to_json({{ x }}) AS {{ nbsql.string() }}))
{%- else %}{{ x }}
{%- endif %}
{%- endmacro %}

{% macro subquery(query) -%}
(
  {{ query | indent(2) }}
)
{%- endmacro %}

{#
  Some rows with more columns, each computed once a row, so that a later step may name it often. rows: what follows FROM, with a name;
  columns: pairs of a name and an expression; name: of the relation.
#}
{% macro with_columns(rows, columns, name='computed') -%}
(
  SELECT
    *
    {%- for column, x in columns %},
    {{ x | indent(4) }} AS {{ nbsql.word(column) }}
    {%- endfor +%}
  FROM {{ rows | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS {{ nbsql.word(name) }}
{%- endmacro %}

{# One row: n, the number of rows, or of values of a column. #}
{% macro row_count(source, column=none) -%}
SELECT count({% if column is none %}*{% else %}{{ nbsql.ident(column) }}{% endif %}) AS n FROM {{ source }} AS source
{%- endmacro %}

{# A relation of constants. rows: those of VALUES, rendered; name, columns: of the relation. #}
{% macro default__named_values(rows, name, columns) -%}
(
  VALUES
    {{ rows | indent(4) }}
) AS {{ nbsql.word(name) }}({% for column in columns %}{{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# The same of some items, one row each: a block renders the values of an item and its number, from 1. margin: of its lines. #}
{% macro constants(items, name, columns, margin=0) -%}
{% set rows %}{% for item in items %}({{ caller(item, loop.index) }}){{ nbsql.comma_line(loop) }}{% endfor %}{% endset -%}
{{ nbsql.named_values(rows, name, columns) | indent(margin) }}
{%- endmacro %}

{# One row per feature: feature, position, from 1. #}
{% macro numbered_features(features) -%}
{% call(feature, place) nbsql.constants(features, 'features', ['feature', 'position']) -%}
{{ nbsql.text(feature.name) }}, {{ place }}
{%- endcall %}
{%- endmacro %}

{# The columns that a count reads, read once, for a source that costs more to read than a table. #}
{% macro selected_columns(source, columns) -%}
SELECT
  {% for column in columns %}
  source.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}
