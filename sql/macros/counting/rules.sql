{#
  The rules that a training row must satisfy. Each expression is TRUE where a row breaks the rule. The wide scan counts them, so checking
  costs no pass of its own. NaN counts as missing, so it breaks no rule of numbers.
#}

{% macro breaks_missing(column) -%} source.{{ nbsql.ident(column) }} IS NULL {%- endmacro %}

{# The time by which a row ages is missing or infinite (half_life.sql). #}
{% macro breaks_time(column) -%} source.nbsql_slice IS NULL {%- endmacro %}

{% macro breaks_negative(column) -%} source.{{ nbsql.ident(column) }} < 0 {%- endmacro %}

{% macro breaks_positive(column) -%} source.{{ nbsql.ident(column) }} <= 0 {%- endmacro %}

{% macro breaks_inside(column) -%}
{% set x = nbsql.finite(nbsql.number_of(column)) -%}
{{ x }} <= 0 OR {{ x }} >= 1
{%- endmacro %}

{% macro breaks_whole(column) -%}
{% set x = nbsql.number_of(column) -%}
abs({{ x }}) <= 1e150 AND {{ x }} <> {{ nbsql.floor_of(x) }}
{%- endmacro %}

{% macro breaks_binary(column) -%} {{ nbsql.finite(nbsql.number_of(column)) }} NOT IN (0, 1) {%- endmacro %}

{# A weight breaks the rule unless it is finite and at least 0; NULL and NaN break it. #}
{% macro breaks_weight(column) -%}
{% set x = nbsql.number_of(column) -%}
NOT coalesce({{ x }} >= 0 AND {{ x }} < {{ nbsql.infinity() }}, FALSE)
{%- endmacro %}

{# One row: broken, the number of labelled rows whose weight breaks its rule, and total, the sum of the other weights. #}
{% macro sum_of_weights(source, weight, label) -%}
{% set is_broken = nbsql.breaks_weight(weight) -%}
SELECT
  sum(CASE WHEN {{ is_broken }} THEN 1 ELSE 0 END) AS broken,
  sum(CASE WHEN {{ is_broken }} THEN 0 ELSE CAST(source.{{ nbsql.ident(weight) }} AS {{ nbsql.double() }}) END) AS total
FROM {{ source }} AS source
{%- if label is not none +%}
WHERE source.{{ nbsql.ident(label) }} IS NOT NULL
{%- endif %}
{%- endmacro %}

{# One row: how many rows with a class break each rule of a scan: broken_1, broken_2, ... dbt runs this query by itself. #}
{% macro broken_rules(scan, count) -%}
SELECT
  {% for j in range(1, count + 1) %}
  sum(broken_{{ j }}) AS broken_{{ j }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ scan }} AS scan
WHERE class IS NOT NULL
{%- endmacro %}
