{#
  What differs from engine to engine, and the three gates by which names, texts and numbers enter a statement.
  The gates here are dbt's; Python renders the same macros with gates of its own (nbsql/rendering/dialect.py).
#}

{% macro default__ident(name) -%}
"{{ nbsql.with_encoded_line_ends(name) | replace('"', '""') }}"
{%- endmacro %}

{# The name of a column that is made from a label. #}
{% macro default__output(name) -%}
{{ nbsql.ident(name) }}
{%- endmacro %}

{% macro default__text(value) -%}
'{{ nbsql.with_encoded_line_ends(value) | replace("'", "''") }}'
{%- endmacro %}

{# An exponent makes the literal a double: 0.1 alone is DECIMAL, and sums of decimals overflow. #}
{% macro default__number(value) -%}
{{ value }}{% if 'e' not in value | string %}e0{% endif %}
{%- endmacro %}

{% macro nullable_double(value) -%}
CAST({% if value is none %}NULL{% else %}{{ nbsql.number(value) }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# A name of our own: lower-case letters, digits and underscores. #}
{% macro word(name) -%}
{{ name }}
{%- endmacro %}

{# The name of a type of numbers that need not be whole. #}
{% macro fraction(name) -%}
{{ name }}
{%- endmacro %}


{% macro default__double() -%} DOUBLE {%- endmacro %}

{% macro default__string() -%} VARCHAR {%- endmacro %}

{#
  After a text: it is compared byte by byte, whatever the collation of its column or of the session is. A column of a table keeps that, and
  so does what is made of it, so that one side of a comparison is enough.
#}
{% macro default__binary() %} COLLATE "C"{% endmacro %}

{# Whether two relations have the same `value`, a text, or none. #}
{% macro default__same_value(a, b) -%} {{ a }}.value IS NOT DISTINCT FROM {{ b }}.value {%- endmacro %}

{# Before the brackets of a list. #}
{% macro default__array() %}{% endmacro %}

{# An element of a list, the first being 1. #}
{% macro default__element(list, position) -%}
{{ list }}[{{ position }}]
{%- endmacro %}

{# What tells one row of a relation from another. #}
{% macro default__row_id() -%} row_number() OVER () {%- endmacro %}

{# After WITH, where a common table expression may read itself. #}
{% macro default__recursive() %}RECURSIVE {% endmacro %}

{# Before the query of a common table expression that is read more than once, and is to be run once. #}
{% macro default__materialized() %}MATERIALIZED {% endmacro %}

{# The end of a query that is to be run once a row, and not again wherever its columns are read, where no word says so. #}
{% macro default__run_once() %}{% endmacro %}

{# The opposite: it is to be run wherever it is read. #}
{% macro default__not_materialized() %}NOT MATERIALIZED {% endmacro %}

{# After SELECT, the joined relations that have few rows, for an engine that does not know the size of what is in memory. #}
{% macro default__broadcast_hint(names) %}{% endmacro %}

{# The values of x as a list. #}
{% macro default__ordered_list(x, by) -%}
list({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}

{# The list of a group, in no order. #}
{% macro default__collected(x) -%} list({{ x }}) {%- endmacro %}

{% macro default__infinity() -%} CAST('infinity' AS {{ nbsql.double() }}) {%- endmacro %}

{# 0 has the logarithm -infinity, where some engines raise an error; NULL has none. #}
{% macro safe_ln(x) -%}
CASE WHEN {{ x }} <= 0 THEN -{{ nbsql.infinity() }} ELSE ln({{ x }}) END
{%- endmacro %}

{# What is divided by, where it may be 0: the quotient is of no use then, and to some engines and settings an error. #}
{% macro null_if_zero(x) -%}
nullif({{ x }}, 0)
{%- endmacro %}

{# The weight of a row without one. #}
{% macro default__unit_weight() -%} {{ nbsql.number(1) }} {%- endmacro %}

{% macro default__square(x) -%}
{{ x }} * {{ x }}
{%- endmacro %}

{# weight: at least 0. #}
{% macro default__weighted_square(weight, x) -%}
{{ weight }} * {{ nbsql.square(x) }}
{%- endmacro %}

{# careful: whether either may be so near 0 that the product is below every double. #}
{% macro default__product(a, b, careful=false) -%}
{{ a }} * {{ b }}
{%- endmacro %}

{# Of a list. #}
{% macro default__sum_of_squares(x) -%}
list_dot_product({{ x }}, {{ x }})
{%- endmacro %}

{# The greatest of a group, of any type that has an order. #}
{% macro default__maximum(x) -%}
max({{ x }})
{%- endmacro %}

{# Of a group: x where y is highest, of those that are not NULL; where several are, that of the last text. #}
{% macro default__value_at_maximum(x, y, text) -%}
arg_max({{ x }}, row({{ y }}, {{ text }})) FILTER (WHERE {{ y }} IS NOT NULL)
{%- endmacro %}

{# A row a whole number, from the first up to the one before the end. #}
{% macro default__whole_numbers(first, end) -%}
unnest(range(
      {{ first }},
      {{ end }}
    ))
{%- endmacro %}

{# The number that a text holds, or NULL. #}
{% macro default__as_number(x) -%}
TRY_CAST({{ x }} AS {{ nbsql.double() }})
{%- endmacro %}

{# A whole number of 64 bits, from the values of some columns, of which kinds has what each is (nbsql/spec/column.py), by name. #}
{% macro default__hash_of(columns, kinds) -%}
hash({{ nbsql.values_to_hash(columns, kinds) }})
{%- endmacro %}

{% macro values_to_hash(columns, kinds) -%}
{% for column in columns %}{{ nbsql.value_to_hash(column, kinds[column]) }}{% if not loop.last %}, {% endif %}{% endfor %}
{%- endmacro %}

{# The value of a column, so that its hash does not hang on a collation: DuckDB hashes a text as it compares it, from 2.0.1 on. #}
{% macro default__value_to_hash(column, kind) -%}
{% set x %}source.{{ nbsql.ident(column) }}{% endset -%}
{% if kind == 'text' %}CAST({{ x }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- elif kind == 'tokens' %}list_transform({{ x }}, lambda token: encode(token))
{%- elif kind == 'token counts' %}encode(CAST(to_json({{ x }}) AS {{ nbsql.string() }}))
{%- else %}{{ x }}
{%- endif %}
{%- endmacro %}

{# What engines may refuse to compute where the power is below every double. #}
{% macro default__exp(x) -%}
exp({{ x }})
{%- endmacro %}

{#
  NaN, the infinities and numbers whose square would be infinite count as missing. NaN compares as greater than every
  number, so that one comparison finds them all.
#}
{% macro default__finite(x) -%}
CASE WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}

{% macro subquery(query) -%}
(
  {{ query | indent(2) }}
)
{%- endmacro %}

{% macro row_count(source, column=none) -%}
SELECT count({% if column is none %}*{% else %}{{ nbsql.ident(column) }}{% endif %}) AS n FROM {{ source }} AS source
{%- endmacro %}

{# The columns that a count reads, once, for a source that costs more to read than a table. #}
{% macro selected_columns(source, columns) -%}
SELECT
  {% for column in columns %}
  source.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}
