{# Incremental: each run adds new days, and counts the newest day again where the adapter replaces slices. #}
{% set replaced = {'unique_key': 'slice'} -%}
{% set ways = {
  'spark': {'incremental_strategy': 'insert_overwrite', 'partition_by': 'slice'}, 'bigquery': {},
  'snowflake': dict(replaced, incremental_strategy='delete+insert'), 'trino': dict(replaced, incremental_strategy='delete+insert')} -%}
{{ config(materialized='incremental', **ways.get(target.type, replaced)) }}
{{ nbsql.statistics(ref('visits'), where='mod(visit_id, 4) > 0') }}
