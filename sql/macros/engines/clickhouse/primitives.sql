{#
  ClickHouse's own forms. A macro clickhouse__name takes the place of the macro `name`. A type holds NULL only if it is declared nullable,
  and a LEFT JOIN without a match gives NULL only in nullable columns.
#}

{# One row per literal: value, class_1, class_2, ... The column names and types are given as a text. #}
{% macro clickhouse__literal_rows(kind, keys, scores) -%}
{% set structure -%}
value Nullable({% if kind == 'text' %}String{% elif kind == 'integer' %}Int128{% else %}Float64{% endif %})
{%- for _ in scores[0] %}, class_{{ loop.index }} Nullable(Float64){% endfor %}
{%- endset -%}
SELECT *
FROM VALUES(
  {{ nbsql.text(structure) }},
  {% for key in keys %}
  ({{ key }}{% for score in scores[loop.index0] %}, {{ nbsql.number(score) }}{% endfor %}){{ nbsql.comma(loop) }}
  {% endfor %}
)
{%- endmacro %}

{# The names of columns beside a relation are lost where a common table expression is read twice. #}
{% macro clickhouse__named_values(rows, name, columns) -%}
(
  SELECT {% for column in columns %}c{{ loop.index }} AS {{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
  FROM (
    VALUES
      {{ rows | indent(6) }}
  ) AS listed
) AS {{ nbsql.word(name) }}
{%- endmacro %}

{# The rows of the source with `nbsql_words`, the words of their text in order; of a text that is NULL none, as no list is NULL. #}
{% macro clickhouse__words(feature, source) -%}
{% set family, pattern = feature.family, '(' ~ feature.family.pattern ~ ')' -%} {# a pattern's own groups are not what it matches #}
SELECT
  source.*,
  arrayFilter(
    word -> lengthUTF8(word) >= {{ family.min_length }}
    {%- if family.stop_words %} AND {{ nbsql.is_none_of(nbsql.word('word'), family.stop_words) }}{% endif %},
    {{ nbsql.matches(nbsql.folded_text(feature), nbsql.text(pattern)) }}
  ) AS nbsql_words
FROM {{ source }} AS source
{%- endmacro %}
