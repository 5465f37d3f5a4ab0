{#
  Categories that depend on parents (families/conditional.sql), if they have few values. Each column has codes, of a number in bins by a
  comparison with the edges, and the codes of a category and of its parents give a place in a list of scores. To make the text of a value
  and its parents and to join it with its lookup takes three times as long. nbsql/plan/codes.py says which codes there are.

    nbsql codes    one row per code of a column: number (of the column), code, value, key (the JSON list of the value; NULL if unknown)
    nbsql pairs    one row per feature: place (from 1), feature, child (the number of its column), size (of the stretch of scores of one
                   value), first (the place of the first one); and of each parent its number, stride and whether missing is a value
#}

{# These common table expressions, which no relation of a user's is named like. `nbsql features` is the last without `first`. #}
{% macro codes_of_pairs(model, lookups) -%}
{% set depth = nbsql.depth_of_pairs(model) | int -%}
{% set names = namespace(of=['place', 'feature', 'child', 'size']) -%}
{% for i in range(1, depth + 1) %}{% set names.of = names.of + ['parent_' ~ i, 'stride_' ~ i, 'missing_' ~ i] %}{% endfor -%}
{% set key = nbsql.json_list(nbsql.word('value')) -%}
{% set list %}CASE WHEN features.place IS NOT NULL THEN lookups.value END{% endset -%}
{{ nbsql.inline_name('features') }} AS {{ nbsql.materialized() }}(
  SELECT *
  FROM {% call(pair, place) nbsql.constants(model.form.pairs_in_lists, 'features', names.of, margin=2) -%}
  {{ place }}, {{ nbsql.text(pair.feature.name) }}, {{ pair.child.number }}, {{ pair.size }}
  {%- for i in range(depth) -%}
  , {% if i < pair.parents | length %}{{ pair.parents[i].number }}, {{ pair.strides[i] }}, {{ nbsql.boolean(pair.missing[i]) }}
  {%- else %}NULL, 0, FALSE{% endif %}
  {%- endfor %}
  {%- endcall +%}
),
{{ nbsql.inline_name('codes') }} AS {{ nbsql.materialized() }}(
  WITH labels AS (
    SELECT number, unnest(range(len(known) + 2)) AS code, unnest(known || [NULL, NULL]) AS value, len(known) + 1 AS unknown
    FROM {% call(column, number) nbsql.constants(model.form.coded_columns, 'columns', ['number', 'known'], margin=4) -%}
    {{ number }}, CAST([{% for label in column.labels %}{{ nbsql.text(label) }}{{ nbsql.comma_blank(loop) }}{% endfor %}] AS VARCHAR[])
    {%- endcall +%}
  )
  SELECT *, CASE WHEN code < unknown THEN {{ key }} END AS key FROM labels
  UNION ALL
  SELECT number, unknown + row_number() OVER (PARTITION BY number ORDER BY value ASC NULLS LAST), value, unknown, {{ key }}
  FROM (
    SELECT DISTINCT features.child AS number, {{ nbsql.json_element(list, 0) }} AS value
    FROM {{ nbsql.inline_name('features') }} AS features
    JOIN {{ lookups }} AS lookups ON lookups.feature = features.feature
  ) AS met
  JOIN (
    SELECT number, unknown, list(value) AS known FROM labels GROUP BY number, unknown
  ) AS labels USING (number)
  WHERE value IS NOT NULL AND NOT list_contains(known, value)
),
{{ nbsql.inline_name('pairs') }} AS {{ nbsql.materialized() }}(
  SELECT features.*, 1 + sum(size * codes) OVER (ORDER BY place ASC NULLS LAST) - size * codes AS first
  FROM {{ nbsql.inline_name('features') }} AS features
  JOIN (
    SELECT number, count(*) AS codes FROM {{ nbsql.inline_name('codes') }} AS codes GROUP BY number
  ) AS counts ON counts.number = features.child
)
{%- endmacro %}

{# The largest number of parents. #}
{% macro depth_of_pairs(model) -%} {{ model.form.pairs_in_lists | map(attribute='parents') | map('length') | max }} {%- endmacro %}

{# A relation with the scores of its values and their parents in all classes, nbsql_found_i; NULL for a value without a code. #}
{% macro with_scores_of_pairs(model, relation, lookups) -%}
SELECT
  source.*
  {%- for pair in model.form.pairs_in_lists %},
  pairs.scores[pairs.firsts[{{ loop.index }}] + source.nbsql_code_{{ pair.child.number }} * {{ pair.size }}
  {%- for parent in pair.parents %} + source.nbsql_code_{{ parent.number }}
  {%- if pair.strides[loop.index0] > 1 %} * {{ pair.strides[loop.index0] }}{% endif %}
  {%- endfor %}] AS nbsql_found
  {{- nbsql.feature_suffix(pair.feature) }}
  {%- endfor +%}
FROM (
  SELECT
    source.*
    {%- for column in model.form.coded_columns %},
    {{ nbsql.code_of_value(column) | indent(4) }} AS nbsql_code_{{ column.number }}
    {%- endfor +%}
  FROM {{ relation }} AS source
  {%- for column in model.form.coded_columns if column.edges is none +%}
  LEFT JOIN {{ nbsql.inline_name('codes') }} AS code_{{ column.number }}
    ON code_{{ column.number }}.number = {{ column.number }}
    AND code_{{ column.number }}.code <> {{ column.unknown }}
    AND code_{{ column.number }}.value IS NOT DISTINCT FROM {{ nbsql.conditional_text(
      column.feature, column.name, nbsql.word('source'), none, []) }}
  {%- endfor +%}
) AS source
CROSS JOIN (
  {{ nbsql.scores_of_pairs(model, lookups) | indent(2) }}
) AS pairs
{%- endmacro %}

{# The code of a value. A missing number has the last one but that of unknown values, which numbers have not. #}
{% macro code_of_value(column) -%}
{% if column.edges is none -%}
coalesce(CAST(code_{{ column.number }}.code AS INTEGER), {{ column.unknown }})
{%- else -%}
coalesce(
  {%+ call(stretch) nbsql.stretch_of(column.name, nbsql.word('source'), column.edges) %}{{ stretch }}{% endcall %}, {{ column.unknown - 1 }}
)
{%- endif %}
{%- endmacro %}

{# One row: scores, the list of those of all values with all of their parents; firsts, the place of the first one of each feature. #}
{% macro scores_of_pairs(model, lookups) -%}
{% set depth = nbsql.depth_of_pairs(model) | int -%}
{% set joined = namespace(keys=[nbsql.word('codes.key')]) -%}
{% for i in range(1, depth + 1) -%}
{% set joined.keys = joined.keys + [nbsql.joined_json_lists(joined.keys[-1], nbsql.word('parent_' ~ i ~ '.key'))] %}
{% endfor -%}
SELECT
  {{ nbsql.list_of_scores(model, nbsql.word('keys.place')) }} AS scores,
  (SELECT list(CAST(first AS INTEGER) ORDER BY place ASC NULLS LAST) FROM {{ nbsql.inline_name('pairs') }}) AS firsts
FROM (
  SELECT
    pairs.feature,
    pairs.first + codes.code * pairs.size
    {%- for i in range(1, depth + 1) %} + coalesce(parent_{{ i }}.code * pairs.stride_{{ i }}, 0){% endfor %} AS place,
    CASE
      {% for i in range(1, depth + 1) %}
      {% set code = nbsql.word('parent_' ~ i) %}
      WHEN {{ code }}.key IS NULL OR ({{ code }}.value IS NULL AND NOT pairs.missing_{{ i }}) THEN {{ joined.keys[loop.index0] }}
      {% endfor %}
      ELSE {{ joined.keys[-1] }}
    END AS value
  FROM {{ nbsql.inline_name('pairs') }} AS pairs
  JOIN {{ nbsql.inline_name('codes') }} AS codes ON codes.number = pairs.child
  {% for i in range(1, depth + 1) %}
  LEFT JOIN {{ nbsql.inline_name('codes') }} AS parent_{{ i }}
    ON parent_{{ i }}.number = pairs.parent_{{ i }} AND parent_{{ i }}.code <= parent_{{ i }}.unknown
  {% endfor %}
) AS keys
LEFT JOIN {{ lookups }} AS lookups ON lookups.feature = keys.feature AND lookups.value = keys.value
{%- endmacro %}
