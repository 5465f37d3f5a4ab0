{# What the command line does with a source or a query: takes some of its rows, counts them, writes them to a file. #}

{# DuckDB draws a bar on stdout, among the answer, where it takes Python for interactive, as under `python -m`. #}
{% macro no_progress_bar() -%}
SET enable_progress_bar = FALSE
{%- endmacro %}

{# Some of the rows of a source, in its order, itself a source. #}
{% macro excerpt(source, limit, offset=0) -%}
(
  SELECT * FROM {{ source }} AS source{% if limit %} LIMIT {{ limit }}{% endif %}{% if offset %} OFFSET {{ offset }}{% endif %}

)
{%- endmacro %}

{# The rows of a query with every value as the engine writes it, for showing. columns: the names of those of the query. #}
{% macro as_text(query, columns=[]) -%}
SELECT CAST(COLUMNS(*) AS {{ nbsql.string() }})
FROM (
  {{ query | indent(2) }}
) AS result
{%- endmacro %}

{# The rows of a query in an order, for showing. #}
{% macro ordered(query, columns, descending=[]) -%}
SELECT *
FROM (
  {{ query | indent(2) }}
) AS result
ORDER BY {% for column in columns %}{{ nbsql.ident(column) }}{% if column in descending %} DESC{% endif %}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}

{%- endmacro %}

{% macro row_count(source, column=none) -%}
SELECT count({% if column is none %}*{% else %}{{ nbsql.ident(column) }}{% endif %}) AS n FROM {{ source }} AS source
{%- endmacro %}

{# The classes of a source that has not been fitted yet: class, label (the class as text). #}
{% macro labels(source, target) -%}
SELECT DISTINCT source.{{ nbsql.ident(target) }} AS class, CAST(source.{{ nbsql.ident(target) }} AS {{ nbsql.string() }}) AS label
FROM {{ source }} AS source
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
{%- endmacro %}

{# A file of the rows of a query: format is csv, json (one list), jsonl (an object a line) or parquet. #}
{% macro copy_to(query, path, format) -%}
COPY (
  {{ query | indent(2) }}
) TO {{ nbsql.text(path) }} (
  {%- if format == 'csv' %}FORMAT csv, HEADER
  {%- elif format == 'json' %}FORMAT json, ARRAY TRUE
  {%- elif format == 'jsonl' %}FORMAT json
  {%- else %}FORMAT parquet, COMPRESSION zstd
  {%- endif %})
{%- endmacro %}
