{# PostgreSQL's form of calibration by a rising function, in which width_bucket finds the knots. #}

{# width_bucket finds the last knot at or before x. A class without knots keeps its posterior. #}
{% macro postgres__isotonic_shares(rows, calibration) -%}
{% set x = nbsql.word('x') -%}
{% set shares -%}
ARRAY(
  SELECT
    CASE
      WHEN abs(x) = {{ nbsql.infinity() }} THEN CASE WHEN x > 0 THEN 1 ELSE 0 END
      WHEN xs IS NULL THEN {{ nbsql.logistic(x) }}
      WHEN last = 0 THEN ys[1]
      WHEN last = cardinality(xs) THEN ys[last]
      ELSE ys[last] + (ys[last + 1] - ys[last]) * ((x - xs[last]) / (xs[last + 1] - xs[last]))
    END
  FROM (
    SELECT each.x, each.k, knots.xs, knots.ys, width_bucket(each.x, knots.xs) AS last
    FROM unnest(nbsql_odds) WITH ORDINALITY AS each(x, k)
    LEFT JOIN (
      SELECT
        class_no,
        array_agg(score ORDER BY score ASC NULLS LAST) FILTER (WHERE score IS NOT NULL) AS xs,
        array_agg(probability ORDER BY score ASC NULLS LAST) FILTER (WHERE score IS NOT NULL) AS ys
      FROM {{ calibration | indent(6) }} AS calibration
      GROUP BY class_no
    ) AS knots ON knots.class_no = each.k
  ) AS found
  ORDER BY k ASC NULLS LAST
)
{%- endset -%}
{{ nbsql.with_columns(nbsql.log_odds(rows), [('nbsql_shares', shares)]) }}
{%- endmacro %}
