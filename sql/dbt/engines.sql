{# The engines that the package runs on. #}

{# Refuse an engine on which the macros are not tested, and make them those of the one that there is. #}
{% macro check_engine() -%}
{% do adapter.dispatch('check_engine', 'nbsql')() %}
{%- endmacro %}

{% macro default__check_engine() -%}
{% do nbsql.refuse("the package is tested on dbt-duckdb and dbt-postgres alone, and the target '" ~ target.name ~ "' is of type '" ~ target.type ~ "'; use a target of type 'duckdb' or 'postgres'") %}
{%- endmacro %}

{% macro duckdb__check_engine() %}{% endmacro %}

{# Adapters that derive from that of PostgreSQL come here, too. #}
{% macro postgres__check_engine() -%}
{% if target.type != 'postgres' %}{% do nbsql.default__check_engine() %}{% endif -%}
{% set version = nbsql.answers("SELECT current_setting('server_version_num')")[0][0] | int // 10000 -%}
{% if version < 15 %}{% do nbsql.refuse('this server is PostgreSQL ' ~ version ~ '; nbsql needs 15 or later') %}{% endif -%}
{% do nbsql.speak(['postgres', 'plain']) %}
{%- endmacro %}

{#
  A macro postgres__x takes the place of the macro x for whoever calls it, as nbsql/render.py does for Python. What is called nbsql
  here is dbt's dictionary of the macros of the package, of which every node has its own. folders: those of the engine, the nearest
  first (Traits.speaks in nbsql/dialect.py).
#}
{% macro speak(folders) -%}
{% for folder in folders | reverse -%}
{% set own = folder ~ '__' -%}
{% for name in nbsql.keys() | list if name.startswith(own) -%}
{% do nbsql.update({name[own | length:]: nbsql[name]}) %}
{% endfor -%}
{% endfor -%}
{%- endmacro %}
