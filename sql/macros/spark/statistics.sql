{# Where counting differs: lists that are unnested side by side are zipped first. #}

{% macro spark__cells_side_by_side(model, scan, features) -%}
SELECT
  scan.class,
  {% if model.slice_by %}
  scan.slice,
  {% endif %}
  inline(arrays_zip(
    {% for column in ['index', 'feature', 'value', 'n', 'centre', 'total', 'squares'] %}
    CAST(array(
      {%- for feature in features -%}
      {{ nbsql[feature.family.name ~ '_cells'](feature, column) }}{% if not loop.last %}, {% endif %}
      {%- endfor -%}
    ) AS ARRAY<{% if column == 'index' %}INT{% elif column in ('feature', 'value') %}{{ nbsql.string() }}{% else %}{{ nbsql.double() }}{% endif %}>){{ nbsql.comma(loop) }}
    {% endfor %}
  )) AS (index, feature, value, n, centre, total, squares)
FROM {{ scan }} AS scan
WHERE scan.class IS NOT NULL
{%- endmacro %}

{% macro spark__centres(source, features) -%}
{% set several = features | selectattr('family.over_columns') | list -%}
SELECT index, percentile_disc(0.5) WITHIN GROUP (ORDER BY x) AS centre{% if several %}, j{% endif %}

FROM (
  SELECT inline(array(
    {%- for feature in features %}
    {%- set outer = loop %}
    {%- for column in feature.columns -%}
    struct({{ feature.index }} AS index, {% if several %}{{ loop.index }} AS j, {% endif %}nbsql_x{{ nbsql.sub(feature, loop.index if feature.family.over_columns else none) }} AS x){% if not (loop.last and outer.last) %}, {% endif %}
    {%- endfor %}
    {%- endfor -%}
  ))
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

{% macro spark__breaks_negative_counts(column) -%}
coalesce(array_min(map_values(source.{{ nbsql.ident(column) }})) < 0, FALSE)
{%- endmacro %}

{# A whole number is written as one, whichever type it has. #}
{% macro spark__sliced(source, expression) -%}
(
  SELECT
    source.*,
    CASE
      WHEN typeof(({{ expression }})) IN ('double', 'float') THEN regexp_replace(CAST(({{ expression }}) AS {{ nbsql.string() }}), r'\.0$', '')
      ELSE CAST(({{ expression }}) AS {{ nbsql.string() }})
    END AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}
