{# ln x! and ln B(a, b), which some densities read. Not every engine has a function for them. #}

{#
  ln x!, and 0 where x is not above 0, by Stirling's series of ln gamma(w). It is evaluated at w = x + 9 for the sake of small x, less the
  logarithms of the steps down to x + 1 (Abramowitz and Stegun 1964, 6.1.41 and 6.1.15; the omitted terms are below 1e-13).
#}
{% macro stirling(x) -%}
{% set w %}{{ x }} + 9{% endset -%}
{% set shifted %}({{ w }}){% endset -%}
{% set next %}{{ x }} + 1{% endset -%}
{% set half_log_tau = nbsql.number(0.9189385332046728) -%}
{% set steps %}{% for i in range(1, 9) %}({{ x }} + {{ i }}){% if not loop.last %} * {% endif %}{% endfor %}{% endset -%}
CASE
  WHEN {{ x }} > 1000000 THEN ({{ x }} + 0.5) * {{ nbsql.natural_log(next) }} - ({{ next }}) + {{ half_log_tau }} + 1 / (12 * ({{ next }}))
  WHEN {{ x }} > 0 THEN ({{ x }} + 8.5) * {{ nbsql.natural_log(w) }} - {{ shifted }} + {{ half_log_tau }}
    + {{ nbsql.stirling_terms(shifted) }}
    - {{ nbsql.natural_log(steps) }}
  ELSE 0
END
{%- endmacro %}

{#
  ln B(a, b) of numbers above 0, whose sum is known, too: the leading terms of Stirling's formula for all three ln gamma together, since
  their digits would cancel one by one, and the series of each.
#}
{% macro log_beta(a, b, sum) -%}
{{ a }} * ln({{ a }} / {{ sum }}) + {{ b }} * ln({{ b }} / {{ sum }}) - 0.5 * (ln({{ a }} / {{ sum }}) + ln({{ b }}))
  + {{ nbsql.number(0.9189385332046728) }}
  + {{ nbsql.stirling_series(a) }}
  + {{ nbsql.stirling_series(b) }}
  - {{ nbsql.stirling_series(sum) }}
{%- endmacro %}

{# ln gamma(x) - ((x - 1/2) ln x - x + ln(2 pi) / 2), for small x by way of x + 9, as above. #}
{% macro stirling_series(x) -%}
{% set next %}({{ x }} + 9){% endset -%}
{% set steps %}{% for i in range(1, 9) %}({{ x }} + {{ i }}){% if not loop.last %} * {% endif %}{% endfor %}{% endset -%}
CASE
    WHEN {{ x }} > 1000000 THEN 1 / (12 * {{ x }})
    WHEN {{ x }} > 10 THEN {{ nbsql.stirling_terms(x) }}
    ELSE ({{ x }} + 8.5) * ln({{ next }}) - 9 + {{ nbsql.stirling_terms(next) }} - ln({{ steps }}) - ({{ x }} + 0.5) * ln({{ x }})
  END
{%- endmacro %}

{# The first five terms of the series, by Horner's scheme. #}
{% macro stirling_terms(w) -%}
{% set square %}({{ w }} * {{ w }}){% endset -%}
{% set last_two %}({{ nbsql.number(1 / 1680) }} - {{ nbsql.number(1 / 1188) }} / {{ square }}){% endset -%}
{% set last_three %}({{ nbsql.number(1 / 1260) }} - {{ last_two }} / {{ square }}){% endset -%}
{% set last_four %}({{ nbsql.number(1 / 360) }} - {{ last_three }} / {{ square }}){% endset -%}
({{ nbsql.number(1 / 12) }} - {{ last_four }} / {{ square }}) / {{ w }}
{%- endmacro %}
