{#
  Calibration fitted on scores of rows whose class is known. All of it reads two relations:

    rows    a row a row: class_no (the true class), weight, nbsql_logs (the list of ln p_k, by class_no)
    scores  a row a row and class: class_no, hit (whether it is the true class), score (the log-odds, finite), weight

  and makes one, `calibration`: method, class_no, class, temperature, slope, intercept, score, probability; of these temperature has
  one row, platt a row a class, isotonic a row a knot. What a method has no use for is NULL.
#}

{% macro calibration_rows(model, scored, parameters, weight, as_text) -%}
SELECT
  known.class_no,
  judged.weight,
  {% set logs %}judged.logs{% endset %}
  {% set log %}x - judged.evidence{% endset %}
  {{ nbsql.list_mapped(logs, log) }} AS nbsql_logs
FROM (
  SELECT
    {{ nbsql.label(nbsql.target(model), as_text) }} AS class,
    {%+ if weight is none %}CAST(1 AS {{ nbsql.double() }}){% else %}CAST(source.{{ nbsql.ident(weight) }} AS {{ nbsql.double() }}){%+ endif %} AS weight,
    source.nbsql_log_evidence AS evidence,
    source.nbsql_logs AS logs
  FROM {{ nbsql.with_logs(model, scored) | indent(2) }} AS source
) AS judged
JOIN (
  SELECT {{ nbsql.label(nbsql.word('class'), as_text) }} AS class, class_no
  FROM (
    {{ nbsql.numbered_classes(model, parameters) | indent(4) }}
  ) AS classes
) AS known ON known.class = judged.class
WHERE judged.weight > 0 AND judged.evidence > -{{ nbsql.infinity() }}
{%- endmacro %}

{% macro calibration_scores(rows) -%}
SELECT class_no, class_no = actual AS hit, score, weight
FROM (
  SELECT class_no AS actual, unnest(nbsql_odds) AS score, generate_subscripts(nbsql_odds, 1) AS class_no, weight
  FROM (
    {{ nbsql.log_odds(rows) | indent(4) }}
  ) AS odds
) AS scores
WHERE abs(score) < {{ nbsql.infinity() }}
{%- endmacro %}

{# The columns of `calibration`, of the classes that a method has found something for, or of none. #}
{% macro calibration_table(model, parameters, method, found) -%}
WITH RECURSIVE {{ found }}
SELECT
  {{ nbsql.text(method) }} AS method,
  classes.class_no,
  classes.class,
  {%+ if method == 'temperature' %}1 / found.slope{% else %}CAST(NULL AS {{ nbsql.double() }}){%+ endif %} AS temperature,
  {% if method == 'platt' %}
  coalesce(found.slope, 1) AS slope,
  coalesce(found.intercept, 0) AS intercept,
  {% else %}
  CAST(NULL AS {{ nbsql.double() }}) AS slope,
  CAST(NULL AS {{ nbsql.double() }}) AS intercept,
  {% endif %}
  {% if method == 'isotonic' %}
  found.score,
  found.probability
  {% else %}
  CAST(NULL AS {{ nbsql.double() }}) AS score,
  CAST(NULL AS {{ nbsql.double() }}) AS probability
  {% endif %}
FROM (
  {{ nbsql.numbered_classes(model, parameters) | indent(2) }}
) AS classes
{%+ if method == 'temperature' %}RIGHT JOIN found ON FALSE{% else %}LEFT JOIN found ON found.class_no = classes.class_no{%+ endif %}

ORDER BY classes.class_no, score
{%- endmacro %}

{#
  The slope s = 1/T of least log loss: the root of its derivative, which rises in s,

    sum over the rows of w (E[g] - g_y),  E over the classes by p_k^s,  g_k = ln p_k - the highest of them

  by Newton's method (the second derivative is the variance of g), with bisection where that would leave the bracket. T stays
  between 1/100 and 1000, and where the model is right in every row, it ends where nothing is left to gain. A row whose true class
  the model rules out has an infinite log loss at any T and is left out.
#}
{% macro temperature_found(rows) -%}
{% set gaps, logs, masses = nbsql.word('gaps'), nbsql.word('nbsql_logs'), nbsql.word('masses') -%}
{% set gap %}greatest(x - nbsql_top, -1e100){% endset -%}
{% set power %}steps.slope * g{% endset -%}
{% set gaps_of_row %}gaps.gaps{% endset -%}
gaps AS MATERIALIZED (
  SELECT weight, gaps, gaps[class_no] AS gap, {{ nbsql.list_mapped(gaps, nbsql.square(nbsql.word('g')), 'g') }} AS squares
  FROM (
    {# So far down, exp is 0, and the square is finite. #}
    SELECT class_no, weight, {{ nbsql.list_mapped(logs, gap) }} AS gaps
    FROM (
      SELECT *, {{ nbsql.list_highest(logs) }} AS nbsql_top FROM {{ rows }} AS source
    ) AS highest
    {{- nbsql.once() | indent(4) }}
  ) AS gaps
  WHERE gaps[class_no] > -1e99
),
steps AS (
  SELECT
    0 AS step,
    CAST(1 AS {{ nbsql.double() }}) AS slope,
    {{ nbsql.number(1e-3) }} AS low,
    {{ nbsql.number(1e2) }} AS high,
    FALSE AS done
  UNION ALL
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
          sum(weight * greatest(second / mass - (first / mass) * (first / mass), 0)) AS curvature
        FROM (
          SELECT
            *,
            {{ nbsql.list_total(masses) }} AS mass,
            {{ nbsql.list_product(masses, gaps) }} AS first,
            {{ nbsql.list_product(masses, nbsql.word('squares')) }} AS second
          FROM (
            SELECT steps.*, gaps.*, {{ nbsql.list_mapped(gaps_of_row, nbsql.exp(power), 'g') }} AS masses
            FROM steps
            CROSS JOIN gaps
            WHERE NOT steps.done
            {{- nbsql.once() | indent(12) }}
          ) AS masses
          {{- nbsql.once() | indent(10) }}
        ) AS moments
        GROUP BY step, slope, low, high
      ) AS derivatives
    ) AS newton
  ) AS next
),
found AS (
  SELECT slope FROM steps ORDER BY step DESC LIMIT 1
)
{%- endmacro %}

{#
  The slope and intercept of every class against the rest, by maximum likelihood of the targets (n1 + 1)/(n1 + 2) for its n1 rows
  and 1/(n0 + 2) for the n0 others (Platt, Probabilistic outputs for support vector machines, 1999), by Newton's method with
  backtracking (Lin, Lin and Weng, A note on Platt's probabilistic outputs, Machine Learning 68, 2007), in scores of mean 0 and deviation 1.

  Every step weighs a candidate: where its loss has fallen enough it is taken, with the next direction; otherwise half the way
  is tried.
#}
{% macro platt_found(scores) -%}
scales AS MATERIALIZED (
  SELECT
    class_no,
    sum(weight) AS n,
    sum(CASE WHEN hit THEN weight ELSE 0 END) AS hits,
    avg(score) AS centre,
    CASE WHEN stddev_pop(score) > 0 THEN stddev_pop(score) ELSE 1 END AS scale
  FROM {{ scores }} AS scores
  GROUP BY class_no
),
points AS MATERIALIZED (
  SELECT
    class_no,
    (score - centre) / scale AS x,
    CASE WHEN hit THEN (hits + 1) / (hits + 2) ELSE 1 / (n - hits + 2) END AS target,
    weight
  FROM {{ scores }} AS scores
  JOIN scales USING (class_no)
),
steps AS (
  SELECT
    class_no,
    0 AS step,
    CAST(0 AS {{ nbsql.double() }}) AS slope,
    ln((hits + 1) / (n - hits + 1)) AS intercept,
    CAST(0 AS {{ nbsql.double() }}) AS slope_by,
    CAST(0 AS {{ nbsql.double() }}) AS intercept_by,
    CAST(1 AS {{ nbsql.double() }}) AS size,
    CAST(0 AS {{ nbsql.double() }}) AS fall,
    {{ nbsql.infinity() }} AS loss,
    FALSE AS done
  FROM scales
  UNION ALL
  SELECT
    class_no,
    step + 1 AS step,
    CASE WHEN NOT better THEN slope WHEN near THEN tried_slope + newton_slope ELSE tried_slope END AS slope,
    CASE WHEN NOT better THEN intercept WHEN near THEN tried_intercept + newton_intercept ELSE tried_intercept END AS intercept,
    CASE WHEN better THEN newton_slope ELSE slope_by END AS slope_by,
    CASE WHEN better THEN newton_intercept ELSE intercept_by END AS intercept_by,
    CASE WHEN better THEN 1 ELSE size / 2 END AS size,
    CASE WHEN better THEN newton_fall ELSE fall END AS fall,
    CASE WHEN better THEN tried_loss ELSE loss END AS loss,
    (better AND near) OR size < 1e-12 OR step >= 200 AS done
  FROM (
    SELECT
      *,
      tried_loss <= loss - 1e-4 * size * fall + 1e-12 * abs(tried_loss) AS better,
      newton_fall <= 1e-12 * n AS near
    FROM (
      SELECT *, -(gradient_slope * newton_slope + gradient_intercept * newton_intercept) AS newton_fall
      FROM (
        SELECT
          *,
          (curvature_both * gradient_intercept - curvature_intercept * gradient_slope) / determinant AS newton_slope,
          (curvature_both * gradient_slope - curvature_slope * gradient_intercept) / determinant AS newton_intercept
        FROM (
          SELECT *, curvature_slope * curvature_intercept - curvature_both * curvature_both AS determinant
          FROM (
            SELECT
              class_no,
              {% for kept in ['step', 'slope', 'intercept', 'slope_by', 'intercept_by', 'size', 'fall', 'loss', 'tried_slope', 'tried_intercept'] %}
              {{ nbsql.any_of(nbsql.word(kept)) }} AS {{ nbsql.word(kept) }},
              {% endfor %}
              sum(weight) AS n,
              {% set low %}-abs(z){% endset %}
              sum(weight * (greatest(z, 0) + ln(1 + {{ nbsql.exp(low) }}) - target * z)) AS tried_loss,
              sum(weight * (p - target) * x) AS gradient_slope,
              sum(weight * (p - target)) AS gradient_intercept,
              sum(weight * p * (1 - p) * x * x) + 1e-12 AS curvature_slope,
              sum(weight * p * (1 - p) * x) AS curvature_both,
              sum(weight * p * (1 - p)) + 1e-12 AS curvature_intercept
            FROM (
              SELECT *, {{ nbsql.logistic(nbsql.word('z')) }} AS p
              FROM (
                SELECT tried.*, points.x, points.target, points.weight, tried_slope * x + tried_intercept AS z
                FROM (
                  SELECT *, slope + size * slope_by AS tried_slope, intercept + size * intercept_by AS tried_intercept
                  FROM steps
                  WHERE NOT done
                ) AS tried
                JOIN points USING (class_no)
                {{- nbsql.once() | indent(16) }}
              ) AS linear
              {{- nbsql.once() | indent(14) }}
            ) AS predicted
            GROUP BY class_no
          ) AS sums
        ) AS determinants
      ) AS directions
    ) AS falls
  ) AS judged
),
found AS (
  SELECT last.class_no, last.slope / scales.scale AS slope, last.intercept - last.slope * scales.centre / scales.scale AS intercept
  FROM (
    SELECT class_no, {{ nbsql.at_highest(nbsql.word('slope'), nbsql.word('step')) }} AS slope, {{ nbsql.at_highest(nbsql.word('intercept'), nbsql.word('step')) }} AS intercept FROM steps GROUP BY class_no
  ) AS last
  JOIN scales USING (class_no)
)
{%- endmacro %}

{#
  The rising function of the score of least squares to the hits, by pooling adjacent violators: blocks that are not higher than
  the one before are one block with it, until all rise. Neighbours that fall are in one block of the answer, whatever is pooled
  first, so every round pools all of them (Ayer et al., Annals of Mathematical Statistics 26, 1955). Its knots are the ends of the blocks.
#}
{% macro isotonic_found(scores) -%}
blocks AS (
  SELECT
    class_no,
    0 AS round,
    score AS low,
    score AS high,
    sum(weight) AS weight,
    sum(CASE WHEN hit THEN weight ELSE 0 END) AS hits
  FROM {{ scores }} AS scores
  GROUP BY class_no, score
  UNION ALL
  SELECT class_no, round + 1 AS round, min(low) AS low, max(high) AS high, sum(weight) AS weight, sum(hits) AS hits
  FROM (
    SELECT *, sum(starts) OVER (PARTITION BY class_no ORDER BY low) AS block, min(starts) OVER (PARTITION BY class_no) AS least
    FROM (
      SELECT
        *,
        CASE WHEN hits / weight <= lag(hits / weight) OVER (PARTITION BY class_no ORDER BY low) THEN 0 ELSE 1 END AS starts
      FROM blocks
    ) AS compared
  ) AS numbered
  WHERE least = 0
  GROUP BY class_no, round, block
),
found AS (
  SELECT DISTINCT class_no, unnest({{ nbsql.array() }}[low, high]) AS score, hits / weight AS probability
  FROM (
    SELECT *, max(round) OVER (PARTITION BY class_no) AS last FROM blocks
  ) AS rounds
  WHERE round = last
)
{%- endmacro %}

{# How good the posteriors of the rows are before and after: rows, weight, log_loss, calibrated_log_loss (as in evaluate.sql). #}
{% macro calibration_losses(rows, calibration, method) -%}
{% set log %}nbsql_logs[class_no]{% endset -%}
SELECT
  count(*) AS rows,
  sum(weight) AS weight,
  -sum(weight * ln(least(greatest({{ nbsql.exp(log) }}, {{ nbsql.epsilon() }}), 1 - {{ nbsql.epsilon() }}))) / sum(weight) AS log_loss,
  -sum(weight * ln(least(greatest(nbsql_calibrated[class_no], {{ nbsql.epsilon() }}), 1 - {{ nbsql.epsilon() }}))) / sum(weight) AS calibrated_log_loss
FROM (
  {{ nbsql.calibrated_posteriors(rows, calibration, method) | indent(2) }}
) AS posteriors
{%- endmacro %}

{% macro calibration_method(calibration) -%}
SELECT DISTINCT method FROM {{ calibration }} AS calibration
{%- endmacro %}

{% macro temperature_of(calibration) -%}
SELECT temperature FROM {{ calibration }} AS calibration
{%- endmacro %}
