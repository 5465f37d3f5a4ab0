{# Where slices differ: a whole number is written as one whichever type it has, and a text that is no number is an error where one is read. #}

{% macro postgres__sliced(source, expression) -%}
(
  SELECT source.*, CAST(({{ expression }}) AS {{ nbsql.string() }}) COLLATE "C" AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{% macro postgres__slices(statistics) -%}
{% set number %}CASE WHEN slice ~ '^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]{1,2})?$' THEN CAST(slice AS {{ nbsql.double() }}) END{% endset -%}
SELECT slice, n, row_number() OVER (ORDER BY {{ number }} DESC NULLS LAST, slice COLLATE "C" DESC) - 1 AS age
FROM (
  SELECT slice, sum(n) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IS NULL AND slice IS NOT NULL
  GROUP BY slice
  HAVING {{ nbsql.is_left() }}
) AS counts
{%- endmacro %}
