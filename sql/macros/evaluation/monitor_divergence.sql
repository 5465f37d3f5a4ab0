{# The distances of the rows of periods from a reference, for monitor.sql. #}

{#
  Common table expressions. The last is compared, one row per value that is compared by counts: metric, slice, feature, value, a (its count
  in the reference), b (in the slice) and seen (in the learnt data).
#}
{% macro compared_counts(features, bounded, priors, score) -%}
{% set text %}{{ nbsql.string() }}{% endset -%}
{% set of_feature %}CAST('psi' AS {{ text }}){{ nbsql.binary() }} AS metric{% endset -%}
values_learnt AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.summed_values(nbsql.word('learnt'), features, bounded=bounded)) }},
values_of_slices AS {{ nbsql.materialized() }}(
  {{ nbsql.summed_values(nbsql.word('counted'), features, 'slice', bounded) | indent(2) }}
  {% if bounded %}
  UNION ALL
  {# All numbers outside of the distribution of their family are one value. #}
  SELECT slice, feature, CAST('outside' AS {{ text }}){{ nbsql.binary() }}, n FROM outside WHERE n > 0
  {% endif %}
),
mixes AS {{ nbsql.materialized() }}(
  SELECT metric{{ nbsql.binary() }} AS metric, slice, label{{ nbsql.binary() }} AS label, value AS n
  FROM (
    SELECT slice, CAST(class AS {{ text }}) AS label, {{ nbsql.metric_rows(['posterior_psi', 'label_psi']) | indent(4) }}
    FROM (
      SELECT slice, class, posterior AS posterior_psi, actual AS label_psi FROM of_classes
    ) AS of_classes
  ) AS shares
  {% if score %}
  UNION ALL
  SELECT 'psi', nbsql_period, label, sum(weight)
  FROM (
    SELECT
      nbsql_period,
      CAST(prediction AS {{ text }}) || ' ' || {{ nbsql.bin_of('probability', nbsql.word('outcomes'), score[0], score[1]) }} AS label,
      weight
    FROM outcomes
  ) AS scores
  GROUP BY nbsql_period, label
  {% endif %}
),
compared AS {{ nbsql.materialized() }}(
  SELECT metric, slice, feature, value, sum(a) AS a, sum(b) AS b, sum(seen) AS seen
  FROM (
    SELECT {{ of_feature }}, slice, feature, value, {{ nbsql.number(0) }} AS a, n AS b, {{ nbsql.number(0) }} AS seen FROM values_of_slices
    UNION ALL
    SELECT 'psi', slices.slice, feature, value, {% if score %}0{% else %}n{% endif %}, 0, n FROM values_learnt CROSS JOIN slices
    UNION ALL
    SELECT metric, slice, NULL, label, 0, n, 0 FROM mixes
    UNION ALL
    {% if score %}
    SELECT 'psi', slices.slice, feature, value, n, 0, 0 FROM values_of_slices CROSS JOIN slices WHERE values_of_slices.slice = 'r'
    UNION ALL
    SELECT metric, slices.slice, NULL, label, n, 0, 0 FROM mixes CROSS JOIN slices WHERE mixes.slice = 'r'
    {% else %}
    SELECT metric, slices.slice, NULL, value, n, 0, 0
    FROM (
      SELECT 'posterior_psi' AS metric, CAST(class AS {{ text }}){{ nbsql.binary() }} AS value, prior * sum(n) OVER () AS n
      FROM {{ priors }} AS priors
      UNION ALL
      SELECT 'label_psi', CAST(class AS {{ text }}), n
      FROM {{ priors }} AS priors
    ) AS expected
    CROSS JOIN slices
    {% endif %}
  ) AS sides
  GROUP BY metric, slice, feature, value
  HAVING sum(a) > 0 OR sum(b) > 0
)
{%- endmacro %}

{# The counts of values in cells: feature, value, n, and `by` if given, the class or the slice; otherwise they are summed over it. #}
{% macro summed_values(cells, features, by=none, bounded=[]) -%}
{% set bags = features | selectattr('family.bag') | list -%}
{% set inflated = features | selectattr('family.zeros') | list + bounded -%}
{% set key %}{% if by %}{{ nbsql.word(by) }}, {% endif %}{% endset -%}
SELECT {{ key }}feature, value, sum(n * coalesce(mean, 1)) AS n
FROM {{ cells }} AS cells
WHERE feature IS NOT NULL AND (mean IS NULL OR (value IS NOT NULL AND m2 IS NULL))
{%- if bags %} AND (value IS NOT NULL OR feature NOT IN ({{ nbsql.feature_names(bags) }})){% endif +%}
GROUP BY {{ key }}feature, value
{%- if inflated +%}
UNION ALL
SELECT {{ key }}feature, {{ nbsql.nonzero_value() }}, sum(n)
FROM {{ cells }} AS cells
WHERE mean IS NOT NULL AND feature IN ({{ nbsql.feature_names(inflated) }})
GROUP BY {{ key }}feature
{%- endif %}
{%- endmacro %}

{# The condition that a number is outside of its distribution, so that a fit refuses it. #}
{% macro is_outside(feature) -%}
{% set rule = 'breaks_' ~ feature.family.rules['integer'][0] -%}
{{ nbsql.finite(nbsql.number_of(feature.column)) }} IS NOT NULL AND ({{ nbsql[rule](feature.column) }})
{%- endmacro %}

{# One row per slice and feature: slice, feature, and a number of this name, which a block renders as an aggregate over the rows. #}
{% macro numbers_by_slice(features, monitored, name) -%}
{% set names %}{% for feature in features %}{{ nbsql.text(feature.name) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set numbers %}{% for feature in features %}number_{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
{% set lists = [nbsql.list_of(names, nbsql.string()), nbsql.list_of(numbers, nbsql.double())] -%}
SELECT slice, {{ nbsql.unnested(lists, ['feature', name]) | indent(2) }}
FROM (
  SELECT
    nbsql_period AS slice
    {%- for feature in features %},
    {{ caller(feature) | indent(4) }} AS number_{{ feature.index }}
    {%- endfor +%}
  FROM {{ monitored }} AS source
  GROUP BY nbsql_period
) AS numbers
{%- endmacro %}

{# The weight of the numbers outside of their distribution: slice, feature, n. #}
{% macro numbers_outside(features, monitored) -%}
{% call(feature) nbsql.numbers_by_slice(features, monitored, 'n') -%}
sum(CASE WHEN {{ nbsql.is_outside(feature) }} THEN nbsql_weight ELSE 0 END)
{%- endcall %}
{%- endmacro %}

{#
  The share of the rows in which a feature, or a column of it, is missing: slice, feature, value. The column that a category depends on is
  none of its own.
#}
{% macro missing_shares(features, monitored) -%}
{% call(feature) nbsql.numbers_by_slice(features, monitored, 'value') -%}
{% set is_number = feature.floating and (feature.family.cell in ['bin', 'place'] or not feature.family.has_lookups) -%}
sum(CASE WHEN {% for column in (feature.columns[:1] if feature.family.parent else feature.columns) -%}
{% set x %}source.{{ nbsql.ident(column) }}{% endset -%}
{% if is_number %}{{ nbsql.finite(x) }}{% else %}{{ x }}{% endif %} IS NULL{% if not loop.last %} OR {% endif %}
{%- endfor %} THEN nbsql_weight ELSE 0 END) / sum(nbsql_weight)
{%- endcall %}
{%- endmacro %}

{# The metrics of the reference: feature, class, metric, value; without reference rows, from the model's counts. #}
{% macro reference_values(features, value_features, priors, as_text, score) -%}
{% if score -%}
SELECT feature, class, metric, value FROM measured WHERE slice = 'r'
{%- else -%}
{% set columns = features | rejectattr('family.bag') | rejectattr('family.over_columns') | list -%}
{% set pairs = columns | selectattr('family.parent') | list -%}
{% set pair %}CASE WHEN cells.feature IN ({{ nbsql.feature_names(pairs) }}) THEN cells.value ELSE '[""]' END{% endset -%}
SELECT {{ nbsql.no_text() }} AS feature, class, metric{{ nbsql.binary() }} AS metric, value
FROM (
  SELECT class, {{ nbsql.metric_rows(['posterior', 'actual']) | indent(2) }}
  FROM (
    SELECT {{ nbsql.as_text_if(nbsql.word('class'), as_text) }} AS class, prior AS posterior, n / sum(n) OVER () AS actual
    FROM {{ priors }} AS priors
  ) AS shares
) AS of_classes
{%- if value_features +%}
UNION ALL
SELECT feature, NULL, 'unseen', {{ nbsql.number(0) }}
FROM (SELECT DISTINCT feature FROM compared WHERE feature IN ({{ nbsql.feature_names(value_features) }})) AS compared_features
{%- endif %}
{%- if columns +%}
UNION ALL
SELECT cells.feature, NULL, 'nulls', greatest(1 - sum(cells.n) / max(everything.n), 0)
FROM learnt AS cells
CROSS JOIN (
  SELECT sum(n) AS n FROM learnt WHERE feature IS NULL
) AS everything
WHERE cells.feature IN ({{ nbsql.feature_names(columns) }}) AND (cells.value IS NOT NULL OR cells.mean IS NOT NULL)
{%- if pairs %} AND ({{ nbsql.json_element(pair, 0) }}) IS NOT NULL{% endif +%}
GROUP BY cells.feature
{%- endif %}
{%- endif %}
{%- endmacro %}
