{#
  A number between 0 and 1 with a beta density in every class:

    ln p(x | c) = (a_c - 1) ln x + (b_c - 1) ln(1 - x) - ln B(a_c, b_c)

  a and b are estimated from the mean m and the variance v of the class by the method of moments (Johnson, Kotz and Balakrishnan,
  Continuous Univariate Distributions 2, 1995, section 25.4): a = m s and b = (1 - m) s, with s = m (1 - m) / v - 1. v is m2 / n, at least
  `floor` times the variance over all classes, and such that s is between 1e-9 and 1e10, beyond which a double has no digits left for a
  score. A class without a value takes the mean and variance over all classes. A number that never varies adds nothing to a score. The fit
  refuses 0, 1 and numbers beyond them; in a score they are outside the distribution.
#}

{% macro beta_density(x, get) -%}
{% set rest %}1 - {{ x }}{% endset -%}
({{ get('a') }} - 1) * {{ nbsql.natural_log(x) }} + ({{ get('b') }} - 1) * {{ nbsql.natural_log(rest) }} - {{ get('log_beta') }}
{%- endmacro %}

{% macro beta_inside(x) -%} {{ x }} > 0 AND {{ x }} < 1 {%- endmacro %}

{# The mean or the variance of a class, between the bounds that keep s between 1e-9 and 1e10. #}
{% macro beta_estimate(quantity, get) -%}
{% set mean = nbsql.gaussian_estimate('mean', get) -%}
{% set largest %}({{ mean }}) * (1 - ({{ mean }})){% endset -%}
{% set most %}{{ largest }} / (1 + {{ nbsql.number(1e-9) }}){% endset -%}
{{ nbsql.moments_estimate(quantity, get, largest, most) }}
{%- endmacro %}

{# a, b or ln B(a, b) of a class, from its mean and variance; NULL if it does not vary. #}
{% macro beta_parameter(quantity, get) -%}
{% set mean, variance = get('mean'), get('variance') -%}
{% set size %}({{ mean }} * (1 - {{ mean }}) / {{ variance }} - 1){% endset -%}
{% set a %}({{ mean }} * {{ size }}){% endset -%}
{% set b %}((1 - {{ mean }}) * {{ size }}){% endset -%}
{% set values = {'a': a, 'b': b} -%}
{% set value = values[quantity] if quantity in values else nbsql.log_beta(a, b, size) -%}
CASE WHEN {{ variance }} > 0 THEN {{ value }} END
{%- endmacro %}
