{#
  How certain a prediction must be for the certain ones to be right as often as asked for, on rows that the model has not seen: selective
  prediction with a guarantee on its risk (Geifman and El-Yaniv, Selective classification for deep neural networks, 2017).

  The candidates are the thresholds that the most certain 1 %, 2 %, ... 100 % of the rows reach. Of n rows that reach one, w are wrong; the
  upper limit of Clopper and Pearson (1934) for the share of the wrong is the p with P(Binomial(n, p) <= w) = tail. The thresholds of each
  tenth of the rows are tested in turn, from the most certain one down to the first that fails, with a tenth of 1 - confidence as tail
  (fixed sequences with several starts: Angelopoulos, Bates, Candes, Jordan and Lei, Learn then test, 2021). So a threshold promises 1 - the
  highest limit from the start of its tenth to itself, and all promises hold together with the confidence. A row of which nothing is known
  (certain.sql) reaches no threshold.

  P(Binomial(n, p) <= w) is P(X > p) of the beta distribution of w + 1 and n - w. The log-odds u of X have a density in proportion to
  e^h(u), h(u) = (w + 1) ln s(u) + (n - w) ln s(-u), s(u) = 1 / (1 + e^-u), whose integrals above and below u are sums over
  u + d exp(t - exp(-t)) and u - d exp(t - exp(-t)) for t from -3.5 to 4.5, in steps of 1/16 (the double-exponential formula: Takahasi and
  Mori 1974), d the standard deviation of u. The logarithm of the integral above u is concave, so that Newton's method finds where it is
  ln tail: u + above (ln(above / (above + below)) - ln tail), with integrals relative to e^h(u).
#}

{#
  One row per predicted class, or none for all rows together, and candidate: class_no, percent (of the rows that reach it, rounded up),
  score, n, wrong, total (the weights of the rows that reach it, of the wrong ones among them, and of all).
#}
{% macro certain_points(rows) -%}
{% set each %}nbsql_winner{% endset -%}
{% set together %}CAST(NULL AS INTEGER){% endset -%}
SELECT class_no, percent, min(score) AS score, max(n) AS n, max(wrong) AS wrong, max(total) AS total
FROM (
  SELECT class_no, score, n, wrong, total, CAST(ceil(100 * n / total - {{ nbsql.number(1e-9) }}) AS INTEGER) AS percent
  FROM (
    SELECT
      class_no,
      score,
      sum(weight) OVER (PARTITION BY class_no ORDER BY score DESC NULLS LAST) AS n,
      sum(mistaken) OVER (PARTITION BY class_no ORDER BY score DESC NULLS LAST) AS wrong,
      sum(weight) OVER (PARTITION BY class_no) AS total
    FROM (
      {% for group in [each, together] %}
      SELECT
        {{ group }} AS class_no,
        nbsql_certainty AS score,
        weight,
        CASE WHEN nbsql_winner = computed.class_no THEN 0 ELSE weight END AS mistaken
      FROM {{ nbsql.with_certainty(rows) | indent(6) }}
      {{- nbsql.union_all(loop) | indent(6) }}
      {%- endfor +%}
    ) AS scores
  ) AS running
  WHERE score IS NOT NULL
) AS percents
GROUP BY class_no, percent
{%- endmacro %}

{# One row per point, the first step, near the limit of a normal distribution; where all rows are wrong the limit is 1, and odds is NULL. #}
{% macro certain_start(points, confidence) -%}
{% set deviation %}sqrt(1 / (wrong + 1) + 1 / (n - wrong)){% endset -%}
SELECT
  class_no,
  percent,
  score,
  n,
  wrong,
  total,
  {{ nbsql.number((1 - confidence) / 10) }} AS tail,
  CASE WHEN right_ones THEN {{ deviation }} END AS deviation,
  0 AS step,
  CASE WHEN right_ones THEN ln((wrong + 1) / (n - wrong)) + 2.5 * {{ deviation }} END AS odds,
  NOT right_ones AS done
FROM (
  SELECT *, n - wrong > {{ nbsql.number(1e-9) }} * n AS right_ones FROM {{ points }} AS points
) AS points
{%- endmacro %}

{# One row per point: the next step of Newton's method, or the last one again if the point is done. #}
{% macro certain_step(steps, points) -%}
{% set columns %}class_no, percent, score, n, wrong, total, tail, deviation{% endset -%}
{% set t %}{{ nbsql.number(0.0625) }} * k{% endset -%}
{% set above %}odds + distance{% endset -%}
{% set below %}odds - distance{% endset -%}
{% set here = nbsql.log_density_of_odds(nbsql.word('odds')) -%}
SELECT {{ columns }}, step, odds, done
FROM {{ steps }} AS steps
WHERE done
UNION ALL
SELECT
  {{ columns }},
  step + 1 AS step,
  odds + move AS odds,
  abs(move) <= {{ nbsql.number(1e-12) }} * (abs(odds) + deviation) OR step >= 50 AS done
FROM (
  SELECT *, above * (ln(above / (above + below)) - ln(tail)) AS move
  FROM (
    SELECT
      {{ columns }},
      step,
      odds,
      sum(width * {{ nbsql.exp(nbsql.word('log_above')) }}) AS above,
      sum(width * {{ nbsql.exp(nbsql.word('log_below')) }}) AS below
    FROM (
      SELECT
        *,
        {{ nbsql.log_density_of_odds(above) }} - {{ here }} AS log_above,
        {{ nbsql.log_density_of_odds(below) }} - {{ here }} AS log_below
      FROM (
        SELECT *, deviation * node AS distance, {{ nbsql.number(0.0625) }} * deviation * node * (1 + exp(-t)) AS width
        FROM {{ steps }} AS steps
        CROSS JOIN (
          SELECT t, exp(t - exp(-t)) AS node
          FROM (
            SELECT {{ t }} AS t
            FROM (
              SELECT {{ nbsql.unnested([nbsql.list_of_whole_numbers(-56, 73)], ['k']) }}
            ) AS whole_numbers
          ) AS places
        ) AS nodes
        WHERE NOT done
      ) AS distances
    ) AS densities
    GROUP BY {{ columns }}, step, odds
  ) AS integrals
) AS moves
{%- endmacro %}

{# The logarithm of the density of the log-odds u of a beta distribution, up to a constant. #}
{% macro log_density_of_odds(u) -%}
{% set low %}-abs({{ u }}){% endset -%}
(-(wrong + 1) * greatest(-({{ u }}), 0) - (n - wrong) * greatest({{ u }}, 0) - (n + 1) * ln(1 + {{ nbsql.exp(low) }}))
{%- endmacro %}

{# One row per class, or none, and candidate: class_no, score, probability (how often certain predictions are right at least), share. #}
{% macro certain_result(steps) -%}
SELECT
  CAST(class_no AS INTEGER) AS class_no,
  score,
  1 - max(wrong_at_most) OVER (
    PARTITION BY class_no, floor((percent - 1) / {{ nbsql.number(10) }}) ORDER BY percent ASC NULLS LAST
  ) AS probability,
  n / total AS share
FROM (
  SELECT *, coalesce({{ nbsql.logistic(nbsql.word('odds')) }}, 1) AS wrong_at_most FROM {{ steps }} AS steps
) AS limits
{%- endmacro %}
