{#
  The bins of a number, of which adjacent ones are merged until the share of a class is monotone (nbsql/family/binned.py). One row per bin
  with rows, in order: bin, from 0; n; of_class, that of the larger label; and classes, the number of classes of the target.

  feature.family.by: the edges of the bins.
#}
{% macro binned_monotone(model, source, feature) -%}
{% set x = nbsql.number_of(feature.column) -%}
{% set bin -%}
CASE {% for edge in feature.family.by %}WHEN {{ x }} < {{ nbsql.number(edge) }} THEN {{ loop.index0 }} {% endfor -%}
ELSE {{ feature.family.by | length }} END
{%- endset -%}
WITH counts AS (
  SELECT {{ bin }} AS bin, {{ nbsql.target(model) }} AS class, CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS n
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }} AND {{ nbsql.finite(nbsql.uncoded(feature)) }} IS NOT NULL
  GROUP BY {{ bin }}, {{ nbsql.target(model) }}
)
SELECT counts.bin, sum(counts.n) AS n, sum(CASE WHEN counts.class = classes.larger THEN counts.n ELSE 0 END) AS of_class, classes.classes
FROM counts
CROSS JOIN (
  SELECT {{ nbsql.maximum(nbsql.word('class')) }} AS larger, count(DISTINCT class) AS classes FROM counts
) AS classes
GROUP BY counts.bin, classes.classes
HAVING sum(counts.n) > 0
ORDER BY counts.bin ASC NULLS LAST
{%- endmacro %}
