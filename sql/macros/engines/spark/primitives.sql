{#
  Spark's own forms. A macro spark__name takes the place of the macro `name`, as dbt dispatches. Everything particular to Spark is in this
  folder. Lists are arrays, whose elements count from 0 in brackets and from 1 in element_at; one SELECT unnests one array.
#}

{% macro spark__string() -%} STRING {%- endmacro %}

{# Nothing is needed: texts are compared by their bytes, as no source has a collation left. #}
{% macro spark__binary() %}{% endmacro %}

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

{% macro spark__materialized() %}{% endmacro %}

{% macro spark__not_materialized() %}{% endmacro %}

{# Spark repeats a query wherever it is named and pushes filters into it, unless the query is nondeterministic. #}
{% macro spark__run_once() %}

  WHERE rand() < 2
{%- endmacro %}

{# Sends the relations to every worker. Otherwise all rows would be sorted for the join. #}
{% macro spark__broadcast_hint(names) %} /*+ BROADCAST({{ names }}) */{% endmacro %}

{# NULL beyond the end of the list, as on the other engines. #}
{% macro spark__element(list, position) -%}
try_element_at({{ list }}, {{ position }})
{%- endmacro %}

{% macro spark__collected(x) -%} collect_list({{ x }}) {%- endmacro %}

{# An array of structs of the sort key and the value sorts by the key first. #}
{% macro spark__ordered_list(x, by) -%}
transform(array_sort(collect_list(struct({{ by }}, {{ x }} AS item))), entry -> entry.item)
{%- endmacro %}

{% macro spark__sum_of_squares(x) -%}
aggregate({{ x }}, {{ nbsql.number(0) }}, (total, p) -> total + p * p)
{%- endmacro %}

{# A floor is a BIGINT there, which larger numbers overflow; a double from 2^53 on is whole. #}
{% macro spark__floor_of(x) -%}
CASE WHEN abs({{ x }}) < {{ nbsql.number(9007199254740992) }} THEN floor({{ x }}) ELSE {{ x }} END
{%- endmacro %}

{# A sequence whose end is before its start would count down. #}
{% macro spark__whole_numbers(first, end) -%}
explode(CASE WHEN {{ end }} > {{ first }} THEN sequence({{ first }}, {{ end }} - 1) END)
{%- endmacro %}

{# The current time in UTC, without a time zone, whatever the session's time zone. #}
{% macro spark__utc_now() -%}
TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, CAST(unix_micros(current_timestamp()) AS DECIMAL(20, 0)) / 1000000)
{%- endmacro %}

{% macro spark__matches_pattern(pattern) -%}
SELECT regexp_like('', {{ nbsql.text(pattern) }}) AS matches
{%- endmacro %}

{# The numbers neither begin at 1 nor lack gaps, because that would need a single worker for all rows. #}
{% macro spark__row_id() -%} monotonically_increasing_id() {%- endmacro %}

{% macro spark__value_to_hash(column, kind) -%} source.{{ nbsql.ident(column) }} {%- endmacro %}

{# Hashes the text of a map, because a map has no hash. The sign is removed, so that remainders are at least 0. #}
{% macro spark__hash_of(columns, kinds) -%}
{% set row %}struct({{ nbsql.values_to_hash(columns, kinds) }}){% endset -%}
(xxhash64(CAST({{ row }} AS {{ nbsql.string() }})) & 9223372036854775807)
{%- endmacro %}

{% macro spark__value_at_maximum(x, y, text) -%}
max_by({{ x }}, struct({{ y }}, {{ text }})) FILTER (WHERE {{ y }} IS NOT NULL)
{%- endmacro %}

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

{% macro spark__raise_error(message, text=none) -%}
raise_error({{ nbsql.text(message) }})
{%- endmacro %}

{% macro spark__number_of_weekday(x) -%} weekday({{ x }}) + 1 {%- endmacro %}

{# A time without a zone in UTC, from the microseconds since 1970, and from it that of the zone: no time of it is there twice. #}
{% macro spark__in_time_zone(x, zone) -%}
{% set utc -%}
(TIMESTAMP_NTZ '1970-01-01 00:00:00' + make_dt_interval(0, 0, 0, CAST(unix_micros({{ x }}) AS DECIMAL(20, 0)) / 1000000))
{%- endset -%}
{% if zone == 'UTC' %}{{ utc }}{% else %}convert_timezone('UTC', {{ nbsql.text(zone) }}, {{ utc }}){% endif %}
{%- endmacro %}
