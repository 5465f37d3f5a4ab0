{# Where a frozen scorer for DuckDB differs from those for engines that no model lives in. #}

{# Whatever the collation of the column or of the session is: one without case would take one value for another. #}
{% macro duckdb__exact(x, kind) -%}
{{ x }}{% if kind == 'text' %}{{ nbsql.binary() }}{% endif %}
{%- endmacro %}
