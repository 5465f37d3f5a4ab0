{# How the command line shows and writes rows. Columns are numbered internally, because two of them may have the same name. #}

{# One row a row of a query, with each value as the engine writes it, for display; the lists of the columns `lists` are JSON. #}
{% macro postgres__as_text(query, columns, lists=()) -%}
SELECT
  {% for column in columns %}
  {% set x %}result.column_{{ loop.index }}{% endset %}
  {% set value %}{% if column in lists %}to_json({{ x }}){% else %}{{ x }}{% endif %}{% endset %}
  CAST({{ value }} AS {{ nbsql.string() }}) AS {{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  {{ query | indent(2) }}
) AS result({% for column in columns %}column_{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{# Copies rows to the client, which writes the file: csv as it is, any other format as one JSON object a row. #}
{% macro postgres__copy_to(query, path, format) -%}
{% if format == 'csv' -%}
COPY (
  {{ query | indent(2) }}
) TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')
{%- else -%}
SELECT CAST(row_to_json(result) AS {{ nbsql.string() }}) AS object
FROM (
  {{ query | indent(2) }}
) AS result
{%- endif %}
{%- endmacro %}

{# A name, quoted if necessary. #}
{% macro postgres__quoted_name(name) -%}
SELECT quote_ident({{ nbsql.text(name) }}) AS quoted
{%- endmacro %}
