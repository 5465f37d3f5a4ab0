{#
  The edges that remain when adjacent bins are merged until the share of a class rises, or falls, from bin to bin. One row per edge: edge,
  and classes, the number of classes of the target; if no edge remains, one row without an edge.

  This is pool adjacent violators (Ayer et al. 1955) without its steps. With the rows and those of the class cumulated, an edge remains if
  the share of every run of bins that ends there is below the share of every run that begins there. These edges are the corners of the
  greatest convex minorant (Barlow et al., Statistical Inference under Order Restrictions, 1972). Of the two directions, the one with the
  greater information value is taken, rising in a tie. Half a row is added to both sides of a bin, so that a bin with a single class has
  an information value.

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
  WHERE {{ nbsql.is_counted(model) }} AND {{ nbsql.finite(x) }} IS NOT NULL
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
shares AS (
  SELECT
    place.bin,
    place.following,
    max(CASE WHEN other.bin < place.bin THEN {{ slope }} END) AS most_before,
    min(CASE WHEN other.bin < place.bin THEN {{ slope }} END) AS least_before,
    max(CASE WHEN other.bin > place.bin THEN {{ slope }} END) AS most_after,
    min(CASE WHEN other.bin > place.bin THEN {{ slope }} END) AS least_after
  FROM places AS place
  JOIN places AS other ON other.bin <> place.bin
  GROUP BY place.bin, place.following
),
-- shares that differ by rounding alone are the same
corners AS (
  SELECT bin, following, 1 AS direction FROM shares WHERE most_before + 1e-12 < least_after
  UNION ALL
  SELECT bin, following, 2 FROM shares WHERE least_before > most_after + 1e-12
),
parts AS (
  SELECT direction, sum(n) AS n, sum(of_class) AS of_class
  FROM (
    SELECT directions.direction, bins.bin, bins.n, bins.of_class, count(corners.bin) AS part
    FROM bins
    CROSS JOIN (SELECT 1 AS direction UNION ALL SELECT 2) AS directions
    LEFT JOIN corners ON corners.direction = directions.direction AND corners.bin < bins.bin
    GROUP BY directions.direction, bins.bin, bins.n, bins.of_class
  ) AS parted
  GROUP BY direction, part
),
worth AS (
  SELECT direction, sum((p - q) * ln(p / q)) AS information_value
  FROM (
    SELECT
      direction,
      (of_class + 0.5) / sum(of_class + 0.5) OVER (PARTITION BY direction) AS p,
      (n - of_class + 0.5) / sum(n - of_class + 0.5) OVER (PARTITION BY direction) AS q
    FROM parts
  ) AS sides
  GROUP BY direction
),
chosen AS (
  SELECT CASE WHEN falling.information_value > rising.information_value + 1e-12 THEN 2 ELSE 1 END AS direction
  FROM worth AS rising
  JOIN worth AS falling ON rising.direction = 1 AND falling.direction = 2
)
SELECT edges.edge, classes.classes
FROM classes
LEFT JOIN (
  SELECT candidates.edge
  FROM corners
  JOIN chosen ON chosen.direction = corners.direction
  JOIN (
    VALUES
      {% for edge in feature.family.by %}
      ({{ loop.index }}, {{ nbsql.number(edge) }}){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS candidates(bin, edge) ON candidates.bin = corners.following
) AS edges ON TRUE
ORDER BY edges.edge ASC NULLS LAST
{%- endmacro %}
