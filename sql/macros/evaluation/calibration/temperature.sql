{#
  The slope s = 1/T of least log loss: the root of its derivative, which increases with s,

    sum over the rows of w (E[g] - g_y),  E over the classes by p_k^s,  g_k = ln p_k - the highest of them

  by Newton's method (the second derivative is the variance of g), with bisection where a step would leave the bracket. T stays between
  1/100 and 1000. If the model is right in every row, the search ends when there is nothing left to gain. A row whose true class the model
  rules out has an infinite log loss at any T and is left out.
#}

{# So low that its exp is 0, while its square is still finite. #}
{% macro temperature_points(rows) -%}
{% set gaps, logs = nbsql.word('gaps'), nbsql.word('nbsql_logs') -%}
{% set gap %}greatest(x - nbsql_top, -1e100){% endset -%}
{% set true_gap = nbsql.element(gaps, nbsql.word('class_no')) -%}
SELECT weight, gaps, {{ true_gap }} AS gap, {{ nbsql.list_mapped(gaps, nbsql.square(nbsql.word('g')), 'g') }} AS squares
FROM {{ nbsql.with_columns(nbsql.with_top(rows), [('gaps', nbsql.list_mapped(logs, gap))]) }}
WHERE {{ true_gap }} > -1e99
{%- endmacro %}

{# One row, the first step, with slope 1: the columns of temperature_step. #}
{% macro temperature_start(points) -%}
SELECT
  0 AS step,
  CAST(1 AS {{ nbsql.double() }}) AS slope,
  {{ nbsql.number(1e-3) }} AS low,
  {{ nbsql.number(1e2) }} AS high,
  count(*) = 0 AS done
FROM {{ points }} AS points
{%- endmacro %}

{# One row, the next step of Newton's method, kept within bounds: step, slope, low, high, done. #}
{% macro temperature_step(steps, points) -%}
{% set masses = nbsql.word('masses') -%}
{% set power %}steps.slope * g{% endset -%}
{% set mean %}(first / mass){% endset -%}
SELECT step + 1 AS step, next AS slope, low, high, flat OR abs(next - slope) <= 1e-13 * slope OR step >= 100 AS done
FROM (
  SELECT *, CASE WHEN newton >= low AND newton <= high THEN newton ELSE sqrt(low * high) END AS next
  FROM (
    SELECT
      step,
      slope,
      CASE WHEN gradient <= 0 THEN slope ELSE low END AS low,
      CASE WHEN gradient >= 0 THEN slope ELSE high END AS high,
      CASE WHEN gradient = 0 THEN slope ELSE slope - gradient / nullif(curvature, 0) END AS newton,
      abs(gradient) <= 1e-13 * n AS flat
    FROM (
      SELECT
        step,
        slope,
        low,
        high,
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
          CROSS JOIN {{ points }} AS points
          {{- nbsql.optimisation_fence() | indent(10) }}
        ) AS masses
        {{- nbsql.optimisation_fence() | indent(8) }}
      ) AS moments
      GROUP BY step, slope, low, high
    ) AS derivatives
  ) AS newton
) AS next
{%- endmacro %}

{# One row: slope, which is 1/T. #}
{% macro temperature_result(steps) -%} SELECT slope FROM {{ steps }} AS steps {%- endmacro %}
