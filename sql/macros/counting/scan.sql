{# One pass over the rows: the inputs of each row, and their sums, one row per class. #}

{#
  The rows of a relation as the scan reads them: class, weight, an x for every number, and a flag for every broken rule.

  centres: one number a feature, near the middle of its values. Sums of x and x * x are taken about it, which keeps the digits that
  E[x * x] - E[x] * E[x] would cancel (shifted data: Chan, Golub and LeVeque, The American Statistician 37, 1983). careful: NaN and
  infinities become NULL. centred: the centres are the means of each class, from the relation `means`.
#}
{% macro scan_inputs(model, source, features, checks=[], centres={}, careful=false, centred=false) -%}
SELECT
  {{ nbsql.counted_columns(model) | indent(2) }}
  {%- for feature in features %},
  {{ nbsql.inputs(feature, centres.get(feature.index), careful, centred) | indent(2) }}
  {%- endfor %}
  {%- for check in checks %},
  {{ nbsql['breaks_' ~ check.rule](check.column) }} AS broken_{{ loop.index }}
  {%- endfor +%}
{% set guarded = centres or centred -%}
{% set rows %}{% if guarded %}{{ nbsql.with_complete_values(source, features, careful) }}{% else %}{{ source }}{% endif %}{% endset -%}
FROM {{ rows | indent(2) }} AS source
{%- if centred +%}
LEFT JOIN means
  ON means.class = {{ nbsql.target(model) }}
  {%- if model.facts.slice_by +%}
  AND means.slice IS NOT DISTINCT FROM source.nbsql_slice
  {%- endif %}
{%- endif %}
{%- endmacro %}

{# A source with a check of completeness for the features that count several columns together. #}
{% macro with_complete_values(source, features, careful) -%}
{% set together = features | selectattr('family.kind', 'equalto', 'matrix') | list -%}
{% if together -%}
(
  SELECT
    source.*
    {%- for feature in together %},
    {{ nbsql[feature.family.macros.whole](feature, careful) }} AS nbsql_whole{{ nbsql.feature_suffix(feature) }}
    {%- endfor +%}
  FROM {{ source }} AS source
)
{%- else -%}
{{ source }}
{%- endif %}
{%- endmacro %}

{# The weighted sum of the squares of a number. #}
{% macro default__summed_squares(model, x, careful) -%}
{% set square %}{{ x }} * {{ x }}{% endset -%}
{{ nbsql.class_total(model, square) }}
{%- endmacro %}

{# A number of a row as an input column. #}
{% macro number_input(feature, column, j=none, careful=false) -%}
{{ nbsql.scan_value(nbsql.number_of(column), careful) }} AS nbsql_x{{ nbsql.feature_suffix(feature, j) }}
{%- endmacro %}

{#
  The wide scan. One row per class, and one for rows without a class: `rows`, n, the aggregates of every scanned feature, and for every
  check the number of rows that break its rule.

  careful: the second pass, over the features whose sums the first could not hold. It reads the rows twice, centred on the mean of each
  class and slice.
#}
{% macro scan(model, source, features, checks=[], centres={}, careful=false) -%}
{% if careful -%}
WITH means AS (
  SELECT
    class
    {%- if model.facts.slice_by %},
    slice
    {%- endif %}
    {%- for suffix in nbsql.centred_numbers(features).split() %},
    {% set x %}nbsql_x{{ suffix }}{% endset %}
    {{ nbsql.class_total(model, x) }} / {{ nbsql.null_if_zero(nbsql.weighted_count(model, x)) }} AS centre{{ suffix }}
    {%- endfor +%}
  FROM {{ nbsql.subquery(nbsql.scan_inputs(model, source, features, careful=true)) | indent(2) }} AS projected
  GROUP BY {{ nbsql.class_and_slice(model) }}

)
{% endif -%}
SELECT
  {{ nbsql.class_and_slice(model) }},
  {{ nbsql.number_of_rows() }},
  {%+ if model.spec.weight %}sum(weight){% else %}count(*){%+ endif %} AS n
  {%- for feature in features %}
  {{- nbsql[feature.family.macros.aggregates](model, feature, centres.get(feature.index), careful) }}
  {%- endfor %}
  {%- for check in checks %},
  count(CASE WHEN broken_{{ loop.index }} THEN 1 END) AS broken_{{ loop.index }}
  {%- endfor +%}
FROM (
  {{ nbsql.scan_inputs(model, source, features, checks, centres, careful, careful) | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS projected
GROUP BY {{ nbsql.class_and_slice(model) }}

{%- endmacro %}

{#
  The scan of numbers with a centre by one row per class and number, the columns of summed_cells (statistics.sql): if rows are few, lists
  of thousands of numbers are planned in less time than their aggregates.
#}
{% macro long_scan(model, source, features, centres) -%}
{% set indices %}{% for feature in features %}{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set names %}{% for feature in features %}{{ nbsql.text(feature.name) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set middles %}{% for feature in features %}{{ centres[feature.index] }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set numbers %}{% for feature in features %}nbsql_x{{ nbsql.feature_suffix(feature) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set lists = [nbsql.array_of(indices), nbsql.array_of(names), nbsql.array_of(middles), nbsql.array_of(numbers)] -%}
{% set x = nbsql.word('x') -%}
SELECT
  {{ nbsql.class_and_slice(model) }},
  index,
  feature,
  CAST(NULL AS {{ nbsql.string() }}) AS value,
  {{ nbsql.weighted_count(model, x) }} AS n,
  centre,
  {{ nbsql.class_total(model, x) }} AS total,
  {{ nbsql.summed_squares(model, x, false) }} AS squares
FROM (
  SELECT
    {{ nbsql.class_and_slice(model) }},
    {% if model.spec.weight %}
    weight,
    {% endif %}
    {{ nbsql.unnested(lists, ['index', 'feature', 'centre', 'x']) | indent(4) }}
  FROM {{ nbsql.subquery(nbsql.scan_inputs(model, source, features, [], centres)) | indent(2) }} AS projected
  WHERE class IS NOT NULL
) AS numbers
GROUP BY {{ nbsql.class_and_slice(model) }}, index, feature, centre
{%- endmacro %}

{# The rows of a long scan that are of some features. #}
{% macro cells_of_long_scan(model, scan, features) -%}
SELECT *
FROM {{ scan }} AS scan
WHERE index IN ({% for feature in features %}{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %})
{%- endmacro %}
