{#
  Spark's form of an explanation. A row's number is its position in this answer, from 1, in the order in which Spark reads the rows. That
  is the source's order only if a single worker reads them; the id columns identify the rows.
#}

{# `numbered_source` (scoring/rows.sql) with these numbers. #}
{% macro spark__explained_rows(model, source, parameters, lookups) -%}
{% set rows -%}
(
  SELECT row_number() OVER (ORDER BY nbsql_read ASC NULLS LAST) AS nbsql_row, source.*
  FROM (
    {% if model.options.joins %}
    SELECT source.nbsql_row AS nbsql_read, source.* EXCEPT (nbsql_row) FROM {{ source }} AS source
    {% else %}
    SELECT {{ nbsql.row_id() }} AS nbsql_read, source.* FROM {{ source }} AS source
    {% endif %}
  ) AS source
)
{%- endset -%}
{{ nbsql.numbered_source(model, rows, parameters, lookups, has_number=true) }}
{%- endmacro %}
