{# Rows that the caller's program holds, as a source; see sql/macros/primitives/rows.sql. #}
{% macro postgres__rows_from_json(rows, structure, columns) -%}
(
  SELECT *
  FROM json_to_recordset({{ nbsql.text(rows) }}) AS held(
    {% for name, kind in columns %}
    {{ nbsql.ident(name) }} {{ nbsql.postgres__type_of_kind(kind) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  )
)
{%- endmacro %}

{# The PostgreSQL type for a kind of type. #}
{% macro postgres__type_of_kind(kind) -%}
{% if kind == 'integer' %}bigint
{%- elif kind == 'float' %}float8
{%- elif kind == 'timestamp_ns' %}timestamp
{%- elif kind == 'tokens' %}text[]
{%- elif kind == 'token counts' %}jsonb
{%- elif kind.startswith('decimal') %}{{ nbsql.fraction(kind) }}
{%- else %}{{ nbsql.word(kind) }}
{%- endif %}
{%- endmacro %}
