{# How the command line takes some rows of a source or query, counts them, and writes them to a file. #}

{#
  DuckDB prints a progress bar to stdout, within the answer, if it takes Python for interactive, as under `python -m`. This turns it off.
#}
{% macro no_progress_bar() -%} SET enable_progress_bar = FALSE {%- endmacro %}

{# One row: whether DuckDB tracks the progress of a statement, and whether it prints it. #}
{% macro progress_settings() -%}
SELECT
  CAST(current_setting('enable_progress_bar') AS BOOLEAN) AS noted,
  CAST(current_setting('enable_progress_bar_print') AS BOOLEAN) AS printed
{%- endmacro %}

{# Some of the rows of a source, in its order, as a source. #}
{% macro excerpt(source, limit, offset=0) -%}
(
  SELECT * FROM {{ source | indent(2) }} AS source
  {%- if limit is not none %} LIMIT {{ limit }}{% endif %}
  {%- if offset %} OFFSET {{ offset }}{% endif +%}
)
{%- endmacro %}

{#
  The rows of a query with each value as the engine writes it, for display. columns: the names of the query's columns, which are numbered
  within, because two may have the same name; lists: those of lists that are written as JSON.
#}
{% macro as_text(query, columns, lists=()) -%}
SELECT
  {% for column in columns %}
  {% set x %}result.column_{{ loop.index }}{% endset %}
  {% set value %}{% if column in lists %}to_json({{ x }}){% else %}{{ x }}{% endif %}{% endset %}
  CAST({{ value }} AS {{ nbsql.string() }}) AS {{ nbsql.ident(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ nbsql.subquery(query) }} AS result({% for column in columns %}column_{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# The rows of a query in an order, for display. #}
{% macro sorted_rows(query, columns, descending=[]) -%}
SELECT *
FROM {{ nbsql.subquery(query) }} AS result
ORDER BY {% for column in columns -%}
{{ nbsql.ident(column) }}{% if column in descending %} DESC{% else %} ASC{% endif %} NULLS LAST{{ nbsql.comma_blank(loop) }}
{%- endfor +%}
{%- endmacro %}

{# The classes of a source before a fit: class, label (the class as text). #}
{% macro labels(source, target) -%}
SELECT DISTINCT
  source.{{ nbsql.ident(target) }} AS class,
  CAST(source.{{ nbsql.ident(target) }} AS {{ nbsql.string() }}){{ nbsql.binary() }} AS label
FROM {{ source }} AS source
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
{%- endmacro %}

{#
  A query in which numbers that JSON does not have are the texts "Infinity", "-Infinity" and "NaN", as PostgreSQL writes them. columns:
  the name of each column, and whether it holds numbers ("number"), lists of numbers ("numbers"), lists of texts that become JSON ("texts"),
  or is left as it is (none). They are numbered internally, because two of them may have the same name.
#}
{% macro as_json(query, columns) -%}
SELECT
  {% for name, kind in columns %}
  {% set x %}result.column_{{ loop.index }}{% endset %}
  {% set value -%}
  {% if kind == 'numbers' %}list_transform({{ x }}, lambda x: {{ nbsql.number_as_json(nbsql.word('x')) }})
  {%- elif kind == 'number' %}{{ nbsql.number_as_json(x) }}
  {%- elif kind == 'texts' %}CAST(to_json({{ x }}) AS {{ nbsql.string() }})
  {%- else %}{{ x }}
  {%- endif %}
  {%- endset %}
  {{ value }} AS {{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ nbsql.subquery(query) }} AS result({% for column in columns %}column_{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{# A number as JSON; the three that JSON does not have are texts. #}
{% macro number_as_json(x) -%}
CASE
    WHEN isnan({{ x }}) THEN to_json('NaN')
    WHEN {{ x }} = {{ nbsql.infinity() }} THEN to_json('Infinity')
    WHEN {{ x }} = -{{ nbsql.infinity() }} THEN to_json('-Infinity')
    ELSE to_json({{ x }})
  END
{%- endmacro %}

{# Writes the rows of a query to a file. format: csv, json (one list), jsonl (one object a line) or parquet. #}
{% macro default__copy_to(query, path, format) -%}
COPY {{ nbsql.subquery(query) }} TO {{ nbsql.text(path) }} (
  {%- if format == 'csv' %}FORMAT csv, HEADER
  {%- elif format == 'json' %}FORMAT json, ARRAY TRUE
  {%- elif format == 'jsonl' %}FORMAT json
  {%- else %}FORMAT parquet, COMPRESSION zstd
  {%- endif %})
{%- endmacro %}
