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
  The cells of a model with a half-life, at their present weight: slice, class, feature, value, n, mean, m2, batch. A half-life whose rows
  are all forgotten does not count as the newest.
#}
{% macro decayed_cells(statistics, half_life, nothing) -%}
{% set age %}CAST(cells.slice AS BIGINT) - {{ nbsql.periods_until(half_life, nbsql.word('newest.period')) }}{% endset -%}
{% set factor %}power({{ nbsql.number(2) }}, {{ age }}){% endset -%}
SELECT
  cells.slice,
  cells.class,
  cells.feature,
  cells.value,
  cells.n * {{ factor }} AS n,
  cells.mean,
  {{ nbsql.product(nbsql.word('cells.m2'), factor, careful=true) }} AS m2,
  cells.batch
FROM {{ statistics }} AS cells
CROSS JOIN (
  SELECT max(CAST(slice AS BIGINT)) AS period
  FROM (
    SELECT slice FROM {{ statistics }} AS statistics WHERE feature IS NULL GROUP BY slice HAVING {{ nbsql.has_weight() }}
  ) AS periods
) AS newest
WHERE {{ age }} >= -{{ nothing }}
{%- endmacro %}

{#
  A time as a double of microseconds since 1970, which are whole and exact for 285 years; a whole number stays a whole number.

  type: the column's type, as the engine writes it.
#}
{% macro default__instant(x, type) -%}
CAST({% if nbsql.is_time(type) %}epoch_us({{ x }}){% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# Renders something if the type is one of dates and times, else nothing. #}
{% macro is_time(type) %}{% if (type | lower)[:4] in ['date', 'time'] %}yes{% endif %}{% endmacro %}
