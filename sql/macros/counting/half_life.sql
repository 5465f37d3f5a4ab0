{#
  Rows that count less the older they are, so that counts still add and may be taken away (forward decay: Cormode, Shkapenyuk, Srivastava
  and Xu, "Forward decay: a practical time decay model for streaming systems", ICDE 2009), with an origin a half-life: a row at t weighs

    2^((t - p h) / h)   in its half-life p = floor(t / h), at least 1 and below 2: what its cells hold, whose slice is p
    2^(p - now)         taken of the cells where they are read; both together 2^((t - h now) / h)

  The second is a power of two where now is the end of a half-life, which it is unless one says otherwise, and so exact. Nothing is
  ever above what the rows of one half-life weigh, and what is older than `nothing` half-lives counts for nothing.
#}

{#
  A source and, beside its columns, nbsql_decayed, the weight of a row in its half-life, nbsql_period, which that is, and
  nbsql_weight_now, what it weighs at once, for what depends on all rows.

  aged: at (a column), type (of it), weight (a column, or none), half_life (with length and now), target, nothing.
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

{# What is taken of the number of a half-life: that of now, the end of the newest or what was chosen, whole ones and a part of one. #}
{% macro periods_until(half_life, newest) -%}
{% if half_life.now is none -%}
{{ newest }} - 1
{%- else -%}
{{ half_life.whole_periods }} - {{ nbsql.number(half_life.period_fraction) }}
{%- endif %}
{%- endmacro %}

{#
  The cells of a model with a half-life as they weigh now: slice, class, feature, value, n, mean, m2, batch. Those of a half-life whose
  rows are all forgotten do not say what is newest.
#}
{% macro decayed_cells(statistics, half_life, nothing) -%}
{% set newest %}newest.period{% endset -%}
{% set age %}CAST(cells.slice AS BIGINT) - {{ nbsql.periods_until(half_life, newest) }}{% endset -%}
{% set factor %}power({{ nbsql.number(2) }}, {{ age }}){% endset -%}
{% set squares %}cells.m2{% endset -%}
SELECT
  cells.slice,
  cells.class,
  cells.feature,
  cells.value,
  cells.n * {{ factor }} AS n,
  cells.mean,
  {{ nbsql.product(squares, factor, careful=true) }} AS m2,
  cells.batch
FROM {{ statistics }} AS cells
CROSS JOIN (
  SELECT max(CAST(slice AS BIGINT)) AS period
  FROM (
    SELECT slice FROM {{ statistics }} AS statistics WHERE feature IS NULL GROUP BY slice HAVING {{ nbsql.is_left() }}
  ) AS periods
) AS newest
WHERE {{ age }} >= -{{ nothing }}
{%- endmacro %}

{#
  A time as a double of microseconds since 1970, which are whole and exact for 285 years; or a whole number.

  type: of the column, as the engine writes it.
#}
{% macro default__instant(x, type) -%}
CAST({% if nbsql.is_time(type) %}epoch_us({{ x }}){% else %}{{ x }}{% endif %} AS {{ nbsql.double() }})
{%- endmacro %}

{# Not empty for a type of dates and times. #}
{% macro is_time(type) %}{% if (type | lower)[:4] in ['date', 'time'] %}yes{% endif %}{% endmacro %}
