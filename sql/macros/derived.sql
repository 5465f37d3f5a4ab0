{# Models from the cells of others: as they stood, of some slices, of several models, from a file. #}

{# The cells of some slices. #}
{% macro cells_of_slices(statistics, slices) -%}
{{ nbsql.cells_of(statistics) }}
WHERE slice IN ({% for slice in slices %}{{ nbsql.text(slice) }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{#
  The slices that have rows left, oldest first: slice, n, age (0 is the newest). As numbers where they are numbers, else as
  texts, which puts dates in their order.
#}
{% macro slices(statistics) -%}
SELECT slice, n, row_number() OVER (ORDER BY {{ nbsql.as_number(nbsql.word('slice')) }} DESC NULLS LAST, slice DESC) - 1 AS age
FROM (
  SELECT slice, sum(n) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IS NULL AND slice IS NOT NULL
  GROUP BY slice
  HAVING {{ nbsql.is_left() }}
) AS counts
{%- endmacro %}

{% macro slices_in_order(statistics) -%}
SELECT slice, n
FROM (
  {{ nbsql.slices(statistics) | indent(2) }}
) AS slices
ORDER BY age DESC
{%- endmacro %}

{# The cells of the newest slices, each weighed by decay to the power of its age. #}
{% macro windowed(statistics, last, decay) -%}
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
JOIN (
  {{ nbsql.slices(statistics) | indent(2) }}
) AS slices ON slices.slice = cells.slice
{%- if last is not none %}

WHERE slices.age < {{ last }}
{%- endif %}
{%- endmacro %}

{# The cells of several models, each folded into a batch of its name. #}
{% macro merged(models) -%}
{% for statistics, batch in models -%}
SELECT * FROM (
  {{ nbsql.folded(statistics, batch) | indent(2) }}
) AS cells_{{ loop.index }}
{%- if not loop.last %}

UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}

{% macro rows_learnt(statistics) -%}
SELECT sum(n) AS n FROM {{ statistics }} AS statistics WHERE feature IS NULL
{%- endmacro %}


{# A model as one file: its cells, folded, and beside them its spec and, if it has one, its calibration. #}
{% macro exported(cells, path, spec, version, calibration=none) -%}
COPY (
  {{ cells | indent(2) }}
) TO {{ nbsql.text(path) }} (FORMAT parquet, KV_METADATA {nbsql_spec: {{ nbsql.text(spec) }}, nbsql_version: {{ nbsql.text(version) }}{% if calibration is not none %}, nbsql_calibration: {{ nbsql.text(calibration) }}{% endif %}})
{%- endmacro %}

{% macro file_metadata(path) -%}
SELECT decode(key) AS key, decode(value) AS value FROM parquet_kv_metadata({{ nbsql.text(path) }})
{%- endmacro %}

{# Labels have the type that they had, which Parquet does not always keep. class_type: none where the file says it. #}
{% macro cells_of_file(path, class_type) -%}
SELECT
  slice,
  {% if class_type is none %}class{% else %}CAST(class AS {{ class_type }}) AS class{% endif %},
  feature,
  value,
  n,
  mean,
  m2,
  batch
FROM read_parquet({{ nbsql.text(path) }}) AS cells
WHERE batch <> 'weights'
{%- endmacro %}

{% macro enumeration(labels) -%}
ENUM({% for label in labels %}{{ nbsql.text(label) }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{# The cells of a file, and beside them the weights of a model that has learnt some: a weight as n, in a batch of their own. #}
{% macro with_weights(cells, weights) -%}
{{ cells }}
UNION ALL
{{ nbsql.weights_as_cells(weights) }}
{%- endmacro %}

{% macro weights_as_cells(weights) -%}
SELECT CAST(NULL AS {{ nbsql.string() }}) AS slice, class, feature, value, weight AS n, mean, CAST(NULL AS {{ nbsql.double() }}) AS m2, 'weights' AS batch FROM {{ weights }} AS weights
{%- endmacro %}

{% macro weights_of_file(path) -%}
SELECT class, feature, value, n AS weight, mean FROM read_parquet({{ nbsql.text(path) }}) AS cells WHERE batch = 'weights'
{%- endmacro %}

{# Of cells that are nothing but weights. #}
{% macro weights_of_cells(cells) -%}
SELECT class, feature, value, n AS weight, mean
FROM (
  {{ cells | indent(2) }}
) AS cells
{%- endmacro %}

{# A calibration as one text: a JSON list of its rows, with the classes as text, because their numbers are those of a model. #}
{% macro calibration_text(calibration) -%}
SELECT CAST(to_json(list({'method': method, 'class': CAST(class AS {{ nbsql.string() }}), 'temperature': temperature, 'slope': slope, 'intercept': intercept, 'score': score, 'probability': probability} ORDER BY class_no, score)) AS {{ nbsql.string() }}) AS calibration
FROM {{ calibration }} AS calibration
{%- endmacro %}

{# The table of a calibration from its text, for the classes of a model. #}
{% macro calibration_of_text(model, parameters, text) -%}
SELECT
  stored.entry.method AS method,
  classes.class_no,
  classes.class,
  {% for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] %}
  stored.entry.{{ nbsql.word(column) }} AS {{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  SELECT unnest(from_json({{ nbsql.text(text) }}, '[{"method": "VARCHAR", "class": "VARCHAR", "temperature": "DOUBLE", "slope": "DOUBLE", "intercept": "DOUBLE", "score": "DOUBLE", "probability": "DOUBLE"}]')) AS entry
) AS stored
LEFT JOIN (
  {{ nbsql.numbered_classes(model, parameters) | indent(2) }}
) AS classes ON CAST(classes.class AS {{ nbsql.string() }}) = stored.entry.class
ORDER BY classes.class_no, score
{%- endmacro %}

{# The cells that another engine has counted, with the classes in the type of the target. #}
{% macro cells_counted_elsewhere(source, target_type) -%}
SELECT
  CAST(NULL AS {{ nbsql.string() }}) AS slice,
  CAST(class AS {{ target_type }}) AS class,
  CAST(feature AS {{ nbsql.string() }}) AS feature,
  CAST(value AS {{ nbsql.string() }}) AS value,
  CAST(n AS {{ nbsql.double() }}) AS n,
  {% for column in ['mean', 'm2'] %}
  {% set x %}CAST({{ nbsql.word(column) }} AS {{ nbsql.double() }}){% endset %}
  CASE WHEN abs({{ x }}) < {{ nbsql.infinity() }} THEN {{ x }} END AS {{ nbsql.word(column) }},
  {% endfor %}
  '1' AS batch
FROM {{ source }} AS cells
WHERE CAST(n AS {{ nbsql.double() }}) > 0
{%- endmacro %}

{# One row: a feature that the model does not have, how many cells hold no count, and how many are those of a class. #}
{% macro looked_over(source, features) -%}
SELECT
  min(CASE WHEN feature IS NOT NULL{% if features %} AND feature NOT IN ({{ nbsql.names(features) }}){% endif %} THEN feature END) AS unknown,
  count(CASE WHEN NOT coalesce(n >= 0 AND n < {{ nbsql.infinity() }}, FALSE) OR m2 < 0 THEN 1 END) AS wrong,
  count(CASE WHEN feature IS NULL AND class IS NOT NULL AND n > 0 THEN 1 END) AS classes
FROM (
  SELECT class, feature, CAST(n AS {{ nbsql.double() }}) AS n, CAST(m2 AS {{ nbsql.double() }}) AS m2 FROM {{ source }} AS cells
) AS cells
{%- endmacro %}
