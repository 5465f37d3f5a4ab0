{#
  A number above 0 with a gamma density in every class, of shape k and mean m:

    ln p(x | c) = k_c (ln(x / m_c) - x / m_c + 1) + peak_c - ln x        peak_c = k_c ln k_c - k_c - ln gamma(k_c)

  This is (k - 1) ln x - x / s - k ln s - ln gamma(k) with the scale s = m / k, in terms that do not cancel where k is large. k and s are
  estimated from the mean m and the variance v of the class by the method of moments (Johnson, Kotz and Balakrishnan, Continuous
  Univariate Distributions 1, 1994, section 17.7): k = m^2 / v. v is m2 / n, at least `floor` times the variance over all classes, and
  such that k is between 1e-9 and 1e10, beyond which a double has no digits left for a score. A class without a value takes the mean and
  variance over all classes. A number that never varies adds nothing to a score. The fit refuses numbers of 0 or less; in a score they are
  outside the distribution.
#}

{# A parameter's name is that of its quantity in all families of a model, and `peak` already belongs to the normal distribution. #}
{% macro gamma_density(x, get) -%}
{% set share %}{{ x }} / {{ get('mean') }}{% endset -%}
{{ get('shape') }} * ({{ nbsql.natural_log(share) }} - {{ share }} + 1) + {{ get('gamma_peak') }}
{%- endmacro %}

{% macro gamma_base(x, feature) -%} {{ nbsql.natural_log(x) }} {%- endmacro %}

{% macro gamma_inside(x) -%} {{ x }} > 0 {%- endmacro %}

{# The mean or the variance of a class, between the bounds that keep k between 1e-9 and 1e10. #}
{% macro gamma_estimate(quantity, get) -%}
{% set mean = nbsql.gaussian_estimate('mean', get) -%}
{% set square %}({{ mean }}) * ({{ mean }}){% endset -%}
{% set most %}{{ nbsql.number(1e9) }} * {{ square }}{% endset -%}
{{ nbsql.moments_estimate(quantity, get, square, most) }}
{%- endmacro %}

{#
  The mean m, the shape k, or the peak k ln k - k - ln gamma(k), from Stirling's series of ln gamma, whose large terms cancel those of the
  peak (log_factorial.sql).
#}
{% macro gamma_parameter(quantity, get) -%}
{% set mean, variance = get('mean'), get('variance') -%}
{% set shape %}({{ mean }} * {{ mean }} / {{ variance }}){% endset -%}
{% set peak %}0.5 * ln({{ shape }}) - {{ nbsql.number(0.9189385332046728) }} - {{ nbsql.stirling_series(shape) }}{% endset -%}
{% set value %}{% if quantity == 'mean' %}{{ mean }}{% elif quantity == 'shape' %}{{ shape }}{% else %}{{ peak }}{% endif %}{% endset -%}
CASE WHEN {{ variance }} > 0 THEN {{ value }} END
{%- endmacro %}
