{# Where calibration differs: the last knot at or before x is found by bisection, as on DuckDB, with functions that take a function. #}

{% macro spark__isotonic_shares(rows, calibration) -%}
{% set k, last = nbsql.word('k'), nbsql.word('last') -%}
{% set xs, ys = nbsql.at(nbsql.word('nbsql_xs'), k), nbsql.at(nbsql.word('nbsql_ys'), k) -%}
{% set own = nbsql.at(nbsql.word('nbsql_last'), k) -%}
{% set next = own ~ ' + 1' -%}
{% set share -%}
CASE
    WHEN abs(x) = {{ nbsql.infinity() }} THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
    WHEN {{ xs }} IS NULL THEN {{ nbsql.logistic(nbsql.word('x')) }}
    WHEN {{ own }} = 0 THEN {{ nbsql.at(ys, 1) }}
    WHEN {{ own }} = size({{ xs }}) THEN {{ nbsql.at(ys, own) }}
    ELSE {{ nbsql.at(ys, own) }} + ({{ nbsql.at(ys, next) }} - {{ nbsql.at(ys, own) }})
      * ((x - {{ nbsql.at(xs, own) }}) / ({{ nbsql.at(xs, next) }} - {{ nbsql.at(xs, own) }}))
  END
{%- endset -%}
{% set found -%}
aggregate(nbsql_jumps, 0, (last, jump) -> last + CASE WHEN {{ nbsql.at(xs, nbsql.word('last') ~ ' + jump') }} <= x THEN jump ELSE 0 END)
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
      {{ nbsql.gathered(nbsql.word('xs'), nbsql.word('class_no')) }} AS nbsql_xs,
      {{ nbsql.gathered(nbsql.word('ys'), nbsql.word('class_no')) }} AS nbsql_ys,
      reverse(transform(sequence(0, CAST(floor(log2(max(size(xs)) + 0.5)) AS INT)), i -> shiftleft(1, i))) AS nbsql_jumps
    FROM (
      SELECT
        class_no,
        CASE WHEN count(score) > 0 THEN {{ nbsql.gathered(nbsql.word('score'), nbsql.word('score')) }} END AS xs,
        {{ nbsql.gathered(nbsql.word('probability'), nbsql.word('score')) }} AS ys
      FROM {{ calibration }} AS calibration
      GROUP BY class_no
    ) AS knots
  ) AS calibration
) AS found
{%- endmacro %}
