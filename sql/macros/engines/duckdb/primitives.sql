{# Where a standalone scorer for DuckDB differs from those for engines in which no model lives. #}

{# Compares byte by byte, whatever the collation of the column or the session: one that ignores case would confuse two values. #}
{% macro duckdb__exact(x, kind) -%}
{{ x }}{% if kind == 'text' %}{{ nbsql.binary() }}{% endif %}
{%- endmacro %}
