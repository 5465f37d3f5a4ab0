{#
  The edges that remain when adjacent bins are merged until the share of a class rises, falls, or rises up to a place and falls from there.
  One row per edge: edge, and classes, the number of classes of the target; if no edge remains, one row without an edge.

  This is pool adjacent violators (Ayer et al. 1955) without its steps. With the rows and those of the class cumulated, an edge remains if
  the share of every run of bins that ends there is below the share of every run that begins there. These edges are the corners of the
  greatest convex minorant (Barlow et al., Statistical Inference under Order Restrictions, 1972). A trend is known by its
  top, the place up to which the share rises: the last one if it only rises, the first one if it only falls. Up to the top, only the runs
  that end there count, and from the top on those that begin there; the top itself is an edge if the shares beside it differ. Of the trends
  that may be, the one with the greater information value is taken, in a tie that which rises further. Half a row is added to both sides of
  a bin, so that a bin with a single class has an information value.

  feature.family.by: the edges to choose from. The class is the larger label; with two classes, the share of the other one is then
  monotone, too.
#}
{% macro binned_monotone(model, source, feature) -%}
{% set x = nbsql.number_of(feature.column) -%}
{% set bin -%}
CASE {% for edge in feature.family.by %}WHEN {{ x }} < {{ nbsql.number(edge) }} THEN {{ loop.index0 }} {% endfor -%}
ELSE {{ feature.family.by | length }} END
{%- endset -%}
{% set slope %}(other.of_class - place.of_class) / (other.n - place.n){% endset -%}
WITH counts AS (
  SELECT {{ bin }} AS bin, {{ nbsql.target(model) }} AS class, CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }} AND {{ nbsql.finite(nbsql.uncoded(feature)) }} IS NOT NULL
  GROUP BY {{ bin }}, {{ nbsql.target(model) }}
),
classes AS (
  SELECT {{ nbsql.maximum(nbsql.word('class')) }} AS larger, count(DISTINCT class) AS classes FROM counts
),
bins AS (
  SELECT counts.bin, sum(counts.n) AS n, sum(CASE WHEN counts.class = classes.larger THEN counts.n ELSE 0 END) AS of_class
  FROM counts
  CROSS JOIN classes
  GROUP BY counts.bin
  HAVING sum(counts.n) > 0
),
-- after each bin, and before the first
places AS (
  SELECT
    bin,
    sum(n) OVER (ORDER BY bin ASC NULLS LAST) AS n,
    sum(of_class) OVER (ORDER BY bin ASC NULLS LAST) AS of_class,
    lead(bin) OVER (ORDER BY bin ASC NULLS LAST) AS following
  FROM bins
  UNION ALL
  SELECT -1, 0, 0, NULL
),
trends AS (
  SELECT bin AS top
  FROM places
  {% if feature.family.monotone != 'peak' %}
  WHERE {% if feature.family.monotone != 'rising' %}bin = -1{% endif %}
  {%- if feature.family.monotone is true %} OR {% endif %}
  {%- if feature.family.monotone != 'falling' %}bin = (SELECT max(bin) FROM places){% endif +%}
  {% endif %}
),
shares AS (
  SELECT
    trends.top,
    place.bin,
    place.following,
    max(CASE WHEN place.bin <= trends.top AND other.bin < place.bin THEN {{ slope }} END) AS most_before,
    min(CASE WHEN other.bin > place.bin AND other.bin <= trends.top THEN {{ slope }} END) AS least_after,
    min(CASE WHEN other.bin < place.bin AND other.bin >= trends.top THEN {{ slope }} END) AS least_before,
    max(CASE WHEN place.bin >= trends.top AND other.bin > place.bin THEN {{ slope }} END) AS most_after
  FROM places AS place
  JOIN places AS other ON other.bin <> place.bin
  CROSS JOIN trends
  GROUP BY trends.top, place.bin, place.following
),
-- shares that differ by rounding alone are the same
corners AS (
  SELECT top, bin, following
  FROM shares
  WHERE (bin < top AND most_before + 1e-12 < least_after)
    OR (bin > top AND least_before > most_after + 1e-12)
    OR (bin = top AND abs(most_before - most_after) > 1e-12)
),
parts AS (
  SELECT top, sum(n) AS n, sum(of_class) AS of_class
  FROM (
    SELECT trends.top, bins.bin, bins.n, bins.of_class, count(corners.bin) AS part
    FROM bins
    CROSS JOIN trends
    LEFT JOIN corners ON corners.top = trends.top AND corners.bin < bins.bin
    GROUP BY trends.top, bins.bin, bins.n, bins.of_class
  ) AS parted
  GROUP BY top, part
),
worth AS (
  SELECT top, sum((p - q) * ln(p / q)) AS information_value
  FROM (
    SELECT
      top,
      (of_class + 0.5) / sum(of_class + 0.5) OVER (PARTITION BY top) AS p,
      (n - of_class + 0.5) / sum(n - of_class + 0.5) OVER (PARTITION BY top) AS q
    FROM parts
  ) AS sides
  GROUP BY top
),
chosen AS (
  SELECT max(top) AS top
  FROM worth
  WHERE information_value >= (SELECT max(information_value) FROM worth) - 1e-12
)
SELECT edges.edge, classes.classes
FROM classes
LEFT JOIN (
  SELECT candidates.edge
  FROM corners
  JOIN chosen ON chosen.top = corners.top
  JOIN {% call(edge, bin) nbsql.constants(feature.family.by, 'candidates', ['bin', 'edge'], 2) -%}
{{ bin }}, {{ nbsql.number(edge) }}
{%- endcall %} ON candidates.bin = corners.following
) AS edges ON TRUE
ORDER BY edges.edge ASC NULLS LAST
{%- endmacro %}
