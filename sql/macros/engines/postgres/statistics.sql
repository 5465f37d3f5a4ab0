{# PostgreSQL's forms of counting: all elements of a list have one type, and overflow and underflow are errors. #}

{#
  Text labels are compared byte by byte, whatever the collation of their database, so that ties and the order of the classes are the same
  everywhere. A column of citext, which compares without regard to case, is said to be text (catalog.sql), and is made text here. A class
  that is a UUID may be written as text elsewhere.
#}
{% macro postgres__as_label(x, type) -%}
{% if type | lower == 'text' %}CAST({{ x }} AS TEXT){% elif type == 'uuid' %}CAST({{ x }} AS UUID){% else %}{{ x }}{% endif %}
{%- if type | lower in ['text', 'character varying', 'bpchar', 'name'] %} COLLATE "C"{% endif %}
{%- endmacro %}

{#
  The user's expression as text. A whole double is written without a point, and a date or time as in JSON, which does not depend on
  settings of the session.
#}
{% macro postgres__with_slices(source, expression) -%}
(
  SELECT
    source.*,
    CASE
      WHEN pg_typeof(({{ expression }})) = CAST('date' AS regtype) THEN to_jsonb(({{ expression }})) #>> '{}'
      WHEN pg_typeof(({{ expression }})) = CAST('timestamp' AS regtype) THEN replace(to_jsonb(({{ expression }})) #>> '{}', 'T', ' ')
      WHEN pg_typeof(({{ expression }})) = CAST('timestamptz' AS regtype)
      THEN {{ nbsql.time_as_text('CAST((' ~ expression ~ ') AS TEXT)', 'timestamp with time zone') }}
      WHEN pg_typeof(({{ expression }})) IN (CAST('float8' AS regtype), CAST('float4' AS regtype))
      THEN {{ nbsql.postgres__double_as_text('(' ~ expression ~ ')') }}
      ELSE CAST(({{ expression }}) AS {{ nbsql.string() }})
    END COLLATE "C" AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{#
  The squares of numbers, and of their distances from one of them, do not underflow, because `finite` leaves no number nearer to 0 than
  1e-140. About a mean, or when weighted, they may.
#}
{% macro postgres__summed_squares(model, x, careful) -%}
{% set square %}CASE WHEN {{ x }} IS NOT NULL THEN ({{ nbsql.square(x) }}) END{% endset -%}
{% if model.spec.weight %}sum(weight * {{ square }}){% elif careful %}sum({{ square }}){% else %}sum({{ x }} * {{ x }}){% endif %}
{%- endmacro %}

{# A value as text of a model that knows no type for it. #}
{% macro postgres__untyped_as_text(x) -%}
CASE
  WHEN pg_typeof({{ x }}) IN (CAST('numeric' AS regtype), CAST('float8' AS regtype), CAST('float4' AS regtype))
    THEN {{ nbsql.number_as_text(x) }}
  ELSE CAST({{ x }} AS {{ nbsql.string() }})
END
{%- endmacro %}

{# As in JSON, which does not depend on DateStyle. #}
{% macro postgres__time_as_text(x, type) -%}
{% set span %}CAST({{ x }} AS INTERVAL){% endset -%}
{% if type == 'timestamp with time zone' -%}
(
  replace(to_jsonb(CAST({{ x }} AS TIMESTAMPTZ) AT TIME ZONE 'UTC') #>> '{}', 'T', ' ')
  || CASE WHEN isfinite(CAST({{ x }} AS TIMESTAMPTZ)) THEN '+00' ELSE '' END
)
{%- elif type == 'interval' %}{{ nbsql.postgres__interval_as_text(span) }}
{%- elif type == 'date' -%}
replace(to_jsonb(CAST({{ x }} AS TIMESTAMP)) #>> '{}', 'T00:00:00', '')
{%- elif type.startswith('timestamp') %}replace(to_jsonb(CAST({{ x }} AS TIMESTAMP)) #>> '{}', 'T', ' ')
{%- else %}CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}
{%- endmacro %}

{# An interval as DuckDB writes it, 1 year 2 months 3 days 04:05:06: no part that is 0, unless all are. #}
{% macro postgres__interval_as_text(x) -%}
{% set seconds %}(extract(hour FROM {{ x }}) * 3600 + extract(minute FROM {{ x }}) * 60 + extract(second FROM {{ x }})){% endset -%}
{% set rest %}mod(abs({{ seconds }}), 3600){% endset -%}
CASE WHEN {{ x }} IS NOT NULL THEN coalesce(nullif(concat_ws(
  ' ',
  {% for part in ['year', 'month', 'day'] %}
  {% set n %}extract({{ nbsql.word(part) }} FROM {{ x }}){% endset %}
  CASE WHEN {{ n }} <> 0 THEN CAST({{ n }} AS BIGINT) || ' {{ nbsql.word(part) }}' || CASE WHEN abs({{ n }}) <> 1 THEN 's' ELSE '' END END,
  {% endfor %}
  CASE
    WHEN {{ seconds }} <> 0
    THEN CASE WHEN {{ seconds }} < 0 THEN '-' ELSE '' END || to_char(floor(abs({{ seconds }}) / 3600), 'FM9999999900')
      || to_char(floor({{ rest }} / 60), 'FM":"00') || rtrim(to_char(mod({{ rest }}, 60), 'FM":"00.999999'), '.')
  END
), ''), '00:00:00') END
{%- endmacro %}

{# It goes by way of text, because PostgreSQL does not cast numbers to BOOLEAN or back. #}
{% macro postgres__yes_or_no(x, yes, no) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ text }} IN ('true', '1') THEN {{ yes }}
  WHEN {{ text }} IN ('false', '0') THEN {{ no }}
  ELSE CASE CAST({{ text }} AS {{ nbsql.double() }}) WHEN 1 THEN {{ yes }} WHEN 0 THEN {{ no }} END
END
{%- endmacro %}

{# The logarithm of 0 is an error. A number without a logarithm counts as missing in the sums, and the rule "above 0" refuses it. #}
{% macro postgres__log_of_input(x, is_centred, careful) -%}
CASE
  WHEN {{ x }} > 0 AND {{ x }} <= 1e150 THEN ln({{ x }})
  WHEN {{ x }} <= 0 AND {{ x }} >= -1e150 THEN {% if is_centred %}NULL{% else %}-{{ nbsql.infinity() }}{% endif +%}
END
{%- endmacro %}
