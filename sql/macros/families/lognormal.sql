{#
  A positive number whose logarithm has a normal density in every class:

    ln p(x | c) = -ln x - ln(2 pi v_c) / 2 - (ln x - m_c)^2 / (2 v_c)

  ln x is counted and estimated by gaussian.sql, or with a prior by normal_inverse_gamma.sql. The fit refuses a number of 0 or less; in a
  score it is outside the distribution.
#}

{% macro lognormal_inputs(feature, centre, careful, centred) -%}
{% set is_centred = centred or centre is not none -%}
{{ nbsql.centred_input(feature, nbsql.log_of_input(nbsql.number_of(feature.column), is_centred, careful), centre, centred) }}
{%- endmacro %}

{% macro lognormal_inside(x) -%} {{ x }} > -{{ nbsql.infinity() }} {%- endmacro %}

{% macro lognormal_base(x, feature) -%} {{ x }} {%- endmacro %}

{% macro lognormal_drawn(feature, seed, position) -%} exp({{ nbsql.gaussian_drawn(feature, seed, position) }}) {%- endmacro %}

{# The mean or the variance of the number itself. The likelihoods have those of its logarithm. #}
{% macro lognormal_moment(quantity) -%}
{% if quantity == 'mean' %}exp(mean + variance / 2){% else %}(exp(variance) - 1) * exp(2 * mean + variance){% endif %}
{%- endmacro %}
