{# How the command line shows and writes rows. Columns are numbered inside, because two of them may have one name. #}

{# One row a row of a query, with every value as the engine writes it, for showing. #}
{% macro postgres__as_text(query, columns) -%}
SELECT
  {% for column in columns %}
  CAST(result.column_{{ loop.index }} AS {{ nbsql.string() }}) AS {{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  {{ query | indent(2) }}
) AS result({% for column in columns %}column_{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{# To the client, who writes the file: csv as it stands in it, else a row a JSON object. #}
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

{# A name as it can stand in a statement. #}
{% macro postgres__quoted_name(name) -%}
SELECT quote_ident({{ nbsql.text(name) }}) AS quoted
{%- endmacro %}
