{#
  A number with a normal density in every class, whose mean m and variance v have a normal-inverse-gamma prior:

    v ~ inverse gamma (a, b),  m ~ normal (mean, v / kappa)

  After n values of mean x and squared deviations m2 the posterior is of the same form with (Murphy, Conjugate Bayesian analysis of the
  Gaussian distribution, 2007; Gelman et al., Bayesian Data Analysis, section 3.3)

    kappa' = kappa + n      mean' = (kappa mean + n x) / kappa'
    a' = a + n / 2          b' = b + m2 / 2 + kappa n (x - mean)^2 / (2 kappa')

  The posterior mean of the variance is b' / (a' - 1); at the mode of m and v together it is b' / (a' + 3 / 2) (Fraley and Raftery,
  Journal of Classification 24, 2007). The mean is mean' in both. Options that are not given come from all classes: mean, and b such that
  the prior's own estimate is the variance over all classes. The floor of the variance is that of gaussian.sql.
#}

{# The mean or the variance of a class, with the prior; NULL if no class has a value. #}
{% macro normal_inverse_gamma_estimate(quantity, get) -%}
{% set n, kappa, a = get('n'), get('kappa'), get('a') -%}
{% set centre %}coalesce({{ get('prior_mean') }}, {{ get('pooled_mean') }}){% endset -%}
{% set gap %}({{ get('mean') }} - {{ centre }}){% endset -%}
{% set total %}{{ get('pooled_m2') }} / nullif({{ get('pooled_n') }}, 0){% endset -%}
{% if quantity == 'mean' -%}
CASE WHEN {{ n }} > 0 THEN {{ centre }} + {{ n }} * {{ gap }} / ({{ kappa }} + {{ n }}) WHEN {{ get('pooled_n') }} > 0 THEN {{ centre }} END
{%- elif quantity == 'variance' -%}
{% set scale -%}
(coalesce({{ get('b') }}, ({{ a }} + {{ get('divisor') }}) * {{ total }})
  + CASE
    WHEN {{ n }} > 0 THEN {{ get('m2') }} / 2 + {{ kappa }} * {{ n }} * {{ gap }} * {{ gap }} / (2 * ({{ kappa }} + {{ n }}))
    ELSE 0
  END)
  / ({{ a }} + {{ n }} / 2 + {{ get('divisor') }})
{%- endset -%}
{% set floor %}{{ get('floor') }} * {{ total }}{% endset -%}
CASE WHEN {{ get('pooled_n') }} > 0 THEN {{ nbsql.largest([scale, floor]) }} END
{%- endif %}
{%- endmacro %}
