{#
  Spark's own forms of more than one expression; the others are in primitives.txt. A macro spark__name takes the place of the macro
  `name`, as dbt dispatches. Everything particular to Spark is in this folder. One SELECT unnests one array.
#}

{# A source whose texts have no collation. columns: for each its name, and the type to cast it to or none. #}
{% macro spark__without_collations(source, columns) -%}
(
  SELECT
    {% for name, type in columns %}
    {% set column %}source.{{ nbsql.ident(name) }}{% endset %}
    {%+ if type %}CAST({{ column }} AS {{ type }}) AS {{ nbsql.ident(name) }}{% else %}{{ column }}{%+ endif %}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ source }} AS source
)
{%- endmacro %}

{# Spark repeats a query wherever it is named and pushes filters into it, unless the query is nondeterministic. #}
{% macro spark__run_once() %}

  WHERE rand() < 2
{%- endmacro %}

{# Sends the relations to every worker. Otherwise all rows would be sorted for the join. #}
{% macro spark__broadcast_hint(names) %} /*+ BROADCAST({{ names }}) */{% endmacro %}

{#
  A time as microseconds since 1970, a double; a whole number stays a whole number. A time without a zone is in UTC, whatever the
  session's time zone.
#}
{% macro spark__instant(x, type) -%}
{% set days %}CAST(unix_date(CAST({{ x }} AS DATE)) AS {{ nbsql.double() }}) * {{ nbsql.number(86400000000) }}{% endset -%}
{% set seconds %}hour({{ x }}) * 3600 + minute({{ x }}) * 60 + extract(SECOND FROM {{ x }}){% endset -%}
{% if type | lower == 'timestamp' -%}
CAST(unix_micros({{ x }}) AS {{ nbsql.double() }})
{%- elif type | lower == 'date' -%}
({{ days }})
{%- elif nbsql.is_time(type) -%}
({{ days }} + CAST(({{ seconds }}) * 1000000 AS {{ nbsql.double() }}))
{%- else -%}
CAST({{ x }} AS {{ nbsql.double() }})
{%- endif %}
{%- endmacro %}

{# A time without a zone in UTC, from the microseconds since 1970, and from it that of the zone: no time of it is there twice. #}
{% macro spark__in_time_zone(x, zone) -%}
{% set utc -%}
(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, CAST(unix_micros({{ x }}) AS DECIMAL(20, 0)) / 1000000))
{%- endset -%}
{% if zone == 'UTC' %}{{ utc }}{% else %}convert_timezone('UTC', {{ nbsql.text(zone) }}, {{ utc }}){% endif %}
{%- endmacro %}
