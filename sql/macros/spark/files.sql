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

{% macro spark__calibration_text(calibration) -%}
SELECT to_json(array_sort(collect_list(struct(
    class_no, score, method, CAST(class AS {{ nbsql.string() }}) AS class, temperature, slope, intercept, probability
  )))) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{% macro spark__stored_calibration(text) -%}
(
  SELECT inline(from_json(
    {{ nbsql.text(text) }},
    'ARRAY<STRUCT<method: {{ nbsql.string() }}, class: {{ nbsql.string() }}
    {%- for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] %}, {{ nbsql.word(column) }}: {{ nbsql.double() }}{% endfor %}>>'
  ))
) AS stored
{%- endmacro %}
