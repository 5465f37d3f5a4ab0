{#
  PostgreSQL's own forms of more than one expression; the others are in primitives.txt. A macro postgres__name takes the place of the
  macro `name`, as dbt dispatches. Everything particular to PostgreSQL is in this folder.
#}

{% macro postgres__as_number(x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% set pattern %}'^[[:space:]]*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]{1,2})?[[:space:]]*$'{% endset -%}
CASE WHEN {{ text }} ~ {{ pattern }} AND length({{ text }}) < 200 THEN CAST({{ text }} AS {{ nbsql.double() }}) END
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

{# A time as microseconds since 1970, a double, NULL if it is infinite; a whole number stays a whole number. #}
{% macro postgres__instant(x, type) -%}
{% set micros %}CASE WHEN isfinite({{ x }}) THEN extract(epoch FROM {{ x }}) * 1000000 END{% endset -%}
CAST({% if nbsql.is_time(type) %}{{ micros }}{% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# Of an infinite date the year is infinite, and the other parts are NULL. #}
{% macro postgres__part_of_time(x, part) -%}
{% set number %}CAST(extract({{ nbsql.word(part) }} FROM {{ x }}) AS INTEGER){% endset -%}
{% if part == 'year' %}CASE WHEN {{ x }} > '-infinity' AND {{ x }} < 'infinity' THEN {{ number }} END{% else %}{{ number }}{% endif %}
{%- endmacro %}
