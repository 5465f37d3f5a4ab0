{# How the command line writes rows. #}

{# Copies rows to the client, which writes the file: csv as it is, any other format as one JSON object a row. #}
{% macro postgres__copy_to(query, path, format) -%}
{% if format == 'csv' -%}
COPY {{ nbsql.subquery(query) }} TO STDOUT (FORMAT csv, HEADER, ENCODING 'UTF8')
{%- else -%}
SELECT CAST(row_to_json(result) AS {{ nbsql.string() }}) AS object
FROM {{ nbsql.subquery(query) }} AS result
{%- endif %}
{%- endmacro %}
