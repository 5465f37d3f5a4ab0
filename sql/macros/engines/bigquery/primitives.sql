{# BigQuery's own forms. A macro bigquery__name takes the place of the macro `name`. #}

{# One row per literal: value, class_1, class_2, ... The rows are structs in a list; the first one names the columns. #}
{% macro bigquery__literal_rows(kind, keys, scores) -%}
SELECT *
FROM UNNEST([
  {% for key in keys %}
  {% set first = loop.first %}
  {% set values -%}
  {{ key }}{% if first %} AS value{% endif %}
  {%- for score in scores[loop.index0] -%}
  , {{ nbsql.number(score) }}{% if first %} AS class_{{ loop.index }}{% endif %}
  {%- endfor %}
  {%- endset %}
  {%+ if first %}STRUCT{%+ endif %}({{ values }}){{ nbsql.comma(loop) }}
  {% endfor %}
])
{%- endmacro %}

{# The names and types of the columns come first. A row of one column in brackets is no row but a value. #}
{% macro bigquery__named_values(rows, name, columns) -%}
{% set texts, flags = ['feature', 'value', 'label', 'kind', 'quantity', 'metric'], ['smooths', 'unseen', 'total'] -%}
{% set numbers = ['place', 'position', 'feature_no'] -%}
{% set types = namespace(columns=[]) -%}
{% for column in columns -%}
{% set type = 'STRING' if column in texts else 'BOOL' if column in flags else 'INT64' if column in numbers else 'FLOAT64' -%}
{% set types.columns = types.columns + [type if columns | length == 1 else column ~ ' ' ~ type] -%}
{% endfor -%}
{% set type = types.columns[0] if columns | length == 1 else 'STRUCT<' ~ types.columns | join(', ') ~ '>' -%}
{% set list -%}
UNNEST(ARRAY<{{ nbsql.word(type) }}>[
    {{ rows | indent(4) }}
  ]) AS {{ nbsql.word(columns[0] if columns | length == 1 else name) }}
{%- endset -%}
{% if columns | length == 1 %}(SELECT {{ nbsql.word(columns[0]) }} FROM {{ list }}) AS {{ nbsql.word(name) }}{% else %}{{ list }}{% endif %}

{%- endmacro %}

{# The list of an expression of the place i of the first of `length` neighbouring words. A place in a list is said to count from 1. #}
{% macro bigquery__runs_of_words(run, length) -%}
ARRAY(
  SELECT {{ run | replace('[', '[ORDINAL(') | replace(']', ')]') }}
  FROM UNNEST(GENERATE_ARRAY(1, ARRAY_LENGTH(source.nbsql_words) - {{ length - 1 }})) AS i
  ORDER BY i ASC NULLS LAST
)
{%- endmacro %}
