{#
  Where PostgreSQL writes otherwise. A macro postgres__name takes the place of the macro `name`, as dbt dispatches: this folder is
  all that is particular to PostgreSQL.
#}

{% macro postgres__double() -%} DOUBLE PRECISION {%- endmacro %}

{% macro postgres__string() -%} TEXT {%- endmacro %}

{% macro postgres__array() %}ARRAY{% endmacro %}

{# IS NOT DISTINCT FROM is no key of a hash join, so that a vocabulary would be compared with itself word by word. #}
{% macro postgres__same_value(a, b) -%}
coalesce({{ a }}.value, '') = coalesce({{ b }}.value, '') AND ({{ a }}.value IS NULL) = ({{ b }}.value IS NULL)
{%- endmacro %}

{% macro postgres__collected(x) -%} array_agg({{ x }}) {%- endmacro %}

{% macro postgres__ordered_list(x, by) -%}
array_agg({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}

{# An error where the result is below every normal double. #}
{% macro postgres__exp(x) -%}
CASE WHEN {{ x }} < -708 THEN 0 ELSE exp({{ x }}) END
{%- endmacro %}

{# A number so near 0 that its square is below every double, which is an error, is 0. #}
{% macro postgres__finite(x) -%}
CASE WHEN abs({{ x }}) < 1e-140 THEN 0 WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}

{# A number of a scan is guarded in every pass. #}
{% macro postgres__scan_value(x, careful) -%} {{ nbsql.finite(x) }} {%- endmacro %}

{# A product that is below every double is an error, too. The square of NULL is 0: ask for what is not NULL. #}
{% macro postgres__square(x) -%}
CASE WHEN abs({{ x }}) > 1e-140 THEN {{ x }} * {{ x }} ELSE 0 END
{%- endmacro %}

{#
  A square beyond every double, or below, is an error: no deviation counts for more than 1e150 standard deviations, nor for less than
  1e-150, of which nothing is left in any other. least passes over a NULL, so that a missing number must be looked for.
#}
{% macro postgres__weighted_square(weight, x) -%}
CASE WHEN {{ x }} IS NOT NULL THEN power(least(abs({{ x }} * sqrt({{ weight }})), 1e150) + 1e-150, 2) END
{%- endmacro %}

{% macro postgres__sum_of_squares(x) -%}
{% set p = nbsql.word('p') -%}
(SELECT sum({{ nbsql.square(p) }}) FROM unnest({{ x }}) AS p)
{%- endmacro %}

{# A quotient of whole numbers would be one, too. #}
{% macro postgres__unit_weight() -%} {{ nbsql.number(1) }} {%- endmacro %}

{# max knows no yes or no. #}
{% macro postgres__maximum(x) -%}
(array_agg({{ x }} ORDER BY {{ x }} DESC NULLS LAST))[1]
{%- endmacro %}

{% macro postgres__value_at_maximum(x, y, text) -%}
(array_agg({{ x }} ORDER BY {{ y }} DESC NULLS LAST, {{ text }} DESC NULLS LAST) FILTER (WHERE {{ x }} IS NOT NULL))[1]
{%- endmacro %}

{% macro postgres__whole_numbers(first, end) -%}
generate_series({{ first }}, {{ end }} - 1)
{%- endmacro %}

{# In UTC and without a time zone. #}
{% macro postgres__utc_now() -%} now() AT TIME ZONE 'UTC' {%- endmacro %}

{% macro postgres__analyze(relation) -%}
ANALYZE {{ relation }}
{%- endmacro %}

{% macro postgres__as_number(x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% set pattern %}'^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,2})?[[:space:]]*$'{% endset -%}
CASE WHEN {{ text }} ~ {{ pattern }} AND length({{ text }}) < 200 THEN CAST({{ text }} AS {{ nbsql.double() }}) END
{%- endmacro %}

{# What a row says in a text, which is hashed byte by byte. #}
{% macro postgres__value_to_hash(column, kind) -%} source.{{ nbsql.ident(column) }} {%- endmacro %}

{# The sign is taken away, so that remainders are at least 0. #}
{% macro postgres__hash_of(columns, kinds) -%}
{% set row %}ROW({{ nbsql.values_to_hash(columns, kinds) }}){% endset -%}
(hashtextextended(CAST({{ row }} AS {{ nbsql.string() }}), 0) & 9223372036854775807)
{%- endmacro %}

{# All statements of a transaction see one state of the database. #}
{% macro postgres__repeatable_read() -%}
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
{%- endmacro %}

{#
  Statements are long and run once: compiling them takes seconds and saves nothing. Doubles have all their digits as texts, by which
  rows are dealt to folds. Until the end of the transaction; one row: what was set before, and now. digits: none for all, whatever was set.
#}
{% macro postgres__set_transaction_settings(compile, digits=none) -%}
{% set all_digits %}greatest(CAST(current_setting('extra_float_digits') AS INTEGER), 1){% endset -%}
SELECT
  current_setting('jit') AS jit_before,
  current_setting('extra_float_digits') AS digits_before,
  set_config('jit', {{ nbsql.text(compile) }}, TRUE) AS jit,
  set_config(
    'extra_float_digits',
    {% if digits is none %}CAST({{ all_digits }} AS {{ nbsql.string() }}){% else %}{{ nbsql.text(digits) }}{% endif %},
    TRUE
  ) AS digits
{%- endmacro %}

{#
  A double as text, with all its digits, whatever the session has set. Where that is fewer, it is set until the end of the transaction:
  what is cast comes after the condition.
#}
{% macro postgres__double_as_text(x) -%}
CASE
  WHEN CAST(current_setting('extra_float_digits') AS INTEGER) > 0 OR set_config('extra_float_digits', '1', TRUE) = '1'
  THEN CAST({{ x }} AS {{ nbsql.string() }})
END
{%- endmacro %}

{% macro postgres__rename_schema(schema, name) -%}
ALTER SCHEMA {{ schema }} RENAME TO {{ name }}
{%- endmacro %}

{% macro postgres__set_updated_at(spec) -%}
UPDATE {{ spec }} SET updated_at = greatest(clock_timestamp() AT TIME ZONE 'UTC', updated_at + INTERVAL '1 microsecond')
{%- endmacro %}

{% macro postgres__matches_pattern(pattern) -%}
SELECT '' ~ {{ nbsql.pattern_literal(pattern) }} AS matches
{%- endmacro %}

{% macro postgres__first_rows(relation, count) -%}
SELECT * FROM {{ relation }} AS relation LIMIT {{ count }}
{%- endmacro %}

{# A time as microseconds since 1970, a double; or a whole number. #}
{% macro postgres__instant(x, type) -%}
CAST({% if nbsql.is_time(type) %}extract(epoch FROM {{ x }}) * 1000000{% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}
