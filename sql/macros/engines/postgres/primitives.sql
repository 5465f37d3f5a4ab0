{#
  PostgreSQL's own forms. A macro postgres__name takes the place of the macro `name`, as dbt dispatches. Everything particular to
  PostgreSQL is in this folder.
#}

{% macro postgres__double() -%} DOUBLE PRECISION {%- endmacro %}

{% macro postgres__string() -%} TEXT {%- endmacro %}

{% macro postgres__array() %}ARRAY{% endmacro %}

{# IS NOT DISTINCT FROM cannot be the key of a hash join, so joining a vocabulary with itself would compare every word with every other. #}
{% macro postgres__same_value(a, b) -%}
coalesce({{ a }}.value, '') = coalesce({{ b }}.value, '') AND ({{ a }}.value IS NULL) = ({{ b }}.value IS NULL)
{%- endmacro %}

{% macro postgres__collected(x) -%} array_agg({{ x }}) {%- endmacro %}

{% macro postgres__ordered_list(x, by) -%}
array_agg({{ x }} ORDER BY {{ by | replace(', ', ' ASC NULLS LAST, ') }} ASC NULLS LAST)
{%- endmacro %}

{% macro postgres__distinct_count(x, is_exact) -%} count(DISTINCT {{ x }}) {%- endmacro %}

{# A result below the range of a normal double is an error. #}
{% macro postgres__exp(x) -%}
CASE WHEN {{ x }} < -708 THEN 0 ELSE exp({{ x }}) END
{%- endmacro %}

{# A number so near 0 that its square would fall below the range of a double, which is an error, counts as 0. #}
{% macro postgres__finite(x) -%}
CASE WHEN abs({{ x }}) < 1e-140 THEN 0 WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}

{# A number is guarded in every pass of a scan. #}
{% macro postgres__scan_value(x, careful) -%} {{ nbsql.finite(x) }} {%- endmacro %}

{# A product below the range of a double is an error, too. The square of NULL is 0, so the caller must check for NULL. #}
{% macro postgres__square(x) -%}
CASE WHEN abs({{ x }}) > 1e-140 THEN {{ x }} * {{ x }} ELSE 0 END
{%- endmacro %}

{#
  A square beyond the range of a double, or below it, is an error. So a deviation counts for at most 1e150 standard deviations, and for at
  least 1e-150, whose square vanishes in any sum. least ignores NULL, so a missing number must be checked for.
#}
{% macro postgres__weighted_square(weight, x) -%}
CASE WHEN {{ x }} IS NOT NULL THEN power(least(abs({{ x }} * sqrt({{ weight }})), 1e150) + 1e-150, 2) END
{%- endmacro %}

{% macro postgres__sum_of_squares(x) -%}
{% set p = nbsql.word('p') -%}
(SELECT sum({{ nbsql.square(p) }}) FROM unnest({{ x }}) AS p)
{%- endmacro %}

{# max does not accept Booleans. #}
{% macro postgres__maximum(x) -%}
(array_agg({{ x }} ORDER BY {{ x }} DESC NULLS LAST))[1]
{%- endmacro %}

{% macro postgres__value_at_maximum(x, y, text) -%}
(array_agg({{ x }} ORDER BY {{ y }} DESC NULLS LAST, {{ text }} DESC NULLS LAST) FILTER (WHERE {{ y }} IS NOT NULL))[1]
{%- endmacro %}

{% macro postgres__whole_numbers(first, end) -%}
generate_series({{ first }}, {{ end }} - 1)
{%- endmacro %}

{# The current time in UTC, without a time zone. #}
{% macro postgres__utc_now() -%} now() AT TIME ZONE 'UTC' {%- endmacro %}

{% macro postgres__analyze(relation) -%}
ANALYZE {{ relation }}
{%- endmacro %}

{% macro postgres__as_number(x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% set pattern %}'^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,2})?[[:space:]]*$'{% endset -%}
CASE WHEN {{ text }} ~ {{ pattern }} AND length({{ text }}) < 200 THEN CAST({{ text }} AS {{ nbsql.double() }}) END
{%- endmacro %}

{# The value of a row as text, which is hashed byte by byte. #}
{% macro postgres__value_to_hash(column, kind) -%} source.{{ nbsql.ident(column) }} {%- endmacro %}

{# The sign is removed, so that remainders are at least 0. #}
{% macro postgres__hash_of(columns, kinds) -%}
{% set row %}ROW({{ nbsql.values_to_hash(columns, kinds) }}){% endset -%}
(hashtextextended(CAST({{ row }} AS {{ nbsql.string() }}), 0) & 9223372036854775807)
{%- endmacro %}

{# All statements of a transaction see the same state of the database. #}
{% macro postgres__repeatable_read() -%}
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
{%- endmacro %}

{#
  Statements are long and run once: compiling them takes seconds and saves nothing. Doubles are written with all their digits, because
  rows are assigned to folds by their texts. Names are looked up on the path that is given, so that no function of another role runs in
  the place of PostgreSQL's own; this very statement, which runs on another path, names the schema of each. The settings last until the
  end of the transaction. One row: the settings before and now. digits: none means all, whatever was set. path: none leaves it.
#}
{% macro postgres__set_transaction_settings(compile, digits=none, path=none) -%}
{% set all_digits %}greatest(CAST(pg_catalog.current_setting('extra_float_digits') AS INTEGER), 1){% endset -%}
SELECT
  pg_catalog.current_setting('jit') AS jit_before,
  pg_catalog.current_setting('extra_float_digits') AS digits_before,
  pg_catalog.current_setting('search_path') AS path_before,
  pg_catalog.set_config('jit', {{ nbsql.text(compile) }}, TRUE) AS jit,
  pg_catalog.set_config(
    'extra_float_digits',
    {% if digits is none %}pg_catalog.format('%s', {{ all_digits }}){% else %}{{ nbsql.text(digits) }}{% endif %},
    TRUE
  ) AS digits
  {%- if path is not none %},
  pg_catalog.set_config('search_path', {{ nbsql.text(path) }}, TRUE) AS path
  {%- endif %}
{%- endmacro %}

{#
  A double as text with all its digits, whatever the session has set. If the session shows fewer digits, the setting is raised until the
  end of the transaction. The cast is evaluated after that condition.
#}
{% macro postgres__double_as_text(x) -%}
CASE
  WHEN CAST(current_setting('extra_float_digits') AS INTEGER) > 0 OR set_config('extra_float_digits', '1', TRUE) = '1'
  THEN CAST({{ x }} AS {{ nbsql.string() }})
END
{%- endmacro %}

{# One row: whether no other transaction writes the model with this key. If it `waits` it waits for their end. #}
{% macro postgres__lock_for_writing(key, waits) -%}
SELECT {% if waits %}pg_advisory_xact_lock({{ key }}) IS NOT NULL{% else %}pg_try_advisory_xact_lock({{ key }}){% endif %} AS is_locked
{%- endmacro %}

{# Sets how long a statement waits for a lock, until the end of the transaction. One row: the milliseconds before, 0 for ever. #}
{% macro postgres__set_lock_timeout(milliseconds) -%}
SELECT CAST(setting AS INTEGER) AS before, set_config('lock_timeout', CAST({{ milliseconds }} AS {{ nbsql.string() }}), TRUE) AS now
FROM pg_settings
WHERE name = 'lock_timeout'
{%- endmacro %}

{# One row: which other connections hold locks on relations of a schema, as text. #}
{% macro postgres__readers(schema) -%}
SELECT
  coalesce(string_agg(DISTINCT concat('process ', pid, ' of ', usename, ' (' || state || ')'), ' and '), 'another connection') AS who
FROM pg_stat_activity
JOIN pg_locks AS held USING (pid)
JOIN pg_class AS class ON class.oid = held.relation
JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace AND namespace.nspname = {{ nbsql.text(schema) }}
WHERE held.granted AND pid <> pg_backend_pid()
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

{# A time as microseconds since 1970, a double, NULL if it is infinite; a whole number stays a whole number. #}
{% macro postgres__instant(x, type) -%}
{% set micros %}CASE WHEN isfinite({{ x }}) THEN extract(epoch FROM {{ x }}) * 1000000 END{% endset -%}
CAST({% if nbsql.is_time(type) %}{{ micros }}{% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{#
  No function raises an error, but casting an invalid text to BOOLEAN does. The cast depends on a text of the row, because it would
  otherwise fail before any row is read.
#}
{% macro postgres__raise_error(message, text=none) -%}
CAST(left({{ nbsql.word('spec.nbsql_version') if text is none else text }}, 0) || {{ nbsql.text(message) }} AS BOOLEAN)
{%- endmacro %}

{# Of an infinite date the year is infinite, and the other parts are NULL. #}
{% macro postgres__part_of_time(x, part) -%}
{% set number %}CAST(extract({{ nbsql.word(part) }} FROM {{ x }}) AS INTEGER){% endset -%}
{% if part == 'year' %}CASE WHEN {{ x }} > '-infinity' AND {{ x }} < 'infinity' THEN {{ number }} END{% else %}{{ number }}{% endif %}
{%- endmacro %}
