{#
  What differs from engine to engine, and the three gates by which names, texts and numbers enter a statement.
  The gates here are dbt's; Python renders the same macros with gates of its own (nbsql/dialect.py).
#}

{% macro ident(name) -%}
"{{ nbsql.kept(name) | replace('"', '""') }}"
{%- endmacro %}

{# The name of a column that is made from a label. #}
{% macro output(name) -%}
{{ nbsql.ident(name) }}
{%- endmacro %}

{% macro text(value) -%}
'{{ nbsql.kept(value) | replace("'", "''") }}'
{%- endmacro %}

{# An exponent makes the literal a double: 0.1 alone is DECIMAL, and sums of decimals overflow. #}
{% macro number(value) -%}
{{ value }}{% if 'e' not in value | string %}e0{% endif %}
{%- endmacro %}

{% macro optional(value) -%}
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


{% macro double() -%} DOUBLE {%- endmacro %}

{% macro string() -%} VARCHAR {%- endmacro %}

{# Before the brackets of a list. #}
{% macro array() %}{% endmacro %}

{# An element of a list, the first being 1. #}
{% macro at(list, position) -%}
{{ list }}[{{ position }}]
{%- endmacro %}

{# What tells one row of a relation from another. #}
{% macro row_id() -%} row_number() OVER () {%- endmacro %}

{# After WITH, where a common table expression may read itself. #}
{% macro recursive() %}RECURSIVE {% endmacro %}

{# Before the query of a common table expression that is read more than once, and is to be run once. #}
{% macro materialized() %}MATERIALIZED {% endmacro %}

{# The opposite: it is to be run wherever it is read. #}
{% macro not_materialized() %}NOT MATERIALIZED {% endmacro %}

{# After SELECT, the joined relations that have few rows, for an engine that does not know the size of what is in memory. #}
{% macro with_few(names) %}{% endmacro %}

{# The values of x as a list. #}
{% macro gathered(x, by) -%}
list({{ x }} ORDER BY {{ by }})
{%- endmacro %}

{% macro infinity() -%} CAST('infinity' AS {{ nbsql.double() }}) {%- endmacro %}

{# 0 has the logarithm -infinity, where some engines raise an error; NULL has none. #}
{% macro log(x) -%}
CASE WHEN {{ x }} <= 0 THEN -{{ nbsql.infinity() }} ELSE ln({{ x }}) END
{%- endmacro %}

{# What is divided by, where it may be 0: the quotient is of no use then, and to some engines an error. #}
{% macro divisor(x) -%}
{{ x }}
{%- endmacro %}

{# The weight of a row without one. #}
{% macro one() -%} 1 {%- endmacro %}

{% macro square(x) -%}
{{ x }} * {{ x }}
{%- endmacro %}

{# careful: whether either may be so near 0 that the product is below every double. #}
{% macro product(a, b, careful=false) -%}
{{ a }} * {{ b }}
{%- endmacro %}

{# Of a list. #}
{% macro sum_of_squares(x) -%}
list_dot_product({{ x }}, {{ x }})
{%- endmacro %}

{# The greatest of a group, of any type that has an order. #}
{% macro largest(x) -%}
max({{ x }})
{%- endmacro %}

{# Of a group: x where y is highest, of those that are not NULL. #}
{% macro at_highest(x, y) -%}
arg_max({{ x }}, {{ y }})
{%- endmacro %}

{# A row a whole number, from the first up to the one before the end. #}
{% macro whole_numbers(first, end) -%}
unnest(range(
      {{ first }},
      {{ end }}
    ))
{%- endmacro %}

{# The number that a text holds, or NULL. #}
{% macro as_number(x) -%}
TRY_CAST({{ x }} AS {{ nbsql.double() }})
{%- endmacro %}

{# A whole number of 64 bits, from the values of some columns. #}
{% macro hash_of(columns) -%}
hash({% for column in columns %}source.{{ nbsql.ident(column) }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{# What engines may refuse to compute where the power is below every double. #}
{% macro exp(x) -%}
exp({{ x }})
{%- endmacro %}

{#
  NaN, the infinities and numbers whose square would be infinite count as missing. NaN compares as greater than every
  number, so that one comparison finds them all.
#}
{% macro finite(x) -%}
CASE WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}
