{#
  This macro is never run. It names every macro that others call by a constructed name, such as nbsql[family.macros.term],
  because SQLMesh, which also runs dbt projects, keeps only the macros whose calls it sees.
#}
{% macro called_by_name() -%}
{% if false -%}
{% do [
  nbsql.bernoulli_aggregates(), nbsql.bernoulli_cells(), nbsql.bernoulli_drawn(), nbsql.bernoulli_inputs(),
  nbsql.bernoulli_term(), nbsql.beta_density(), nbsql.beta_estimate(), nbsql.beta_inside(), nbsql.beta_parameter(),
  nbsql.blocks_term(), nbsql.breaks_binary(), nbsql.breaks_inside(), nbsql.breaks_missing(), nbsql.breaks_negative(),
  nbsql.breaks_negative_counts(), nbsql.breaks_positive(), nbsql.breaks_time(), nbsql.breaks_weight(), nbsql.breaks_whole(),
  nbsql.calibration(), nbsql.categorical_drawn(), nbsql.categorical_given(), nbsql.categorical_value(),
  nbsql.complement_likelihoods(), nbsql.confusion(), nbsql.dirichlet_likelihoods(), nbsql.exponential_density(),
  nbsql.exponential_divergence(), nbsql.exponential_drawn(), nbsql.exponential_estimate(), nbsql.exponential_inside(),
  nbsql.gamma_base(), nbsql.gamma_density(), nbsql.gamma_estimate(), nbsql.gamma_inside(), nbsql.gamma_parameter(),
  nbsql.gaussian_aggregates(), nbsql.gaussian_cells(), nbsql.gaussian_density(), nbsql.gaussian_drawn(),
  nbsql.gaussian_estimate(), nbsql.gaussian_inputs(), nbsql.gaussian_parameter(), nbsql.geometric_at_zero(),
  nbsql.geometric_density(), nbsql.geometric_divergence(), nbsql.geometric_drawn(), nbsql.geometric_estimate(),
  nbsql.geometric_inside(), nbsql.geometric_parameter(), nbsql.intervals(), nbsql.joint_log_likelihood(), nbsql.lift(),
  nbsql.log_evidence(), nbsql.lognormal_base(), nbsql.lognormal_drawn(), nbsql.lognormal_inputs(), nbsql.lognormal_inside(),
  nbsql.metrics(), nbsql.multinomial_aggregates(), nbsql.multinomial_cells(), nbsql.multinomial_drawn(),
  nbsql.multinomial_inputs(), nbsql.multinomial_term(), nbsql.normal_divergence(), nbsql.normal_inverse_gamma_estimate(),
  nbsql.poisson_aggregates(), nbsql.poisson_at_zero(), nbsql.poisson_base(), nbsql.poisson_cells(), nbsql.poisson_density(),
  nbsql.poisson_divergence(), nbsql.poisson_drawn(), nbsql.poisson_estimate(), nbsql.poisson_inputs(),
  nbsql.poisson_inside(), nbsql.poisson_parameter(), nbsql.precision_recall(), nbsql.predict(), nbsql.predict_proba(),
  nbsql.presence_likelihoods(), nbsql.presence_quantities(), nbsql.prior_term(), nbsql.roc(),
  nbsql.shared_gaussian_estimate(), nbsql.smoothed_gaussian_estimate(), nbsql.sum_of_level_terms(), nbsql.sum_of_terms(),
  nbsql.text_aggregates(), nbsql.text_cells(), nbsql.text_drawn(), nbsql.text_inputs(), nbsql.text_term(),
  nbsql.thresholds(), nbsql.zero_inflated_aggregates(), nbsql.zero_inflated_cells(), nbsql.zero_inflated_drawn(),
  nbsql.zero_inflated_estimate(), nbsql.zero_inflated_inputs(), nbsql.zero_inflated_parameter(), nbsql.zero_inflated_term()
] %}
{% endif -%}
{%- endmacro %}
