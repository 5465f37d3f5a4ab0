{#
  Rows whose weight decays with age, in a form in which counts still add and may be subtracted (forward decay: Cormode, Shkapenyuk,
  Srivastava and Xu, "Forward decay: a practical time decay model for streaming systems", ICDE 2009). Each half-life has its own origin. A
  row at time t has the weight

    2^((t - p h) / h)   within its half-life p = floor(t / h), at least 1 and below 2: the cells hold it, in slice p
    2^(p - now)         applied to the cells where they are read; the product of both is 2^((t - h now) / h)

  The second factor is a power of two, and therefore exact, if now is the end of a half-life, which is the default. A sum never exceeds
  the weight of the rows of one half-life, and anything older than `nothing` half-lives counts for nothing.
#}

{#
  A source with three more columns: nbsql_decayed, the weight of a row within its half-life; nbsql_period, the number of that half-life;
  and nbsql_weight_now, the product of both factors, for computations that depend on all rows.

  aged: at (a column), type (its type), weight (a column, or none), half_life (with length and now), target, nothing.
#}
{% macro with_half_life(source, aged) -%}
{% set column %}source.{{ nbsql.ident(aged.at) }}{% endset -%}
{% set time = nbsql.instant(column, aged.type) -%}
{% set length = nbsql.number(aged.half_life.length) -%}
{% set period %}floor({{ time }} / {{ length }}){% endset -%}
{% set part %}({{ time }} - {{ period }} * {{ length }}) / {{ length }}{% endset -%}
{% set weight -%}
{% if aged.weight is none %}{{ nbsql.unit_weight() }}
{%- else %}CAST(source.{{ nbsql.ident(aged.weight) }} AS {{ nbsql.double() }})
{%- endif %}
{%- endset -%}
{% set newest -%}
(SELECT max({{ period }}) FROM {{ source }} AS source WHERE source.{{ nbsql.ident(aged.target) }} IS NOT NULL AND {{ weight | trim }} > 0)
{%- endset -%}
{% set age %}{{ period }} - {{ nbsql.periods_until(aged.half_life, newest) }}{% endset -%}
(
  SELECT
    source.*,
    {{ weight | trim }} * power({{ nbsql.number(2) }}, {{ part }}) AS nbsql_decayed,
    CAST({{ period }} AS BIGINT) AS nbsql_period,
    CASE
      WHEN {{ age }} < -{{ aged.nothing }} THEN 0
      ELSE {{ weight | trim }} * power({{ nbsql.number(2) }}, {{ part }} + {{ age }})
    END AS nbsql_weight_now
  FROM {{ source }} AS source
)
{%- endmacro %}

{# The half-lives of the rows with a class in such a source: slice, n (the weight within it) and rows. #}
{% macro periods_of_rows(source, target) -%}
SELECT nbsql_period AS slice, sum(nbsql_decayed) AS n, count(*) AS rows
FROM {{ source }} AS source
WHERE source.{{ nbsql.ident(target) }} IS NOT NULL
GROUP BY nbsql_period
{%- endmacro %}

{# One row: the number of rows without a time in such half-lives. #}
{% macro rows_without_a_time(periods) -%} SELECT sum(rows) AS rows FROM {{ periods }} AS periods WHERE slice IS NULL {%- endmacro %}

{#
  The longest time without rows, of over 30 half-lives, after which those before it weigh less than a billionth, if it is before at most
  half of the weight: period (the first after it), gap (in half-lives), later (the weight from then on), total.

  periods: a relation of slice, the number of a half-life, and n, the weight within it.
#}
{% macro longest_gap(periods) -%}
SELECT period, gap, later, total
FROM (
  SELECT
    period,
    period - lag(period) OVER (ORDER BY period ASC NULLS LAST) AS gap,
    sum(n) OVER (ORDER BY period DESC NULLS LAST) AS later,
    sum(n) OVER () AS total
  FROM (
    SELECT CAST(slice AS BIGINT) AS period, n FROM {{ periods }} AS periods WHERE slice IS NOT NULL AND n > 0
  ) AS numbered
) AS gaps
WHERE gap > 30 AND 2 * later <= total
ORDER BY gap DESC NULLS LAST
LIMIT 1
{%- endmacro %}

{#
  The number that is subtracted from the number of a half-life to give its age: the newest half-life, counted from its end, or the chosen
  time, in whole half-lives and a fraction.
#}
{% macro periods_until(half_life, newest) -%}
{% if half_life.now is none -%}
{{ newest }} - 1
{%- else -%}
{{ half_life.whole_periods }} - {{ nbsql.number(half_life.period_fraction) }}
{%- endif %}
{%- endmacro %}

{#
  The cells of a model with a half-life, at their present weight: slice, class, feature, value, n, mean, m2, batch. What was forgotten
  cancels within its half-life, before the weights are applied: beside 2^39 times as much, older counts would be rounded away. A half-life
  whose rows are all forgotten does not count as the newest.
#}
{% macro decayed_cells(statistics, half_life, nothing) -%}
{% set age %}CAST(cells.slice AS BIGINT) - {{ nbsql.periods_until(half_life, nbsql.word('newest.period')) }}{% endset -%}
{% set factor %}power({{ nbsql.number(2) }}, {{ age }}){% endset -%}
WITH folded AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.folded_cells(statistics, '1')) }}
SELECT
  cells.slice,
  cells.class,
  cells.feature,
  cells.value,
  cells.n * {{ factor }} AS n,
  cells.mean,
  {{ nbsql.product(nbsql.word('cells.m2'), factor, careful=true) }} AS m2,
  cells.batch
FROM folded AS cells
CROSS JOIN (
  SELECT max(CAST(slice AS BIGINT)) AS period FROM folded WHERE feature IS NULL
) AS newest
WHERE {{ age }} >= -{{ nothing }}
{%- endmacro %}

{#
  A time as a double of microseconds since 1970, which are whole and exact for 285 years, and NULL if it is infinite; a whole number stays
  a whole number.

  type: the column's type, as the engine writes it.
#}
{% macro default__instant(x, type) -%}
CAST({% if nbsql.is_time(type) %}CASE WHEN isfinite({{ x }}) THEN epoch_us({{ x }}) END{% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# Renders something if the type is one of dates and times, else nothing. #}
{% macro is_time(type) %}{% if (type | lower)[:4] in ['date', 'time'] %}yes{% endif %}{% endmacro %}
