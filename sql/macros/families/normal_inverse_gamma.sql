{#
  A number with a normal density in every class, whose mean m and variance v have a normal-inverse-gamma prior:

    v ~ inverse gamma (a, b),  m ~ normal (mean, v / kappa)

  After n values of mean x and squared deviations m2 it is the same with (Murphy, Conjugate Bayesian analysis of the Gaussian
  distribution, 2007; Gelman et al., Bayesian Data Analysis, section 3.3)

    kappa' = kappa + n      mean' = (kappa mean + n x) / kappa'
    a' = a + n / 2          b' = b + m2 / 2 + kappa n (x - mean)^2 / (2 kappa')

  The posterior mean of the variance is b' / (a' - 1); at the mode of m and v together it is b' / (a' + 3 / 2) (Fraley and
  Raftery, Journal of Classification 24, 2007). The mean is mean' in both. What is not given comes from all classes: mean, and b so
  that the prior's own estimate is the variance over all classes. The floor of the variance is that of gaussian.sql.
#}

{% macro normal_inverse_gamma_likelihoods(features) -%}
{% set variance -%}
greatest(
    (b + m2 / 2 + CASE WHEN n > 0 THEN kappa * n * (x - prior_mean) * (x - prior_mean) / (2 * (kappa + n)) ELSE 0 END)
      / (a + n / 2 + divisor),
    floor * total_variance
  )
{%- endset -%}
SELECT
  {{ nbsql.number_likelihood(mean=nbsql.word('mean'), variance=variance) }}
FROM (
  SELECT
    *,
    CASE WHEN n > 0 THEN prior_mean + n * (x - prior_mean) / (kappa + n) ELSE prior_mean END AS mean
  FROM (
    SELECT
      classes.class,
      options.feature,
      options.kappa,
      options.a,
      options.divisor,
      options.floor,
      coalesce(options.mean, pooled.mean) AS prior_mean,
      coalesce(options.b, (options.a + options.divisor) * pooled.m2 / pooled.n) AS b,
      pooled.m2 / pooled.n AS total_variance,
      coalesce(cells.n, 0) AS n,
      coalesce(cells.mean, pooled.mean) AS x,
      coalesce(cells.m2, 0) AS m2
    FROM classes
    CROSS JOIN (
      VALUES
        {% for feature in features %}
        {% set prior = feature.family.prior %}
        ({{ nbsql.text(feature.name) }}, {{ nbsql.optional(prior.mean) }}, {{ nbsql.number(prior.kappa) }}, {{ nbsql.number(prior.a) }}, {{ nbsql.optional(prior.b) }}, {{ nbsql.number(feature.family.divisor) }}, {{ nbsql.number(feature.family.floor) }}){{ nbsql.comma(loop) }}
        {% endfor %}
    ) AS options(feature, mean, kappa, a, b, divisor, floor)
    LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
    JOIN (
      {{ nbsql.pooled(nbsql.word('moments'), ['feature']) | indent(6) }}
    ) AS pooled ON pooled.feature = options.feature
  ) AS evidence
) AS estimates
{%- endmacro %}

{% macro normal_inverse_gamma_quantities() %}
{{ nbsql.gaussian_quantities() }}
{%- endmacro %}
