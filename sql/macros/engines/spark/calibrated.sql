{# Spark's forms of the bisection that finds the knots of a calibration. #}

{# The number of the last knot at or before x. #}
{% macro spark__last_knot(xs) -%}
aggregate(
      nbsql_jumps,
      0,
      (last, jump) -> last + CASE WHEN {{ nbsql.element(xs, nbsql.word('last') ~ ' + jump') }} <= x THEN jump ELSE 0 END
    )
{%- endmacro %}
