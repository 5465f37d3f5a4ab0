{# ln x!, which counts of a Poisson distribution read, and which not every engine has a word for. #}

{# x: a number that is not below 0. #}
{% macro log_factorial(x) -%}
lgamma({{ x }} + 1)
{%- endmacro %}

{# The same of what the term of a count reads of a row (families/poisson.sql). #}
{% macro log_factorial_of(feature) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.log_factorial(x) }}
{%- endmacro %}

{#
  ln x!, 0 where x is not above 0, by Stirling's series of ln gamma(w), at w = x + 9 for the sake of small x, less the logarithm of
  the steps down to x + 1 (Abramowitz and Stegun 1964, 6.1.41 and 6.1.15; the terms left out are below 1e-13).
#}
{% macro stirling(x) -%}
{% set w %}{{ x }} + 9{% endset -%}
{% set next %}{{ x }} + 1{% endset -%}
{% set square %}(({{ w }}) * ({{ w }})){% endset -%}
{% set half_log_tau = nbsql.number(0.9189385332046728) -%}
{% set steps %}{% for i in range(1, 9) %}({{ x }} + {{ i }}){% if not loop.last %} * {% endif %}{% endfor %}{% endset -%}
CASE
  WHEN {{ x }} > 1000000 THEN ({{ x }} + 0.5) * {{ nbsql.natural_log(next) }} - ({{ next }}) + {{ half_log_tau }} + 1 / (12 * ({{ next }}))
  WHEN {{ x }} > 0 THEN ({{ x }} + 8.5) * {{ nbsql.natural_log(w) }} - ({{ w }}) + {{ half_log_tau }}
    + ({{ nbsql.number(1 / 12) }} - ({{ nbsql.number(1 / 360) }} - ({{ nbsql.number(1 / 1260) }} - ({{ nbsql.number(1 / 1680) }} - {{ nbsql.number(1 / 1188) }} / {{ square }}) / {{ square }}) / {{ square }}) / {{ square }}) / ({{ w }})
    - {{ nbsql.natural_log(steps) }}
  ELSE 0
END
{%- endmacro %}
