{# A model as a text of JSON, with one object a cell. #}

{# One row a cell of such a text: slice, class, feature, value, n, mean, m2, batch. #}
{% macro spark__cells_of_json(text, type) -%}
SELECT slice, CAST(class AS {{ type }}) AS class, feature, value, n, mean, m2, batch
FROM (
  SELECT inline(from_json(
    {{ nbsql.text(text) }},
    'ARRAY<STRUCT<slice: {{ nbsql.string() }}, class: {{ nbsql.string() }}, feature: {{ nbsql.string() }}, value: {{ nbsql.string() }}
    {%- for column in ['n', 'mean', 'm2'] %}, {{ nbsql.word(column) }}: {{ nbsql.double() }}{% endfor %}, batch: {{ nbsql.string() }}>>'
  ))
) AS cells
{%- endmacro %}

{# One row: calibration, a text of JSON that lists one object a class and knot. #}
{% macro spark__calibration_text(calibration) -%}
SELECT to_json(array_sort(collect_list(struct(
    class_no, score, method, CAST(class AS {{ nbsql.string() }}) AS class, temperature, slope, intercept, probability
  )))) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{#
  A relation from such a text. One row a class and knot: method, class (its label as text), temperature, slope, intercept, score,
  probability.
#}
{% macro spark__stored_calibration(text) -%}
(
  SELECT inline(from_json(
    {{ nbsql.text(text) }},
    'ARRAY<STRUCT<method: {{ nbsql.string() }}, class: {{ nbsql.string() }}
    {%- for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] -%}
    , {{ nbsql.word(column) }}: {{ nbsql.double() }}
    {%- endfor %}>>'
  ))
) AS stored
{%- endmacro %}
