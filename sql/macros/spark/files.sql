{# A model in a file of JSON: an object a cell. #}

{% macro spark__cells_as_json(cells) -%}
SELECT to_json(collect_list(struct(slice, CAST(class AS {{ nbsql.string() }}) AS class, feature, value, n, mean, m2)), map('ignoreNullFields', 'false')) AS cells
FROM (
  {{ cells | indent(2) }}
) AS cells
{%- endmacro %}

{% macro spark__cells_of_json(text, type) -%}
SELECT slice, CAST(class AS {{ type }}) AS class, feature, value, n, mean, m2, '1' AS batch
FROM (
  SELECT inline(from_json(
    {{ nbsql.text(text) }},
    'ARRAY<STRUCT<slice: {{ nbsql.string() }}, class: {{ nbsql.string() }}, feature: {{ nbsql.string() }}, value: {{ nbsql.string() }}
    {%- for column in ['n', 'mean', 'm2'] %}, {{ nbsql.word(column) }}: {{ nbsql.double() }}{% endfor %}>>'
  ))
) AS cells
{%- endmacro %}
