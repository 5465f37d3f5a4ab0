{# The engines that the package supports. #}

{#
  Refuses an engine on which the macros are not tested. A project that adds an adapter, Redshift for example, defines its own macro
  redshift__check_engine, and a redshift__x for every macro x of dispatch.sql whose default form Redshift does not accept.
#}
{% macro check_engine() -%}
{% do nbsql.called_by_name() %}
{% if not nbsql.is_of('warehouses') %}{% do adapter.dispatch('check_engine', 'nbsql')() %}{% endif -%}
{%- endmacro %}

{% macro default__check_engine() -%}
{% do nbsql.refuse(
  "the package is tested on duckdb, postgres, spark, sqlite, clickhouse, snowflake, bigquery and trino alone, and the target '"
  ~ target.name ~ "' is of type '" ~ target.type ~ "'; use a target of one of these types") %}
{%- endmacro %}

{% macro duckdb__check_engine() %}{% endmacro %}

{#
  What the package needs and does not have on an engine, with the reason: lists, words and bags (and of texts letters, normal
  forms, accents, ngrams, characters), patterns (regular expressions), times, and long queries (drift and evaluation).
#}
{% macro default__lacking() -%} {% do return({}) %} {%- endmacro %}

{# Refuses what needs something that the engine lacks. what: what is refused, to begin the message. #}
{% macro check_has(thing, what) -%}
{% if execute and thing in nbsql.lacking() -%}
{% do nbsql.refuse(
  what ~ ' cannot be had on ' ~ target.type ~ ', ' ~ nbsql.lacking()[thing] ~ '; leave it out, or use DuckDB, PostgreSQL or Spark') %}
{% endif -%}
{%- endmacro %}

{# Adapters that derive from the PostgreSQL adapter are dispatched here, too. #}
{% macro postgres__check_engine() -%}
{% if target.type != 'postgres' %}{% do nbsql.default__check_engine() %}{% endif -%}
{% set version = nbsql.query_rows("SELECT current_setting('server_version_num')")[0][0] | int // 10000 -%}
{% if version < 15 %}{% do nbsql.refuse('this server is PostgreSQL ' ~ version ~ '; nbsql needs 15 or later') %}{% endif -%}
{%- endmacro %}
