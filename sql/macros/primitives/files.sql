{#
  A CSV file of which some columns have these types; DuckDB guesses those of the others. types: (name, type) a column. named: whether
  it begins with the names of its columns. quoted: whether values may stand in double quotes, of which DuckDB knows nothing.
#}
{% macro csv_with_types(path, types, named, quoted) -%}
read_csv({{ nbsql.text(path) }}, {% if named %}header = TRUE, {% endif %}{% if quoted %}quote = '"', {% endif %}types = {
  {%- for column, type in types %}{{ nbsql.text(column) }}: {{ nbsql.text(type) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
})
{%- endmacro %}

{#
  One row: for each column of a file, how many values the type of its first rows would change in silence: fractions among whole numbers,
  times of day among dates, quotes around texts. source: the file, as texts or as JSON. columns: (name, kind) a column.
#}
{% macro changed_by_types(source, columns) -%}
SELECT
  {% for column, kind in columns %}
  {% set value = "CAST(source." ~ nbsql.ident(column) ~ " AS VARCHAR)" %}
  count(*) FILTER (
    {%- if kind == "integer" %}{{ value }} LIKE '%.%' OR {{ value }} ILIKE '%e-%'
    {%- elif kind == "temporal" %}{{ value }} LIKE '%:%'
    {%- else %}{{ value }} LIKE '"%"'
    {%- endif %}){{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{#
  One row: for each column of dates or times of a CSV file the text of one that would be another day in another format, if all its texts
  follow that format, too; NULL if they do not. source: the file, as texts. chosen: the format by which DuckDB reads them.
#}
{% macro dates_in_other_order(source, columns, chosen, other) -%}
SELECT
  {% for column in columns %}
  {% set text = "trim(source." ~ nbsql.ident(column) ~ ")" %}
  {% set read = "try_strptime(" ~ text ~ ", " ~ nbsql.text(other) ~ ")" %}
  {% set as_chosen = "try_strptime(" ~ text ~ ", " ~ nbsql.text(chosen) ~ ")" %}
  CASE WHEN bool_and({{ text }} IS NULL OR {{ read }} IS NOT NULL) THEN min({{ text }}) FILTER ({{ read }} <> {{ as_chosen }}) END
    {{- nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{# A file of JSON whose columns have these types. columns: (name, type) a column. #}
{% macro json_with_types(path, columns) -%}
read_json({{ nbsql.text(path) }}, columns = {
  {%- for column, type in columns %}{{ nbsql.text(column) }}: {{ nbsql.text(type) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
})
{%- endmacro %}
