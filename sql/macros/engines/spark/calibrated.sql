{# Spark's form of calibration: higher-order functions find the last knot at or before x by bisection, as on DuckDB. #}

{#
  One row a row of `rows`: its columns; nbsql_odds; nbsql_xs, nbsql_ys and nbsql_last, the knots of each class and the last one at or
  before its odds; and nbsql_shares, the calibrated probabilities of the classes.
#}
{% macro spark__isotonic_shares(rows, calibration) -%}
{% set k = nbsql.word('k') -%}
{% set xs, ys = nbsql.element(nbsql.word('nbsql_xs'), k), nbsql.element(nbsql.word('nbsql_ys'), k) -%}
{% set last_knot = nbsql.element(nbsql.word('nbsql_last'), k) -%}
{% set next_knot = last_knot ~ ' + 1' -%}
{% set share -%}
CASE
    WHEN abs(x) = {{ nbsql.infinity() }} THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    WHEN {{ xs }} IS NULL THEN {{ nbsql.logistic(nbsql.word('x')) }}
    WHEN {{ last_knot }} = 0 THEN {{ nbsql.element(ys, 1) }}
    WHEN {{ last_knot }} = size({{ xs }}) THEN {{ nbsql.element(ys, last_knot) }}
    ELSE {{ nbsql.element(ys, last_knot) }} + ({{ nbsql.element(ys, next_knot) }} - {{ nbsql.element(ys, last_knot) }})
      * ((x - {{ nbsql.element(xs, last_knot) }}) / ({{ nbsql.element(xs, next_knot) }} - {{ nbsql.element(xs, last_knot) }}))
  END
{%- endset -%}
{% set found -%}
aggregate(
      nbsql_jumps,
      0,
      (last, jump) -> last + CASE WHEN {{ nbsql.element(xs, nbsql.word('last') ~ ' + jump') }} <= x THEN jump ELSE 0 END
    )
{%- endset -%}
SELECT
  *,
  {{ nbsql.list_mapped(nbsql.word('nbsql_odds'), share, 'x', 'k') }} AS nbsql_shares
FROM (
  SELECT
    *,
    {{ nbsql.list_mapped(nbsql.word('nbsql_odds'), found, 'x', 'k') }} AS nbsql_last
  FROM (
    {{ nbsql.log_odds(rows) | indent(4) }}
  ) AS odds
  CROSS JOIN (
    SELECT
      {{ nbsql.ordered_list(nbsql.word('xs'), nbsql.word('class_no')) }} AS nbsql_xs,
      {{ nbsql.ordered_list(nbsql.word('ys'), nbsql.word('class_no')) }} AS nbsql_ys,
      reverse(transform(sequence(0, CAST(floor(log2(max(size(xs)) + 0.5)) AS INT)), i -> shiftleft(1, i))) AS nbsql_jumps
    FROM (
      SELECT
        class_no,
        CASE WHEN count(score) > 0 THEN {{ nbsql.ordered_list(nbsql.word('score'), nbsql.word('score')) }} END AS xs,
        {{ nbsql.ordered_list(nbsql.word('probability'), nbsql.word('score')) }} AS ys
      FROM {{ calibration }} AS calibration
      GROUP BY class_no
    ) AS knots
  ) AS calibration
) AS found
{%- endmacro %}
