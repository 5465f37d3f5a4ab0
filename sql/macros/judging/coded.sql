{#
  Scores of many settings of a model on the same rows, for a sweep. Each category of a row is looked up once for all settings and is a
  number from then on: a place in a list, one list a setting, that holds what each value adds to the joint log-likelihood of every class.
  So a setting is scored without a join, by one list element a category, which takes a third of the time.

    codes   one row a value of a feature: feature, value, place and size; NULL is a value. The place is that in the models of the first
            fold; each further fold adds `size`, because every row is scored by the models of the other folds
    rows    the counted rows, with nbsql_slice and the places of their values, nbsql_place_1, nbsql_place_2, ...
    scores  one row a setting: setting, and scores, the list of structs of class_1, class_2, ...
#}

{# One row a feature and value: feature, value, size (the number of values of the feature), place (the place of its first score). #}
{% macro level_codes(cells, features, folds) -%}
SELECT
  feature,
  value,
  count(*) OVER feature_values AS size,
  {{ folds | length }} * (rank() OVER (ORDER BY position ASC NULLS LAST) - 1)
    + row_number() OVER (feature_values ORDER BY value ASC NULLS FIRST) AS place
FROM (
  SELECT DISTINCT features.position, features.feature, cells.value
  FROM (
    VALUES
      {% for feature in features %}
      ({{ loop.index }}, {{ nbsql.text(feature.name) }}){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS features(position, feature)
  JOIN (
    SELECT feature, value FROM {{ cells }} AS cells WHERE mean IS NULL
    UNION ALL
    VALUES
      {% for feature in features %}
      ({{ nbsql.text(feature.name) }}, NULL){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS cells ON cells.feature = features.feature
) AS known
WINDOW feature_values AS (PARTITION BY position)
{%- endmacro %}

{# One row a fold: nbsql_slice, and fold_no, from 0. #}
{% macro numbered_folds(model, folds) -%}
(
  VALUES
    {% for fold in folds %}
    ({{ nbsql.slice_name(model, fold) }}, {{ loop.index0 }}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS folds(nbsql_slice, fold_no)
{%- endmacro %}

{# The coded rows. columns: the other columns that are read of a row. #}
{% macro coded_rows(model, source, columns, features, folds, codes) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  source.nbsql_slice
  {%- for feature in features %}
  {%- set code %}code{{ nbsql.feature_suffix(feature) }}{% endset %},
  CAST({{ code }}.place + {{ code }}.size * folds.fold_no AS INTEGER) AS nbsql_place{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}

FROM {{ source }} AS source
JOIN {{ nbsql.numbered_folds(model, folds) }} ON folds.nbsql_slice = source.nbsql_slice
{%- for feature in features %}
{%- set code %}code{{ nbsql.feature_suffix(feature) }}{% endset %}

LEFT JOIN (
  SELECT value, size, place FROM {{ codes }} AS codes WHERE feature = {{ nbsql.text(feature.name) }}
) AS {{ code }} ON {{ code }}.value IS NOT DISTINCT FROM {{ nbsql[feature.family.name ~ '_value'](feature, nbsql.word('source')) }}
{%- endfor %}

WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{# The cells of some features, summed without those of each fold: slice (the fold that is left out), class, feature, value, n, mean, m2. #}
{% macro cells_without_each_fold(model, cells, features, folds) -%}
SELECT
  folds.nbsql_slice AS slice,
  cells.class,
  cells.feature,
  cells.value,
  sum(cells.n) AS n,
  {{ nbsql.null_columns(['mean', 'm2']) | indent(2) }},
  '1' AS batch
FROM {{ cells }} AS cells
JOIN {{ nbsql.numbered_folds(model, folds) }} ON folds.nbsql_slice <> cells.slice
WHERE cells.feature IS NULL OR cells.feature IN ({{ nbsql.feature_names(features) }})
GROUP BY folds.nbsql_slice, cells.class, cells.feature, cells.value
{%- endmacro %}

{# Lookups as in parameters.sql, with an additional row for a missing value that is a category, and one, unseen, for a value never seen. #}
{% macro coded_lookups(model, statistics, priors) -%}
SELECT
  smoothed.feature,
  smoothed.value,
  smoothed.unseen
  {%- for k in model.class_numbers %},
  max(CASE WHEN classes.class_no = {{ k }} THEN smoothed.score END) AS class_{{ k }}
  {%- endfor %}

FROM (
  {{ nbsql.smoothed_likelihoods(model, statistics, priors, model.features) | indent(2) }}
) AS smoothed
JOIN (
  {{ nbsql.classes(priors) | indent(2) }}
) AS classes ON classes.class = smoothed.class
GROUP BY smoothed.feature, smoothed.value, smoothed.unseen
{%- endmacro %}

{#
  What each value adds in each setting: its lookup, or if it has none, that of an unseen value, unless the value is missing and missing is
  not a category.

  names: for each coded feature of a setting, the number of the setting, the feature's name among the cells, and the feature.
#}
{% macro coded_scores(model, settings, names, folds, codes, lookups) -%}
WITH names(setting, counted, feature, categorical) AS (
  VALUES
    {% for setting, counted, feature in names %}
    {% set has_missing = nbsql.boolean(feature.family.nulls == 'category') %}
    ({{ setting }}, {{ nbsql.text(counted) }}, {{ nbsql.text(feature.name) }}, {{ has_missing }}){{ nbsql.comma(loop) }}
    {% endfor %}
),
places AS (
  SELECT
    settings.setting,
    names.feature,
    codes.value,
    codes.value IS NOT NULL OR names.categorical AS given,
    codes.place + codes.size * folds.fold_no AS place,
    folds.nbsql_slice
  FROM range(1, {{ settings + 1 }}) AS settings(setting)
  CROSS JOIN {{ codes }} AS codes
  CROSS JOIN {{ nbsql.numbered_folds(model, folds) | indent(2) }}
  LEFT JOIN names ON names.setting = settings.setting AND names.counted = codes.feature
)
SELECT
  setting,
  list(
    struct_pack({% for k in model.class_numbers %}class_{{ k }} := class_{{ k }}{% if not loop.last %}, {% endif %}{% endfor %})
    ORDER BY place ASC NULLS LAST
  ) AS scores
FROM (
  SELECT
    places.setting,
    places.place
    {%- for k in model.class_numbers %},
    coalesce(lookups.class_{{ k }}, unseen.class_{{ k }}, 0) AS class_{{ k }}
    {%- endfor %}

  FROM places
  LEFT JOIN (
    SELECT * FROM {{ lookups }} AS lookups WHERE NOT unseen
  ) AS lookups
    ON lookups.feature = places.feature
    AND lookups.nbsql_slice = places.nbsql_slice
    AND {{ nbsql.same_value(nbsql.word('lookups'), nbsql.word('places')) }}
  LEFT JOIN (
    SELECT * FROM {{ lookups }} AS lookups WHERE unseen
  ) AS unseen ON unseen.feature = places.feature AND unseen.nbsql_slice = places.nbsql_slice AND places.given
) AS scores
GROUP BY setting
{%- endmacro %}

{#
  The coded rows with what all categories add to the joint log-likelihoods in a setting, nbsql_levels_1, nbsql_levels_2, ... This is a
  query of its own, in which the list is joined with the rows alone, because a join with anything else copies it.
#}
{% macro with_levels(model, rows, columns, features, scores, setting) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('values_of'), columns) | indent(2) }}
  values_of.nbsql_slice
  {%- for k in model.class_numbers %},
  {% for feature in features -%}
  values_of.value{{ nbsql.feature_suffix(feature) }}.class_{{ k }}{% if not loop.last %} + {% endif %}
  {%- endfor %} AS nbsql_levels_{{ k }}
  {%- endfor %}

FROM (
  SELECT
    rows.*
    {%- for feature in features %},
    scores.scores[rows.nbsql_place{{ nbsql.feature_suffix(feature) }}] AS value{{ nbsql.feature_suffix(feature) }}
    {%- endfor %}

  FROM {{ rows }} AS rows
  CROSS JOIN (
    SELECT scores FROM {{ scores }} AS scores WHERE setting = {{ setting }}
  ) AS scores
) AS values_of
{%- endmacro %}
