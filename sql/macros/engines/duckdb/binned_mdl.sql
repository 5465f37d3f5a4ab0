{# Bins of numbers that separate the classes (families/binned_mdl.sql), where rows are many. #}

{#
  The rows of `mdl_counts`, where no row has a weight. The bins are those of one row in `share`; all rows are then counted by one histogram
  for each class and feature. An edge is halfway between two values of the sample: it is x of the bin below it, and `least` of that above.

  is_varied: whether most rows differ, so that they can be drawn by a hash of their numbers, and their order does not matter.
#}
{% macro counts_in_histograms(model, source, features, share, is_varied) -%}
{% set numbers %}{% for feature in features %}{{ nbsql.number_of(feature.column) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set sample -%}
(
  SELECT *
  FROM (
    SELECT *, {{ nbsql.row_id() }} AS nbsql_row FROM {{ source }} AS source
  ) AS source
  WHERE {{ nbsql.mixed_hash(numbers if is_varied else nbsql.word('nbsql_row')) }} % {{ share }} = 0
)
{%- endset -%}
{% set indexes %}{% call(feature) nbsql.array_of_each(features) %}{{ feature.index }}{% endcall %}{% endset -%}
{% set histograms -%}
{% call(feature) nbsql.array_of_each(features) -%}
histogram({{ nbsql.finite(nbsql.uncoded(feature)) }}, coalesce(edges_{{ feature.index }}, [{{ nbsql.infinity() }}]))
{%- endcall %}
{%- endset -%}
SELECT feature, x, least, class, n
FROM (
  SELECT
    class,
    feature,
    unnest(map_keys(counts)) AS x,
    unnest(list_prepend(-{{ nbsql.infinity() }}, map_keys(counts))) AS least,
    CAST(unnest(map_values(counts)) AS DOUBLE) AS n
  FROM (
    SELECT
      {{ nbsql.target(model) }} AS class,
      {{ nbsql.unnested([indexes, histograms], ['feature', 'counts']) | indent(6) }}
    FROM {{ source }} AS source
    CROSS JOIN (
      SELECT
        {% for feature in features %}
        max(edges) FILTER (feature = {{ feature.index }}) AS edges_{{ feature.index }}{{ nbsql.comma(loop) }}
        {% endfor %}
      FROM (
        SELECT feature, list(edge ORDER BY edge ASC NULLS LAST) AS edges
        FROM (
          SELECT feature, x / 2 + lead(least) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) / 2 AS edge
          FROM (
            SELECT DISTINCT feature, x, least FROM {{ nbsql.subquery(nbsql.mdl_counts(model, sample, features)) | indent(12) }} AS counts
          ) AS bins
        ) AS sides
        WHERE edge IS NOT NULL
        GROUP BY feature
      ) AS edges
    ) AS edges
    WHERE {{ nbsql.is_counted(model) }}
    GROUP BY {{ nbsql.target(model) }}
  ) AS histograms
) AS counts
WHERE n > 0
{%- endmacro %}
