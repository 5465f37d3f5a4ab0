{#
  The slope s = 1/T of least log loss: the root of its derivative, which increases with s,

    sum over the rows of w (E[g] - g_y),  E over the classes by p_k^s,  g_k = ln p_k - the highest of them

  by Newton's method (the second derivative is the variance of g), with bisection where a step would leave the bracket. T stays between
  1/100 and 1000. If the model is right in every row, the search ends when there is nothing left to gain. A row whose true class the model
  rules out has an infinite log loss at any T and is left out.

  The log loss of a row is at most -ln(2^-52), as an evaluation has it, and no longer grows with s beyond. If rows are lost so at s = 1,
  powers of 2 are compared first, and the rows that are lost at the best of them are left out, too: a few could pull T to its bound.
#}

{# The gap below which the log loss of a row is as large as it can be, at slope 1. #}
{% macro lost_gap() -%} ln({{ nbsql.epsilon() }}) {%- endmacro %}

{# So low that its exp is 0, while its square is still finite. #}
{% macro temperature_points(rows) -%}
{% set gaps, logs = nbsql.word('gaps'), nbsql.word('nbsql_logs') -%}
{% set gap %}greatest(x - nbsql_top, -1e100){% endset -%}
{% set true_gap = nbsql.element(gaps, nbsql.word('class_no')) -%}
SELECT weight, gaps, {{ true_gap }} AS gap, {{ nbsql.list_mapped(gaps, nbsql.square(nbsql.word('g')), 'g') }} AS squares
FROM {{ nbsql.with_columns(nbsql.with_top(rows), [('gaps', nbsql.list_mapped(logs, gap))]) }}
WHERE {{ true_gap }} > -1e99
{%- endmacro %}

{#
  One row, the first step, with slope 1 or the power of 2 of least log loss: the columns of temperature_step. `lost` is the gap of the rows
  that are left out.
#}
{% macro temperature_start(points) -%}
{% set power %}slopes.slope * g{% endset -%}
{% set true_power %}slope * gap{% endset -%}
{% set probability %}{{ nbsql.exp(true_power) }} / {{ nbsql.list_total(nbsql.word('masses')) }}{% endset -%}
SELECT
  0 AS step,
  coalesce(slope, 1) AS slope,
  CASE WHEN slope > 2e-3 THEN slope / 2 ELSE {{ nbsql.number(1e-3) }} END AS low,
  CASE WHEN slope < 50 THEN slope * 2 ELSE {{ nbsql.number(1e2) }} END AS high,
  coalesce({{ nbsql.lost_gap() }} / slope, {{ nbsql.number(-1e100) }}) AS lost,
  coalesce(highest < coalesce({{ nbsql.lost_gap() }} / slope, highest), TRUE) AS done
FROM (SELECT max(gap) AS highest FROM {{ points }} AS points) AS gaps
LEFT JOIN (
  SELECT slope, sum(weight * {{ nbsql.log_loss_of(probability) }}) AS loss
  FROM (
    SELECT slope, weight, gap, {{ nbsql.list_mapped(nbsql.word('gaps'), nbsql.exp(power), 'g') }} AS masses
    FROM {{ points }} AS points
    CROSS JOIN (
      VALUES
        ({{ nbsql.number(1e-3) }}),
        {% for power in range(-9, 7) %}
        ({{ nbsql.number(2.0 ** power) }}){{ nbsql.comma(loop) }}
        {% endfor %}
    ) AS slopes(slope)
    WHERE (SELECT min(gap) FROM {{ points }} AS points) < {{ nbsql.lost_gap() }}
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS masses
  GROUP BY slope
  ORDER BY loss ASC NULLS LAST, slope ASC NULLS LAST
  LIMIT 1
) AS best ON TRUE
{%- endmacro %}

{# One row, the next step of Newton's method, kept within bounds: step, slope, low, high, lost, done. #}
{% macro temperature_step(steps, points) -%}
{% set masses = nbsql.word('masses') -%}
{% set power %}steps.slope * g{% endset -%}
{% set mean %}(first / mass){% endset -%}
SELECT step + 1 AS step, next AS slope, low, high, lost, flat OR abs(next - slope) <= 1e-13 * slope OR step >= 100 AS done
FROM (
  SELECT *, CASE WHEN newton >= low AND newton <= high THEN newton ELSE sqrt(low * high) END AS next
  FROM (
    SELECT
      step,
      slope,
      CASE WHEN gradient <= 0 THEN slope ELSE low END AS low,
      CASE WHEN gradient >= 0 THEN slope ELSE high END AS high,
      lost,
      CASE WHEN gradient = 0 THEN slope ELSE slope - gradient / nullif(curvature, 0) END AS newton,
      abs(gradient) <= 1e-13 * n AS flat
    FROM (
      SELECT
        step,
        slope,
        low,
        high,
        lost,
        sum(weight) AS n,
        coalesce(sum(weight * (first / mass - gap)), 0) AS gradient,
        sum(weight * greatest(second / mass - {{ nbsql.square(mean) }}, 0)) AS curvature
      FROM (
        SELECT
          *,
          {{ nbsql.list_total(masses) }} AS mass,
          {{ nbsql.list_product(masses, nbsql.word('gaps')) }} AS first,
          {{ nbsql.list_product(masses, nbsql.word('squares')) }} AS second
        FROM (
          SELECT{{ nbsql.broadcast_hint(nbsql.word('steps')) }}
            steps.*,
            points.*,
            {{ nbsql.list_mapped(nbsql.word('points.gaps'), nbsql.exp(power), 'g') }} AS masses
          FROM {{ steps }} AS steps
          JOIN {{ points }} AS points ON points.gap >= steps.lost
          {{- nbsql.optimisation_fence() | indent(10) }}
        ) AS masses
        {{- nbsql.optimisation_fence() | indent(8) }}
      ) AS moments
      GROUP BY step, slope, low, high, lost
    ) AS derivatives
  ) AS newton
) AS next
{%- endmacro %}

{# One row: slope, which is 1/T. #}
{% macro temperature_result(steps) -%} SELECT slope FROM {{ steps }} AS steps {%- endmacro %}
