{#
  The expressions in which engines differ, and the three gates through which names, texts and numbers enter a statement. The gates here
  are dbt's. Python renders the same macros with gates of its own (nbsql/rendering/dialect.py).
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

{# An exponent makes the literal a double: 0.1 alone is a DECIMAL, and sums of decimals overflow. #}
{% macro default__number(value) -%}
{{ value }}{% if 'e' not in value | string %}e0{% endif %}
{%- endmacro %}

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
{% macro word(name) -%}
{{ name }}
{%- endmacro %}

{# The name of a type of numbers with fractions. #}
{% macro fraction(name) -%}
{{ name }}
{%- endmacro %}

{% macro default__double() -%} DOUBLE {%- endmacro %}

{% macro default__string() -%} VARCHAR {%- endmacro %}

{#
  To follow a text: it is then compared byte by byte, whatever the collation of its column or the session. A table keeps the collation of
  its columns, and expressions inherit it, so it is enough on one side of a comparison.
#}
{% macro default__binary() %} COLLATE "C"{% endmacro %}

{# Whether two relations have the same `value`, which is a text or NULL. #}
{% macro default__same_value(a, b) -%} {{ a }}.value IS NOT DISTINCT FROM {{ b }}.value {%- endmacro %}

{# To precede the brackets of a list. #}
{% macro default__array() %}{% endmacro %}

{# An element of a list, from 1. #}
{% macro default__element(list, position) -%}
{{ list }}[{{ position }}]
{%- endmacro %}

{# A number that identifies a row of a relation. #}
{% macro default__row_id() -%} row_number() OVER () {%- endmacro %}

{# To follow WITH, if a common table expression may read itself. #}
{% macro default__recursive() %}RECURSIVE {% endmacro %}

{# To precede the query of a common table expression that is read more than once and should be run once. #}
{% macro default__materialized() %}MATERIALIZED {% endmacro %}

{# The end of a query that should be run once a row, and not again wherever its columns are read, for engines without a keyword for this. #}
{% macro default__run_once() %}{% endmacro %}

{# The opposite: the query is run wherever it is read. #}
{% macro default__not_materialized() %}NOT MATERIALIZED {% endmacro %}

{# To follow SELECT: a hint that names the small joined relations, for an engine that does not know the size of tables in memory. #}
{% macro default__broadcast_hint(names) %}{% endmacro %}

{# The list of the values of x, in the order of another expression. #}
{% macro default__ordered_list(x, by) -%}
list({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}

{# The list of the values of a group, in no order. #}
{% macro default__collected(x) -%} list({{ x }}) {%- endmacro %}

{% macro default__infinity() -%} CAST('infinity' AS {{ nbsql.double() }}) {%- endmacro %}

{# The natural logarithm; -infinity for 0, for which some engines raise an error, and NULL for NULL. #}
{% macro safe_ln(x) -%}
CASE WHEN {{ x }} <= 0 THEN -{{ nbsql.infinity() }} ELSE ln({{ x }}) END
{%- endmacro %}

{# The largest whole number that a number is not below, for doubles of any size. #}
{% macro default__floor_of(x) -%}
floor({{ x }})
{%- endmacro %}

{# NULL in place of a divisor of 0: the quotient is then unused, and on some engines and settings it would be an error. #}
{% macro null_if_zero(x) -%}
nullif({{ x }}, 0)
{%- endmacro %}

{# The weight of a row in a model without weights. #}
{% macro unit_weight() -%} {{ nbsql.number(1) }} {%- endmacro %}

{% macro default__square(x) -%}
{{ x }} * {{ x }}
{%- endmacro %}

{# weight: at least 0. #}
{% macro default__weighted_square(weight, x) -%}
{{ weight }} * {{ nbsql.square(x) }}
{%- endmacro %}

{# careful: whether either factor may be so near 0 that the product falls below the range of a double. #}
{% macro default__product(a, b, careful=false) -%}
{{ a }} * {{ b }}
{%- endmacro %}

{# The sum of the squares of a list. #}
{% macro default__sum_of_squares(x) -%}
list_dot_product({{ x }}, {{ x }})
{%- endmacro %}

{# An aggregate: the largest value, of any type that has an order. #}
{% macro default__maximum(x) -%}
max({{ x }})
{%- endmacro %}

{# An aggregate: x, which may be NULL, where y is largest, among rows where y is not NULL; in a tie the row with the last text decides. #}
{% macro default__value_at_maximum(x, y, text) -%}
arg_max_null({{ x }}, row({{ y }}, coalesce({{ text }}, ''))) FILTER (WHERE {{ y }} IS NOT NULL)
{%- endmacro %}

{# One row a whole number, from the first up to the one before the end. #}
{% macro default__whole_numbers(first, end) -%}
unnest(range(
      {{ first }},
      {{ end }}
    ))
{%- endmacro %}

{# The number in a text, or NULL. #}
{% macro default__as_number(x) -%}
TRY_CAST({{ x }} AS {{ nbsql.double() }})
{%- endmacro %}

{# A 64-bit whole number, the hash of the values of some columns. kinds: the kind of each column (nbsql/spec/column.py), by name. #}
{% macro default__hash_of(columns, kinds) -%}
hash({{ nbsql.values_to_hash(columns, kinds) }})
{%- endmacro %}

{% macro values_to_hash(columns, kinds) -%}
{% for column in columns %}{{ nbsql.value_to_hash(column, kinds[column]) }}{% if not loop.last %}, {% endif %}{% endfor %}
{%- endmacro %}

{# The value of a column, such that its hash does not depend on a collation: since 2.0.1 DuckDB hashes a text as it compares it. #}
{% macro default__value_to_hash(column, kind) -%}
{% set x %}source.{{ nbsql.ident(column) }}{% endset -%}
{% if kind == 'text' %}CAST({{ x }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- elif kind == 'tokens' %}list_transform({{ x }}, lambda token: encode(token))
{%- elif kind == 'token counts' %}encode(CAST(to_json({{ x }}) AS {{ nbsql.string() }}))
{%- else %}{{ x }}
{%- endif %}
{%- endmacro %}

{# The exponential function. Engines may raise an error if the result falls below the range of a double. #}
{% macro default__exp(x) -%}
exp({{ x }})
{%- endmacro %}

{#
  NULL for NaN, the infinities and numbers whose square would be infinite, which count as missing. NaN compares as greater than every
  number, so one comparison finds them all.
#}
{% macro default__finite(x) -%}
CASE WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}

{% macro subquery(query) -%}
(
  {{ query | indent(2) }}
)
{%- endmacro %}

{# One row: n, the number of rows, or of values of a column. #}
{% macro row_count(source, column=none) -%}
SELECT count({% if column is none %}*{% else %}{{ nbsql.ident(column) }}{% endif %}) AS n FROM {{ source }} AS source
{%- endmacro %}

{# The columns that a count reads, read once, for a source that costs more to read than a table. #}
{% macro selected_columns(source, columns) -%}
SELECT
  {% for column in columns %}
  source.{{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{#
  An error with a message, as a condition; never TRUE. text: a text of the row, for engines that would else raise it before they read one.
#}
{% macro default__raise_error(message, text=none) -%}
error({{ nbsql.text(message) }})
{%- endmacro %}
