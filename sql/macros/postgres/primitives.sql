{#
  Where PostgreSQL writes otherwise. A macro postgres__name takes the place of the macro `name`, as dbt dispatches: this folder is
  all that is particular to PostgreSQL.
#}

{% macro postgres__double() -%} DOUBLE PRECISION {%- endmacro %}

{% macro postgres__string() -%} TEXT {%- endmacro %}

{% macro postgres__array() %}ARRAY{% endmacro %}

{% macro postgres__gathered(x, by) -%}
array_agg({{ x }} ORDER BY {{ by }})
{%- endmacro %}

{# An error where the result is below every normal double. #}
{% macro postgres__exp(x) -%}
CASE WHEN {{ x }} < -708 THEN 0 ELSE exp({{ x }}) END
{%- endmacro %}

{# A number so near 0 that its square is below every double, which is an error, is 0. #}
{% macro postgres__finite(x) -%}
CASE WHEN abs({{ x }}) < 1e-140 THEN 0 WHEN abs({{ x }}) <= 1e150 THEN {{ x }} END
{%- endmacro %}

{# A product that is below every double is an error, too. The square of NULL is 0: ask for what is not NULL. #}
{% macro postgres__square(x) -%}
CASE WHEN abs({{ x }}) > 1e-140 THEN {{ x }} * {{ x }} ELSE 0 END
{%- endmacro %}

{% macro postgres__sum_of_squares(x) -%}
{% set p = nbsql.word('p') -%}
(SELECT sum({{ nbsql.square(p) }}) FROM unnest({{ x }}) AS p)
{%- endmacro %}

{# A quotient of whole numbers would be one, too. #}
{% macro postgres__one() -%} {{ nbsql.number(1) }} {%- endmacro %}

{# max knows no yes or no. #}
{% macro postgres__largest(x) -%}
(array_agg({{ x }} ORDER BY {{ x }} DESC NULLS LAST))[1]
{%- endmacro %}

{% macro postgres__at_highest(x, y) -%}
(array_agg({{ x }} ORDER BY {{ y }} DESC NULLS LAST) FILTER (WHERE {{ x }} IS NOT NULL))[1]
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
CASE WHEN {{ text }} ~ '^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,2})?\s*$' AND length({{ text }}) < 200 THEN CAST({{ text }} AS {{ nbsql.double() }}) END
{%- endmacro %}

{# The sign is taken away, so that remainders are at least 0. #}
{% macro postgres__hash_of(columns) -%}
(hashtextextended(CAST(ROW({% for column in columns %}source.{{ nbsql.ident(column) }}{% if not loop.last %}, {% endif %}{% endfor %}) AS {{ nbsql.string() }}), 0) & 9223372036854775807)
{%- endmacro %}

{# All statements of a transaction see one state of the database. #}
{% macro postgres__repeatable_read() -%}
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ
{%- endmacro %}

{# Statements are long and run once: compiling them takes seconds and saves nothing. Until the end of the transaction; returns what was set. #}
{% macro postgres__compile_statements(setting) -%}
SELECT current_setting('jit') AS before, set_config('jit', {{ nbsql.text(setting) }}, TRUE) AS now
{%- endmacro %}

{% macro postgres__rename_schema(schema, name) -%}
ALTER SCHEMA {{ schema }} RENAME TO {{ name }}
{%- endmacro %}

{% macro postgres__touch(spec) -%}
UPDATE {{ spec }} SET updated_at = greatest(clock_timestamp() AT TIME ZONE 'UTC', updated_at + INTERVAL '1 microsecond')
{%- endmacro %}

{% macro postgres__matches_pattern(pattern) -%}
SELECT '' ~ {{ nbsql.text(pattern) }} AS matches
{%- endmacro %}

{% macro postgres__first_rows(relation, count) -%}
SELECT * FROM {{ relation }} AS relation LIMIT {{ count }}
{%- endmacro %}
