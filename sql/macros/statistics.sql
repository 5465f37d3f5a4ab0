{#
  The statistics of a model: additive cells, and nothing else. A row is one cell:

    slice    NULL, or the part of the data that the cell was counted on (slice_by)
    class    the label, in the target's own type
    feature  the feature's name; NULL for the class itself
    value    the category, token or count column; NULL for numbers, for the class, and for the category of missing values
    n        the rows or tokens in the cell, or their weights
    mean     of a number over these rows; with a value, of the occurrences of a token in the n bags that hold it (tfidf.sql)
    m2       the sum of squared deviations from that mean
    batch    the line of the ledger that it came with; the cells of what was forgotten are negative

  There are three ways of counting. What is one aggregate a column comes from a single wide scan, GROUP BY class.
  Categories take one GROUP BY class, value a feature. Tokens take one GROUP BY class, token over the unnested bag.
#}

{% macro cell(model, n, class=none, feature=none, value=none, slice=none, mean=none) -%}
SELECT
  {{ nbsql.slice(model, slice) }} AS slice,
  {%+ if class is none %}class{% else %}{{ class }} AS class{%+ endif %},
  CAST({% if feature is none %}NULL{% else %}{{ nbsql.text(feature.name) }}{% endif %} AS {{ nbsql.string() }}) AS feature,
  CAST({% if value is none %}NULL{% else %}{{ value }}{% endif %} AS {{ nbsql.string() }}) AS value,
  CAST({{ n }} AS {{ nbsql.double() }}) AS n,
  CAST({% if mean is none %}NULL{% else %}{{ mean }}{% endif %} AS {{ nbsql.double() }}) AS mean,
  CAST(NULL AS {{ nbsql.double() }}) AS m2,
  {{ nbsql.text(model.batch) }} AS batch
{%- endmacro %}

{# The slice of a cell: a column, where the model is cut into slices. #}
{% macro slice(model, column=none) -%}
{% if not model.slice_by %}CAST(NULL AS {{ nbsql.string() }}){% elif column is none %}slice{% else %}{{ column }}{% endif %}
{%- endmacro %}

{#
  A source with the slice of each row, by an expression of the user's. A whole number is written as one, whichever type it has: a
  frame with a gap in a column of whole numbers holds doubles, and 1.0 must find what 1 has made.
#}
{% macro sliced(source, expression) -%}
(
  SELECT
    source.*,
    CASE
      WHEN typeof(({{ expression }})) IN ('DOUBLE', 'FLOAT') THEN regexp_replace(CAST(({{ expression }}) AS {{ nbsql.string() }}), '\.0$', '')
      ELSE CAST(({{ expression }}) AS {{ nbsql.string() }})
    END AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{% macro slice_of(relation) -%} {{ relation }}.nbsql_slice {%- endmacro %}

{# The names of a scan's columns: mean_3 belongs to the third feature, x_3_2 to the second column of the third. #}
{% macro sub(feature, column=none) -%}
_{{ feature.index }}{% if column is not none %}_{{ column }}{% endif %}
{%- endmacro %}

{% macro comma(loop) -%} {% if not loop.last %},{% endif %} {%- endmacro %}

{% macro target(model) -%} source.{{ nbsql.ident(model.target) }} {%- endmacro %}

{# Labels of a type, in the order that they have in models. #}
{% macro as_label(x, type) -%} {{ x }} {%- endmacro %}

{% macro weight(model) -%} CAST(source.{{ nbsql.ident(model.weight) }} AS {{ nbsql.double() }}) {%- endmacro %}

{# The rows for which x is not NULL, or their weights. #}
{% macro tally(model, x) -%}
{% if model.weight %}sum(CASE WHEN {{ x }} IS NOT NULL THEN weight ELSE 0 END){% else %}count({{ x }}){% endif %}
{%- endmacro %}

{% macro total(model, x) -%}
{% if model.weight %}sum(weight * {{ x }}){% else %}sum({{ x }}){% endif %}
{%- endmacro %}

{# A row of weight 0 counts for nothing, its levels included. #}
{% macro counted(model) -%}
{{ nbsql.target(model) }} IS NOT NULL{% if model.weight %} AND {{ nbsql.weight(model) }} > 0{% endif %}
{%- endmacro %}


{#
  A relation's rows as the scan needs them: class, weight, an x for every number, and a flag for every broken rule.

  centres: a number a feature, near the middle of its values. Sums of x and x * x are taken from there, which keeps the
  digits that E[x * x] - E[x] * E[x] would cancel (shifted data: Chan, Golub and LeVeque, The American Statistician 37, 1983).
  careful: NaN and infinities become NULL. centred: the centres are those of each class, from the relation `means`.
#}
{% macro projected(model, source, features, checks=[], centres={}, careful=false, centred=false) -%}
SELECT
  {{ nbsql.target(model) }} AS class
  {%- if model.slice_by %},
  source.nbsql_slice AS slice
  {%- endif %}
  {%- if model.weight %},
  {{ nbsql.weight(model) }} AS weight
  {%- endif %}
  {%- for feature in features %},
  {{ nbsql[feature.family.name ~ '_inputs'](feature, centres.get(feature.index), careful, centred) | indent(2) }}
  {%- endfor %}
  {%- for check in checks %},
  {{ nbsql['breaks_' ~ check.rule](check.column) }} AS broken_{{ loop.index }}
  {%- endfor %}

FROM {% if centres or centred %}{{ nbsql.with_wholes(source, features, careful) | indent(2) }}{% else %}{{ source }}{% endif %} AS source
{%- if centred %}

LEFT JOIN means ON means.class = {{ nbsql.target(model) }}{% if model.slice_by %} AND means.slice IS NOT DISTINCT FROM source.nbsql_slice{% endif %}

{%- endif %}
{%- endmacro %}

{# A source with what its rows must have whole, for the features that count several columns together. #}
{% macro with_wholes(source, features, careful) -%}
{% set together = features | selectattr('family.centred') | rejectattr('family.by_column') | list -%}
{% if together -%}
(
  SELECT
    source.*
    {%- for feature in together %},
    {{ nbsql[feature.family.name ~ '_whole'](feature, careful) }} AS nbsql_whole{{ nbsql.sub(feature) }}
    {%- endfor %}

  FROM {{ source }} AS source
)
{%- else -%}
{{ source }}
{%- endif %}
{%- endmacro %}

{# One number of a row, as the families name it. #}
{% macro input(feature, column, j=none, centre=none, careful=false) -%}
{% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset -%}
{% if careful %}{{ nbsql.finite(x) }}{% else %}{{ x }}{% endif %}
{%- if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature, j) }}
{%- endmacro %}


{#
  The wide scan: a row a class (the rows without a class too) with `rows`, n, the aggregates of every scanned feature,
  and for every check the number of rows that break its rule.

  careful: the second pass over the features whose sums the first could not hold: two reads, centred on the means of each class, and slice.
#}
{% macro scan(model, source, features, checks=[], centres={}, careful=false) -%}
{% if careful -%}
WITH means AS (
  SELECT
    class
    {%- if model.slice_by %},
    slice
    {%- endif %}
    {%- for sub in nbsql.centred_numbers(features).split() %},
    {% set x %}nbsql_x{{ sub }}{% endset %}
    {{ nbsql.total(model, x) }} / {{ nbsql.divisor(nbsql.tally(model, x)) }} AS centre{{ sub }}
    {%- endfor %}

  FROM (
    {{ nbsql.projected(model, source, features, careful=true) | indent(4) }}
  ) AS projected
  GROUP BY class{% if model.slice_by %}, slice{% endif %}

)
{% endif -%}
SELECT
  class,
  {% if model.slice_by %}
  slice,
  {% endif %}
  count(*) AS rows,
  {%+ if model.weight %}sum(weight){% else %}count(*){%+ endif %} AS n
  {%- for feature in features %}
  {{- nbsql[feature.family.name ~ '_aggregates'](model, feature, centres.get(feature.index), careful) }}
  {%- endfor %}
  {%- for check in checks %},
  count(CASE WHEN broken_{{ loop.index }} THEN 1 END) AS broken_{{ loop.index }}
  {%- endfor %}

FROM (
  {{ nbsql.projected(model, source, features, checks, centres, careful, careful) | indent(2) }}
  {{- nbsql.once() | indent(2) }}
) AS projected
GROUP BY class{% if model.slice_by %}, slice{% endif %}

{%- endmacro %}

{#
  The cells of some scanned features as the scan summed them, a row a class and cell: class, index, feature, value, n, and for
  numbers the centre, total and squares. Lists unnested side by side are quicker to plan than a row of VALUES a cell.
#}
{% macro summed_cells(model, scan, features) -%}
{% set own = features | rejectattr('family.by_column') | list -%}
{% set features = features | selectattr('family.by_column') | list -%}
{% for feature in own -%}
{{ nbsql[feature.family.name ~ '_sums'](model, scan, feature) }}
{%- if features or not loop.last %}

UNION ALL
{% endif %}
{%- endfor %}
{% if features %}{{ nbsql.cells_side_by_side(model, scan, features) }}{% endif %}
{%- endmacro %}

{% macro cells_side_by_side(model, scan, features) -%}
SELECT
  scan.class,
  {% if model.slice_by %}
  scan.slice,
  {% endif %}
  {% for column in ['index', 'feature', 'value', 'n', 'centre', 'total', 'squares'] %}
  {% set listed -%}
  {% for feature in features -%}
  {{ nbsql[feature.family.name ~ '_cells'](feature, column) }}{% if not loop.last %}, {% endif %}
  {%- endfor -%}
  {% endset %}
  {% set type %}{% if column == 'index' %}INTEGER{% elif column in ['feature', 'value'] %}{{ nbsql.string() }}{% else %}{{ nbsql.double() }}{% endif %}{% endset %}
  unnest({{ nbsql.list_of(listed, type) }}) AS {{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ scan }} AS scan
WHERE scan.class IS NOT NULL
{%- endmacro %}

{# The endings of the names of all numbers that need a centre, as words. #}
{% macro centred_numbers(features) -%}
{% for feature in features if feature.family.centred -%}
{% if feature.family.over_columns -%}
{% for j in range(1, feature.columns | length + 1) %}{{ nbsql.sub(feature, j) }} {% endfor -%}
{% else %}{{ nbsql.sub(feature) }} {% endif -%}
{% endfor -%}
{%- endmacro %}

{# One column of one cell: what is not given is NULL. #}
{% macro summed_cell(feature, column, n, value=none, centre=none, total=none, squares=none) -%}
{% if column == 'index' %}{{ feature.index }}
{%- elif column == 'feature' %}{{ nbsql.text(feature.name) }}
{%- else %}{% set given = {'value': value, 'n': n, 'centre': centre, 'total': total, 'squares': squares}[column] -%}
{% if given is none %}NULL{% else %}{{ given }}{% endif %}
{%- endif %}
{%- endmacro %}

{#
  The numbers (index) of the centred features whose sums the first scan could not hold, because a NaN or an infinity was among
  them or because more than three digits cancelled.
#}
{% macro untrusted(summed_cells) -%}
SELECT DISTINCT index
FROM (
  {{ summed_cells | indent(2) }}
) AS sums
WHERE n > 0
  AND squares <> 0
  AND NOT (abs(squares) < 1e300 AND squares - total * total / n >= 1e-3 * squares)
{%- endmacro %}

{#
  A typical value a number, as it is counted: index, centre, and j, the number of the column of a feature over several. The median of
  the first rows, because it is one of the values, so that a constant stays exact.
#}
{% macro centres(source, features) -%}
{% set several = features | selectattr('family.over_columns') | list -%}
SELECT index, percentile_disc(0.5) WITHIN GROUP (ORDER BY x) AS centre{% if several %}, j{% endif %}

FROM (
  SELECT
    unnest({{ nbsql.array() }}[{% for feature in features %}{% for column in feature.columns %}{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}{% endfor %}]) AS index,
    {% if several %}
    unnest({{ nbsql.array() }}[{% for feature in features %}{% for column in feature.columns %}{{ loop.index }}{{ nbsql.comma(loop) }}{% endfor %}{{ nbsql.comma(loop) }}{% endfor %}]) AS j,
    {% endif %}
    unnest({{ nbsql.array() }}[{% for sub in nbsql.centred_numbers(features).split() %}nbsql_x{{ sub }}{{ nbsql.comma(loop) }}{% endfor %}]) AS x
  FROM (
    SELECT
      {% for feature in features %}
      {{ nbsql[feature.family.name ~ '_inputs'](feature, none, false, false) | indent(6) }}{{ nbsql.comma(loop) }}
      {% endfor %}
    FROM (SELECT * FROM {{ source }} AS source LIMIT 500) AS source
  ) AS sample
) AS sample
WHERE {{ nbsql.finite(nbsql.word('x')) }} IS NOT NULL
GROUP BY index{% if several %}, j{% endif %}

{%- endmacro %}


{# The cells of the classes themselves, from a wide scan. #}
{% macro class_cells(model, scan) -%}
{{ nbsql.cell(model, nbsql.word('n')) }}
FROM {{ scan }} AS scan
WHERE class IS NOT NULL AND n > 0
{%- endmacro %}

{#
  The cells of some scanned features. A number's squares are about its centre, and are moved to its mean; what is left when
  nearly all of them cancel is rounding: such a number does not vary.
#}
{% macro feature_cells(model, summed_cells) -%}
{% set spread %}squares - total * total / n{% endset -%}
SELECT
  {{ nbsql.slice(model) }} AS slice,
  class,
  feature,
  CAST(value AS {{ nbsql.string() }}) AS value,
  CAST(n AS {{ nbsql.double() }}) AS n,
  CAST(centre + total / n AS {{ nbsql.double() }}) AS mean,
  CAST(CASE WHEN {{ spread }} > 1e-6 * squares THEN {{ spread }} WHEN squares IS NOT NULL THEN 0 END AS {{ nbsql.double() }}) AS m2,
  {{ nbsql.text(model.batch) }} AS batch
FROM (
  {{ summed_cells | indent(2) }}
) AS sums
WHERE n > 0
{%- endmacro %}

{# How many rows a group has, or what they weigh. #}
{% macro size(model) -%}
{% if model.weight %}sum({{ nbsql.weight(model) }}){% else %}count(*){% endif %}
{%- endmacro %}

{# The cells of some categorical features: one GROUP BY a feature, which DuckDB runs side by side. #}
{% macro level_cells(model, source, features) -%}
{% for feature in features %}
{% set value = nbsql[feature.family.name ~ '_value'](feature, nbsql.word('source')) -%}
{{ nbsql.cell(model, nbsql.size(model), class=nbsql.target(model), feature=feature, value=value, slice=nbsql.slice_of(nbsql.word('source'))) }}
FROM {{ source }} AS source
WHERE {{ nbsql.counted(model) }}{% if feature.family.nulls != 'category' %} AND {{ nbsql[feature.family.name ~ '_given'](feature, nbsql.word('source')) }} IS NOT NULL{% endif %}

GROUP BY {{ nbsql.target(model) }}, {{ value }}{% if model.slice_by %}, source.nbsql_slice{% endif %}

{%- if not loop.last %}


UNION ALL
{% endif %}
{% endfor %}
{%- endmacro %}

{# The cells of one bag of tokens: how often each token met each class. #}
{% macro token_cells(model, source, feature) -%}
{% if feature.family.weighed -%}
{{ nbsql.weighed_token_cells(model, source, feature) }}
{%- else -%}
{% set n %}sum({% if model.weight %}weight * {% endif %}times){% endset -%}
{{ nbsql.cell(model, n, feature=feature, value=nbsql.word('value')) }}
FROM (
  {% set kept -%}
  {{ nbsql.target(model) }} AS class
  {%- if model.slice_by %}, source.nbsql_slice AS slice{% endif %}
  {%- if model.weight %}, {{ nbsql.weight(model) }} AS weight{% endif %}
  {%- endset -%}
  {% set condition %}{{ nbsql.counted(model) }}{% endset -%}
  {{ nbsql.tokens(feature, source, kept, condition) | indent(2) }}
) AS tokens
GROUP BY class, value{% if model.slice_by %}, slice{% endif %}

{%- endif %}
{%- endmacro %}
