{#
  A number between 0 and 1 with a beta density in every class:

    ln p(x | c) = (a_c - 1) ln x + (b_c - 1) ln(1 - x) - ln B(a_c, b_c)

  a and b are those with the mean m and the variance v of the class, the method of moments (Johnson, Kotz and Balakrishnan, Continuous
  Univariate Distributions 2, 1995, section 25.4): a = m s and b = (1 - m) s, with s = m (1 - m) / v - 1. v is m2 / n, never under
  `floor` times the variance over all classes, and so that s is between 1e-9 and 1e10, beyond which no double has digits left for a
  score. A class without a value takes the mean and variance over all classes; a number that never varies says nothing. 0, 1 and all
  that is beyond them are refused by the fit, and outside the distribution to a score: no class explains them.
#}

{% macro beta_density(x, get) -%}
{% set rest %}1 - {{ x }}{% endset -%}
({{ get('a') }} - 1) * {{ nbsql.natural_log(x) }} + ({{ get('b') }} - 1) * {{ nbsql.natural_log(rest) }} - {{ get('log_beta') }}
{%- endmacro %}

{% macro beta_inside(x) -%} {{ x }} > 0 AND {{ x }} < 1 {%- endmacro %}

{# The mean of a class, and its variance, between the bounds that keep s between 1e-9 and 1e10. #}
{% macro beta_estimate(quantity, get) -%}
{% set mean = nbsql.gaussian_estimate('mean', get) -%}
{% set largest %}({{ mean }}) * (1 - ({{ mean }})){% endset -%}
{% set most %}{{ largest }} / (1 + {{ nbsql.number(1e-9) }}){% endset -%}
{{ nbsql.moments_estimate(quantity, get, largest, most) }}
{%- endmacro %}

{# a, b or ln B(a, b) of a class, from its mean and variance; NULL where it does not vary. #}
{% macro beta_parameter(quantity, get) -%}
{% set mean, variance = get('mean'), get('variance') -%}
{% set size %}({{ mean }} * (1 - {{ mean }}) / {{ variance }} - 1){% endset -%}
{% set a %}({{ mean }} * {{ size }}){% endset -%}
{% set b %}((1 - {{ mean }}) * {{ size }}){% endset -%}
{% set value %}{% if quantity == 'a' %}{{ a }}{% elif quantity == 'b' %}{{ b }}{% else %}{{ nbsql.log_beta(a, b) }}{% endif %}{% endset -%}
CASE WHEN {{ variance }} > 0 THEN {{ value }} END
{%- endmacro %}
