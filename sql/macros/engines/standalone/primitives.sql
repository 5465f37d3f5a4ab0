{# Standalone scorers in any dialect: what takes more than an expression. #}

{% macro standalone__log_of_input(x, is_centred, careful) -%}
CASE WHEN {{ x }} > 0 AND {{ x }} <= {{ nbsql.number(1e150) }} THEN {{ nbsql.natural_log(x) }}
{%- if not is_centred %} WHEN {{ x }} <= 0 AND {{ x }} >= {{ nbsql.number(-1e150) }} THEN -{{ nbsql.infinity() }}{% endif %} END
{%- endmacro %}
