{# Models from the cells of others: as of an earlier change, from some slices, from several models, from a file. #}

{# The cells of some slices, of which None is that of the rows without one. #}
{% macro cells_of_slices(statistics, slices) -%}
{{ nbsql.cells_of(statistics) }}
WHERE {% for slice in slices %}slice {% if slice is none %}IS NULL{% else %}= {{ nbsql.text(slice) }}{% endif %}
  {%- if not loop.last %} OR {% endif %}{% endfor +%}
{%- endmacro %}

{# One row per slice, the oldest first: slice, n. #}
{% macro slices_in_order(statistics) -%}
SELECT slice, n
FROM {{ nbsql.subquery(nbsql.slices(statistics)) }} AS slices
ORDER BY age DESC NULLS LAST
{%- endmacro %}

{# The cells of the newest slices, each weighted by decay to the power of its age. #}
{% macro windowed_cells(statistics, last, decay) -%}
SELECT
  cells.slice,
  cells.class,
  cells.feature,
  cells.value,
  cells.n * power({{ nbsql.number(decay) }}, slices.age) AS n,
  cells.mean,
  cells.m2 * power({{ nbsql.number(decay) }}, slices.age) AS m2,
  cells.batch
FROM {{ statistics }} AS cells
JOIN {{ nbsql.subquery(nbsql.slices(statistics)) }} AS slices ON slices.slice = cells.slice
{%- if last is not none +%}
WHERE slices.age < {{ last }}
{%- endif %}
{%- endmacro %}

{# The cells of several models, each folded into a batch with the model's name. #}
{% macro merged_cells(models) -%}
{% for statistics, batch in models -%}
SELECT * FROM {{ nbsql.subquery(nbsql.folded_cells(statistics, batch)) }} AS cells_{{ loop.index }}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  Writes a model to one file: its cells, folded, with its spec and, if it has one, its calibration. checksum: a text in its place.

  as_text: whether the classes are written as text and read in the type that the spec names. Parquet has no whole numbers of more than 64
  bits, which it would round to doubles, and no times with a zone or intervals as they are.
#}
{% macro copy_cells_to_file(cells, path, spec, version, engine, checksum, calibration=none, as_text=false) -%}
{% set written = nbsql.cells_with_text_classes(cells) if as_text else cells -%}
COPY {{ nbsql.subquery(written) }} TO {{ nbsql.text(path) }} (FORMAT parquet, KV_METADATA {
  nbsql_spec: {{ nbsql.text(spec) }},
  nbsql_version: {{ nbsql.text(version) }},
  nbsql_engine: {{ nbsql.text(engine) }},
  nbsql_checksum: {{ nbsql.text(checksum) }}
  {%- if calibration is not none %},
  nbsql_calibration: {{ nbsql.text(calibration) }}
  {%- endif +%}
})
{%- endmacro %}

{#
  The cells without those of fewer than `least` rows. For each feature and class, so many of the next smallest cells are also left out
  that all of these have at least `least` rows together, because the count of the class reveals that sum if every row has a value. The
  cells of classes are all kept.
#}
{% macro cells_without_small_counts(cells, least) -%}
SELECT slice, class, feature, value, n, mean, m2, batch
FROM (
  SELECT
    *,
    sum(n) OVER (
      PARTITION BY slice, class, feature
      ORDER BY n ASC NULLS LAST, value ASC NULLS FIRST ROWS UNBOUNDED PRECEDING
    ) - n AS smaller
  FROM {{ nbsql.subquery(cells) | indent(2) }} AS cells
) AS cells
WHERE feature IS NULL OR (n >= {{ least }} AND (smaller <= 0 OR smaller >= {{ least }}))
{%- endmacro %}

{# One row per cell whose class is a text: slice, class, feature, value, n, mean, m2, batch. #}
{% macro cells_with_text_classes(cells) -%}
SELECT slice, CAST(class AS {{ nbsql.string() }}) AS class, feature, value, n, mean, m2, batch
FROM {{ nbsql.subquery(cells) }} AS cells
{%- endmacro %}

{# One row per cell of a text of JSON that lists one object a cell: slice, class, feature, value, n, mean, m2, batch. #}
{% macro cells_of_json(text, type) -%}
{% set class %}CAST(class AS {{ type }}){% endset -%}
SELECT
  {{ nbsql.as_label(nbsql.word('slice'), 'text') }} AS slice,
  {{ nbsql.as_label(class, type) }} AS class,
  feature{{ nbsql.binary() }} AS feature,
  {{ nbsql.as_label(nbsql.word('value'), 'text') }} AS value,
  n,
  mean,
  m2,
  batch
FROM {{ nbsql.rows_of_json(nbsql.text(text), ['slice', 'class', 'feature', 'value', 'batch'], ['n', 'mean', 'm2']) }} AS cells
{%- endmacro %}

{# One row per object of a text of JSON that lists them; texts, numbers: the names of the fields that are. text: a literal. #}
{% macro default__rows_of_json(text, texts, numbers) -%}
(
  SELECT unnest(from_json({{ text }}, '[{
    {%- for name in texts %}"{{ nbsql.word(name) }}": "{{ nbsql.string() }}", {% endfor %}
    {%- for name in numbers %}"{{ nbsql.word(name) }}": "{{ nbsql.double() }}"{{ nbsql.comma_blank(loop) }}{% endfor -%}
    }]'), max_depth := 2)
)
{%- endmacro %}

{#
  The cells of a file, or the weights of a model that it keeps as cells (weights_as_cells). Labels get their original type, which Parquet
  does not always keep. class_type: none if the file has it.
#}
{% macro cells_of_file(path, class_type, of_weights=false) -%}
SELECT
  slice{{ nbsql.binary() }} AS slice,
  {{ nbsql.class_as_type(class_type) }} AS class,
  feature{{ nbsql.binary() }} AS feature,
  value{{ nbsql.binary() }} AS value,
  n,
  mean,
  m2,
  batch
FROM read_parquet({{ nbsql.text(path) }}) AS cells
WHERE batch {% if of_weights %}={% else %}<>{% endif %} 'weights'
{%- endmacro %}

{# The class of a row of a file, in the type of the target if it is known. #}
{% macro class_as_type(class_type) -%}
{% if class_type is none -%}
class
{%- else -%}
{% set class %}CAST(class AS {{ class_type }}){% endset -%}
{{ nbsql.as_label(class, class_type) }}
{%- endif %}
{%- endmacro %}

{# The cells of a file, and the learnt weights of a model if it has any: a weight as n, in a batch of their own. #}
{% macro with_weights(cells, weights) -%}
{{ cells }}
UNION ALL
{{ nbsql.weights_as_cells(weights) }}
{%- endmacro %}

{# One row per weight of a linear model, in the columns of cells. #}
{% macro weights_as_cells(weights) -%}
SELECT
  {{ nbsql.no_text() }} AS slice,
  class,
  feature,
  value,
  weight AS n,
  mean,
  CAST(NULL AS {{ nbsql.double() }}) AS m2,
  'weights' AS batch
FROM {{ weights }} AS weights
{%- endmacro %}

{# The weights, from cells that hold only weights. #}
{% macro weights_of_cells(cells) -%}
SELECT class, feature, value, n AS weight, mean
FROM {{ nbsql.subquery(cells) }} AS cells
{%- endmacro %}

{# One row per number of a calibration, in order. The classes are texts, because their numbers are valid only within one model. #}
{% macro numbers_of_calibration(calibration) -%}
SELECT method, {{ nbsql.text_of(nbsql.word('class')) }} AS class, temperature, slope, intercept, score, probability
FROM {{ calibration }} AS calibration
ORDER BY class_no ASC NULLS LAST, score ASC NULLS LAST
{%- endmacro %}

{# The table of a calibration from its text, for the classes of a model. #}
{% macro calibration_of_text(model, parameters, text) -%}
{% set numbers = ['temperature', 'slope', 'intercept', 'score', 'probability'] -%}
SELECT
  stored.method,
  classes.class_no,
  classes.class,
  {% for column in numbers %}
  stored.{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ nbsql.rows_of_json(nbsql.text(text), ['method', 'class'], numbers) }} AS stored
LEFT JOIN (
  {{ nbsql.numbered_classes(model, parameters) | indent(2) }}
) AS classes ON {{ nbsql.text_of(nbsql.word('classes.class')) }} = stored.class
ORDER BY classes.class_no ASC NULLS LAST, stored.score ASC NULLS LAST
{%- endmacro %}

{# The cells counted on another engine, with the classes in the type of the target. #}
{% macro cells_counted_elsewhere(source, target_type) -%}
SELECT
  {{ nbsql.no_text() }} AS slice,
  CAST(class AS {{ target_type }}) AS class,
  {{ nbsql.text_of(nbsql.word('feature')) }} AS feature,
  {{ nbsql.text_of(nbsql.word('value')) }} AS value,
  CAST(n AS {{ nbsql.double() }}) AS n,
  {% for column in ['mean', 'm2'] %}
  {% set x %}CAST({{ nbsql.word(column) }} AS {{ nbsql.double() }}){% endset %}
  CASE WHEN abs({{ x }}) < {{ nbsql.infinity() }} THEN {{ x }} END AS {{ nbsql.word(column) }},
  {% endfor %}
  '1' AS batch
FROM {{ source }} AS cells
WHERE CAST(n AS {{ nbsql.double() }}) > 0
{%- endmacro %}

{#
  One row: a feature that the model does not have, the number of cells without a count, of those with NaN, the greatest number, and of
  those of a class, and the number of rows learnt. Given likelihoods may be infinite.
#}
{% macro summary_of_cells(source, features) -%}
SELECT
  {% set not_of_model %}{% if features %} AND feature NOT IN ({{ nbsql.feature_names(features) }}){% endif %}{% endset %}
  min(CASE WHEN feature IS NOT NULL{{ not_of_model }} THEN feature END) AS unknown,
  count(CASE WHEN NOT coalesce(n >= 0 AND n < {{ nbsql.infinity() }}, FALSE) OR m2 < 0 THEN 1 END) AS wrong,
  count(CASE WHEN n IS NULL OR greatest(n, coalesce(mean, 0), coalesce(m2, 0)) > {{ nbsql.infinity() }} THEN 1 END) AS unreadable,
  count(CASE WHEN feature IS NULL AND class IS NOT NULL AND n > 0 THEN 1 END) AS classes,
  sum(CASE WHEN feature IS NULL THEN n END) AS learnt
FROM (
  SELECT class, feature
    {%- for column in ['n', 'mean', 'm2'] %}, CAST({{ nbsql.word(column) }} AS {{ nbsql.double() }}) AS {{ nbsql.word(column) }}{% endfor %}

  FROM {{ source }} AS cells
) AS cells
{%- endmacro %}

{#
  One row per feature of cells: feature; kind, the name ad_hoc.sql has for its cells (has_kinds: whether there is such a column); the number
  of cells, and of those with a mean and with m2; crowded, whether they count more values than there are rows; and logical, whether the
  values are true and false.
#}
{% macro counted_features(source, has_kinds=false) -%}
{% set no_time %}regexp_replace(value, {{ nbsql.text('^[0-9:. T+-]+Z?$') }}, '') <> ''{% endset %}
SELECT
  feature,
  kind,
  count(*) AS cells,
  count(mean) AS means,
  count(m2) AS squares,
  sum(CASE WHEN value IS NOT NULL THEN n ELSE 0 END) > max(rows) AS crowded,
  count(value) > 0 AND count(value) = count(CASE WHEN value IN ('true', 'false') THEN 1 END) AS logical,
  count(
    CASE WHEN value = '' OR ({{ nbsql.as_number(nbsql.word('value')) }} IS NULL AND {{ no_time }}) THEN 1 END
  ) > 0 AS has_words
FROM (
  SELECT
    {{ nbsql.text_of(nbsql.word('feature')) }} AS feature,
    CAST({% if has_kinds %}kind{% else %}NULL{% endif %} AS {{ nbsql.string() }}) AS kind,
    {{ nbsql.text_of(nbsql.word('value')) }} AS value,
    CAST(n AS {{ nbsql.double() }}) AS n,
    mean,
    m2,
    sum(CASE WHEN feature IS NULL THEN CAST(n AS {{ nbsql.double() }}) END) OVER () AS rows
  FROM {{ source }} AS cells
  WHERE CAST(n AS {{ nbsql.double() }}) > 0
) AS cells
WHERE feature IS NOT NULL
GROUP BY feature, kind
ORDER BY feature ASC NULLS LAST
{%- endmacro %}
