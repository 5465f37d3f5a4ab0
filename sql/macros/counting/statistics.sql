{#
  The statistics of a model: additive cells and nothing else. One row per cell:

    slice    NULL, or the part of the data in which the cell was counted (slice_by)
    class    the label, in the target's own type
    feature  the feature's name; NULL for the class itself
    value    the category, token or count column, or "zero", where a number's zeros are counted apart; NULL for numbers, for the class,
             and for the category of missing values
    n        the number of rows or tokens in the cell, or the sum of their weights
    mean     of a number over these rows; with a value, of the occurrences of a token in the n bags that hold it (tfidf.sql)
    m2       the sum of squared deviations from that mean
    batch    the line of the ledger that added the cell; the cells of forgotten rows are negative

  There are three ways to count. Features that need one aggregate a column come from a single wide scan, GROUP BY class. Each category
  takes a GROUP BY class, value. Each bag of tokens takes a GROUP BY class, token over the unnested bag.
#}

{#
  One row, or one a group: slice, class, feature, value, n, mean, m2, batch; columns that are not given are NULL. feature: a feature, or a
  column that holds its name.
#}
{% macro cell(model, n, feature=none, value=none, mean=none) -%}
SELECT
  {{ nbsql.cell_slice(model) }} AS slice,
  class,
  {% set name -%}
  {% if feature is none %}NULL{% elif feature is string %}{{ feature }}{% else %}{{ nbsql.text(feature.name) }}{% endif %}
  {%- endset %}
  {{ nbsql.text_of(name) }} AS feature,
  CAST({% if value is none %}NULL{% else %}{{ value }}{% endif %} AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value,
  CAST({{ n }} AS {{ nbsql.double() }}) AS n,
  CAST({% if mean is none %}NULL{% else %}{{ mean }}{% endif %} AS {{ nbsql.double() }}) AS mean,
  CAST(NULL AS {{ nbsql.double() }}) AS m2,
  {{ nbsql.text(model.options.batch) }}{{ nbsql.binary() }} AS batch
{%- endmacro %}

{#
  One row per class and cell of some scanned features, as the scan summed them: class, index, feature, value, n, and for numbers centre,
  total and squares. Lists that are unnested side by side are planned faster than a row of VALUES a cell.
#}
{% macro summed_cells(model, scan, features) -%}
{% set together = features | selectattr('family.kind', 'equalto', 'matrix') | list -%}
{% set features = features | rejectattr('family.kind', 'equalto', 'matrix') | list -%}
{% for feature in together -%}
{{ nbsql[feature.family.macros.sums](model, scan, feature) }}
{%- if features or not loop.last +%}
UNION ALL
{% endif %}
{%- endfor %}
{% if features %}{{ nbsql.scanned_cells(model, scan, features) }}{% endif %}
{%- endmacro %}

{#
  One row per class and cell of the features that the scan counted column by column: class, slice, index, feature, value, n, centre, total,
  squares.
#}
{% macro default__scanned_cells(model, scan, features) -%}
{% set names = ['index', 'feature', 'value', 'n', 'centre', 'total', 'squares'] -%}
{% set lists = namespace(of_columns=[]) -%}
{% for column in names -%}
{% set elements -%}
{% for feature in features -%}
{{ nbsql[feature.family.macros.cells](feature, column) }}{{ nbsql.comma_blank(loop) }}
{%- endfor -%}
{% endset -%}
{% set type -%}
{% if column == 'index' %}INTEGER{% elif column in ['feature', 'value'] %}{{ nbsql.string() }}{% else %}{{ nbsql.double() }}{% endif %}
{%- endset -%}
{% set lists.of_columns = lists.of_columns + [nbsql.list_of(elements, type)] -%}
{% endfor -%}
SELECT
  scan.class,
  {% if model.facts.slice_by %}
  scan.slice,
  {% endif %}
  {{ nbsql.unnested(lists.of_columns, names) | indent(2) }}
FROM {{ scan }} AS scan
WHERE scan.class IS NOT NULL
{%- endmacro %}

{# The name endings of all numbers that need a centre, as words. #}
{% macro centred_numbers(features) -%}
{% for feature in features if feature.family.centred -%}
{% if feature.family.over_columns -%}
{% for j in range(1, feature.columns | length + 1) %}{{ nbsql.feature_suffix(feature, j) }} {% endfor -%}
{% else %}{{ nbsql.feature_suffix(feature) }} {% endif -%}
{% endfor -%}
{%- endmacro %}

{# One column of one cell; a column that is not given is NULL. #}
{% macro summed_cell(feature, column, n, value=none, centre=none, total=none) -%}
{% if column == 'index' %}{{ feature.index }}
{%- elif column == 'feature' %}{{ nbsql.text(feature.name) }}
{%- else %}{% set given = {'value': value, 'n': n, 'centre': centre, 'total': total, 'squares': none}[column] -%}
{% if given is none %}NULL{% else %}{{ given }}{% endif %}
{%- endif %}
{%- endmacro %}

{#
  One row per feature of numbers that a scan may not hold: index, imprecise (1 if its sums are not held: a NaN or an infinity was among its
  numbers, or more than three digits cancelled) and near_zero (1 if the numbers may be so near 0 that their squares vanish, or that their
  family has no digits left). limits: pairs of an index and how near to 0 that is, of features with other limits than 1e-140.
#}
{% macro imprecise_numbers(summed_cells, limits=[]) -%}
{% set others %}{% for index, near in limits %} WHEN {{ index }} THEN {{ nbsql.number(near) }}{% endfor %}{% endset -%}
{% set most = nbsql.number(1e-140) -%}
{% set limit %}{% if limits %}CASE index{{ others }} ELSE {{ most }} END{% else %}{{ most }}{% endif %}{% endset -%}
SELECT index, max(imprecise) AS imprecise, max(near_zero) AS near_zero
FROM (
  SELECT
    index,
    value,
    max(
      CASE
        WHEN squares <> 0 AND NOT (abs(squares) < 1e300 AND squares - total * total / n >= 1e-3 * squares) THEN 1 ELSE 0
      END
    ) AS imprecise,
    min(
      CASE
        WHEN abs(coalesce(centre, 0) + total / n) < {{ limit }} AND coalesce(squares / n, 0) < {{ limit }} * {{ limit }} THEN 1 ELSE 0
      END
    ) AS near_zero
  FROM {{ nbsql.subquery(summed_cells) | indent(2) }} AS sums
  WHERE n > 0 AND total IS NOT NULL
  GROUP BY index, value
) AS numbers
WHERE imprecise = 1 OR near_zero = 1
GROUP BY index
{%- endmacro %}

{# One row: for each of some columns of numbers the largest absolute value, NULL without numbers. #}
{% macro largest_magnitudes(source, columns) -%}
SELECT
  {% for column in columns %}
  max(abs({{ nbsql.number_of(column) }})) AS largest_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{# The numbers that are counted, one column each, of the first rows. #}
{% macro first_numbers(source, features, rows) -%}
SELECT {% for suffix in nbsql.centred_numbers(features).split() %}nbsql_x{{ suffix }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
FROM (
  SELECT
    {% for feature in features %}
    {{ nbsql.inputs(feature, none, false, false) | indent(4) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ nbsql.excerpt(source, rows) }} AS source
) AS sample
{%- endmacro %}

{# The cells of the classes themselves, from a wide scan. #}
{% macro class_cells(model, scan) -%}
{{ nbsql.cell(model, nbsql.word('n')) }}
FROM {{ scan }} AS scan
WHERE class IS NOT NULL AND n > 0
{%- endmacro %}

{#
  The cells of some scanned features. The squares of a number are about its centre and are moved to its mean. If nearly all of them
  cancel, the remainder is rounding, and the number does not vary.
#}
{% macro feature_cells(model, summed_cells) -%}
{% set spread %}squares - total * total / n{% endset -%}
SELECT
  {{ nbsql.cell_slice(model) }} AS slice,
  class,
  feature,
  {{ nbsql.text_of(nbsql.word('value')) }} AS value,
  CAST(n AS {{ nbsql.double() }}) AS n,
  CAST(centre + total / n AS {{ nbsql.double() }}) AS mean,
  CAST(CASE WHEN {{ spread }} > 1e-6 * squares THEN {{ spread }} WHEN squares IS NOT NULL THEN 0 END AS {{ nbsql.double() }}) AS m2,
  {{ nbsql.text(model.options.batch) }}{{ nbsql.binary() }} AS batch
FROM {{ nbsql.subquery(summed_cells) }} AS sums
WHERE n > 0
{%- endmacro %}

{# The number of rows of a group, or the sum of their weights. #}
{% macro group_weight(model) -%} {% if model.spec.weight %}sum({{ nbsql.weight(model) }}){% else %}count(*){% endif %} {%- endmacro %}

{#
  The cells of some categorical features. Each has a GROUP BY of its own, which DuckDB runs in parallel; many features of few rows have
  one together, which costs less than planning those.
#}
{% macro level_cells(model, source, features) -%}
{{ nbsql.cell(model, nbsql.word('n'), feature=nbsql.word('feature'), value=nbsql.word('value')) }}
FROM (
  {% if model.options.is_tiny and features | length > 10 %}
  {{ nbsql.levels_counted_together(model, source, features) | indent(2) }}
  {%- else %}
  {% for feature in features %}
  {{ nbsql.counted_levels(model, source, feature) | indent(2) }}
  {{- nbsql.union_all(loop) | indent(2) }}
  {%- endfor %}
  {%- endif +%}
) AS counted
{%- endmacro %}

{# The rows of counted_levels of several features. #}
{% macro levels_counted_together(model, source, features) -%}
{% set names -%}
{% for feature in features %}{{ nbsql.text(feature.name) }}{{ nbsql.binary() }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endset -%}
{% set values -%}
{% for feature in features %}
{{ nbsql[feature.family.macros.value](feature, nbsql.word('source')) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endset -%}
{% set with_gaps = features | selectattr('family.nulls', 'equalto', 'category') | list -%}
SELECT {{ nbsql.class_and_slice(model) }}, feature, value, {%
  if model.spec.weight %}sum(weight){% else %}count(*){% endif %} AS n
FROM (
  SELECT
    {{ nbsql.counted_columns(model) | indent(4) }},
    {{ nbsql.unnested([nbsql.array_of(names), nbsql.array_of(values)], ['feature', 'value']) | indent(4) }}
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }}
) AS levels
WHERE value IS NOT NULL{% if with_gaps %} OR feature IN ({{ nbsql.feature_names(with_gaps) }}){% endif +%}
GROUP BY class, feature, value{% if model.facts.slice_by %}, slice{% endif +%}
{%- endmacro %}

{#
  One row per class and value of a categorical feature: class, feature, value, n, and slice if the model has slices. The value, which may be
  a long expression, stands there once, since planning it takes longer than to evaluate it for some thousand rows.
#}
{% macro counted_levels(model, source, feature) -%}
{% set value = nbsql[feature.family.macros.value](feature, nbsql.word('source')) -%}
SELECT
  class,
  {% if model.facts.slice_by %}
  slice,
  {% endif %}
  {{ nbsql.text(feature.name) }} AS feature,
  value,
  {%+ if model.spec.weight %}sum(weight){% else %}count(*){%+ endif %} AS n
FROM (
  SELECT
    {{ nbsql.counted_columns(model) | indent(4) }},
    {{ value }} AS value
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }}
  {% if feature.family.nulls != 'category' %}
    AND {{ nbsql.given(feature, nbsql.word('source')) }} IS NOT NULL
  {% endif %}
) AS levels
GROUP BY class, value{% if model.facts.slice_by %}, slice{% endif %}
{%- endmacro %}

{# The cells of one bag of tokens: the count of each token in each class. numbered: tables of its pairs (numbered_pairs_cells), if any. #}
{% macro token_cells(model, source, feature, numbered=none) -%}
{% if feature.family.reweights_tokens -%}
{{ nbsql.weighed_token_cells(model, source, feature) }}
{%- elif feature.family.over_columns -%}
{{ nbsql.numbered_pairs_cells(model, feature, *numbered) if numbered else nbsql.pairs_cells(model, source, feature) }}
{%- else -%}
{% set grouped = 'text' in feature.family.accepts and model.options.few_rows and nbsql.groups_texts() -%}
{% set n %}sum({% if grouped %}weight{% else %}{% if model.spec.weight %}weight * {% endif %}times{% endif %}){% endset -%}
{{ nbsql.cell(model, n, feature=feature, value=nbsql.word('value')) }}
FROM (
  {% set row_columns -%}
  {%+ if grouped %}source.nbsql_class{% else %}{{ nbsql.target(model) }}{%+ endif %} AS class
  {%- if model.facts.slice_by %}, source.nbsql_slice AS slice{% endif %}
  {%- if grouped %}, source.nbsql_weight AS weight{% elif model.spec.weight %}, {{ nbsql.weight(model) }} AS weight{% endif %}
  {%- endset -%}
  {% set condition %}{% if grouped %}source.nbsql_class IS NOT NULL{% else %}{{ nbsql.is_counted(model) }}{% endif %}{% endset -%}
  {% set rows -%}
{% if grouped %}(
  {{ nbsql.grouped_texts(model, source, feature) | indent(2) }}
){% else %}{{ source }}{% endif %}
{%- endset -%}
  {{ nbsql.tokens(feature, rows, row_columns, condition) | indent(2) }}
) AS tokens
GROUP BY class, value{% if model.facts.slice_by %}, slice{% endif +%}
{%- endif %}
{%- endmacro %}

{#
  All cells in one statement, which needs no other query first: classes, scanned features, categories and tokens. Numbers are read twice,
  the second time centred on the mean of their class.
#}
{% macro cells(model, rows) -%}
{% set columns = namespace(read=[model.spec.target]) -%}
{% set others = ([model.spec.weight] if model.spec.weight else []) + (['nbsql_slice'] if model.facts.slice_by else []) -%}
{% for column in others + (model.facts.features | map(attribute='columns') | sum(start=()) | list) -%}
{% if column not in columns.read %}{% set columns.read = columns.read + [column] %}{% endif -%}
{% endfor -%}
{% set source, scan, rescan = nbsql.inline_name('rows'), nbsql.inline_name('scan'), nbsql.inline_name('rescan') -%}
{% set scanned = model.facts.features | selectattr('family.in_wide_scan') | list -%}
{% set centred = scanned | selectattr('family.centred') | list -%}
{% set uncentred = scanned | rejectattr('family.centred') | list -%}
{% set levels = model.facts.features | selectattr('family.level') | list -%}
WITH {{ source }} AS {{ nbsql.subquery(nbsql.selected_columns(rows, columns.read)) }},
{{ scan }} AS {{ nbsql.subquery(nbsql.scan(model, source, uncentred)) }}
{%- if centred %},
{{ rescan }} AS {{ nbsql.subquery(nbsql.scan(model, source, centred, careful=true)) }}
{%- endif +%}
{{ nbsql.class_cells(model, scan) }}
{%- if uncentred +%}
UNION ALL
{{ nbsql.feature_cells(model, nbsql.summed_cells(model, scan, uncentred)) }}
{%- endif %}
{%- if centred +%}
UNION ALL
{{ nbsql.feature_cells(model, nbsql.summed_cells(model, rescan, centred)) }}
{%- endif %}
{%- if levels +%}
UNION ALL
{{ nbsql.level_cells(model, source, levels) }}
{%- endif %}
{%- for feature in model.facts.features | selectattr('family.bag') +%}
UNION ALL
{{ nbsql.token_cells(model, source, feature) }}
{%- endfor %}
{%- endmacro %}

{# Cells folded into one a slice, class, feature and value. Cells that have become empty are dropped. #}
{% macro folded_cells(cells, batch) -%}
SELECT slice, class, feature, value, n, mean, m2, {{ nbsql.text(batch) }}{{ nbsql.binary() }} AS batch
FROM (
  SELECT slice, class, feature, value, sum(n) AS n, CAST(NULL AS {{ nbsql.double() }}) AS mean, CAST(NULL AS {{ nbsql.double() }}) AS m2
  FROM {{ cells }} AS cells
  WHERE mean IS NULL
  GROUP BY slice, class, feature, value
  HAVING {{ nbsql.has_weight('cells') }}
  UNION ALL
  SELECT slice, class, feature, value, n, mean, m2
  FROM {{ nbsql.subquery(nbsql.pooled_moments(nbsql.moments_of(cells), ['slice', 'class', 'feature', 'value'])) | indent(2) }} AS moments
) AS sums
{%- endmacro %}
