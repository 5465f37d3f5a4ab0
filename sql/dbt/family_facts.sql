{#
  The facts about each family of features that do not depend on its options: attributes as in its class (nbsql/family/), and

    options   the names of the family's own options
    defaults  of a density: the defaults of these options
    reads     of a density: the parameters that its term reads, pairs of a name and a quantity

  Generated: after changing a class, run python -m nbsql.family.facts.
#}
{% macro families() -%}
{% do return({
  'categorical': {
    'kind': 'level',
    'cell': 'level',
    'has_lookups': true,
    'level': true,
    'has_categories': true,
    'accepts': ['text', 'boolean', 'integer', 'float', 'decimal', 'temporal'],
    'divergence': 'normal',
    'macros': {'value': 'categorical_value', 'given': 'categorical_given', 'drawn': 'categorical_drawn'},
    'options': ['other_alpha', 'levels', 'min_count']},
  'bernoulli': {
    'kind': 'level',
    'cell': 'boolean',
    'has_categories': true,
    'accepts': ['boolean', 'integer', 'float', 'decimal'],
    'rules': {'integer': ['binary'], 'float': ['binary'], 'decimal': ['binary']},
    'divergence': 'normal',
    'macros': {'inputs': 'bernoulli_inputs', 'aggregates': 'bernoulli_aggregates', 'cells': 'bernoulli_cells', 'term':
      'bernoulli_term', 'weights': 'bernoulli_weights', 'drawn': 'bernoulli_drawn'},
    'options': ['beta']},
  'gaussian': {
    'kind': 'density',
    'cell': 'number',
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'units': 'numbers',
    'divergence': 'normal',
    'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'density':
      'gaussian_density', 'parameter': 'gaussian_parameter', 'weights': 'gaussian_weights', 'drawn': 'gaussian_drawn'},
    'options': ['variance', 'floor', 'smoothing', 'shared_variance', 'prior'],
    'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'lognormal': {
    'kind': 'density',
    'cell': 'number',
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']},
    'units': 'numbers',
    'divergence': 'normal',
    'macros': {'inputs': 'lognormal_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'density':
      'gaussian_density', 'parameter': 'gaussian_parameter', 'weights': 'gaussian_weights', 'drawn': 'lognormal_drawn', 'base':
      'lognormal_base', 'inside': 'lognormal_inside', 'moment': 'lognormal_moment'},
    'options': ['variance', 'floor', 'smoothing', 'shared_variance', 'prior'],
    'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'gamma': {
    'kind': 'density',
    'cell': 'number',
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']},
    'units': 'numbers',
    'divergence': 'normal',
    'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'parameter':
      'gamma_parameter', 'density': 'gamma_density', 'base': 'gamma_base', 'inside': 'gamma_inside'},
    'options': ['floor'],
    'defaults': {'floor': 1e-09},
    'reads': [['mean', 'mean'], ['shape', 'shape'], ['gamma_peak', 'gamma_peak']]},
  'beta': {
    'kind': 'density',
    'cell': 'number',
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['inside'], 'float': ['inside'], 'decimal': ['inside']},
    'units': 'numbers',
    'divergence': 'normal',
    'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'parameter':
      'beta_parameter', 'density': 'beta_density', 'inside': 'beta_inside'},
    'options': ['floor'],
    'defaults': {'floor': 1e-09},
    'reads': [['a', 'a'], ['b', 'b'], ['log_beta', 'log_beta']]},
  'exponential': {
    'kind': 'density',
    'cell': 'number',
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'units': 'numbers',
    'divergence': 'exponential',
    'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
      'poisson_parameter', 'density': 'exponential_density', 'inside': 'exponential_inside', 'weights': 'exponential_weights',
      'drawn': 'exponential_drawn', 'moment': 'exponential_moment'},
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'poisson': {
    'kind': 'density',
    'cell': 'number',
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']},
    'divergence': 'poisson',
    'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
      'poisson_parameter', 'density': 'poisson_density', 'base': 'poisson_base', 'inside': 'poisson_inside', 'at_zero':
      'poisson_at_zero', 'weights': 'poisson_weights', 'drawn': 'poisson_drawn', 'moment': 'poisson_moment'},
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'geometric': {
    'kind': 'density',
    'cell': 'number',
    'bounded': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']},
    'divergence': 'geometric',
    'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
      'geometric_parameter', 'density': 'geometric_density', 'inside': 'geometric_inside', 'at_zero': 'geometric_at_zero',
      'weights': 'geometric_weights', 'drawn': 'geometric_drawn', 'moment': 'geometric_moment'},
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['success', 'log_success'], ['failure', 'log_failure']]},
  'zero_inflated': {
    'kind': 'density',
    'cell': 'number',
    'zeros': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'units': 'numbers',
    'divergence': 'normal',
    'macros': {'inputs': 'zero_inflated_inputs', 'aggregates': 'zero_inflated_aggregates', 'cells': 'zero_inflated_cells', 'drawn':
      'zero_inflated_drawn'},
    'options': ['of', 'floor'],
    'defaults': {'of': 'lognormal', 'floor': 1e-09},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision'], ['zero', 'log_zero'], ['other', 'log_other']]},
  'multinomial': {
    'kind': 'tokens',
    'cell': 'column',
    'over_columns': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'divergence': 'normal',
    'macros': {'inputs': 'multinomial_inputs', 'aggregates': 'multinomial_aggregates', 'cells': 'multinomial_cells', 'term':
      'multinomial_term', 'weights': 'multinomial_weights', 'drawn': 'multinomial_drawn'},
    'options': ['columns']},
  'complement': {
    'kind': 'tokens',
    'cell': 'column',
    'over_columns': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'divergence': 'normal',
    'macros': {'inputs': 'multinomial_inputs', 'aggregates': 'multinomial_aggregates', 'cells': 'multinomial_cells', 'term':
      'multinomial_term', 'weights': 'multinomial_weights', 'drawn': 'multinomial_drawn'},
    'options': ['columns', 'norm']},
  'tokens': {
    'kind': 'tokens',
    'cell': 'token',
    'has_lookups': true,
    'bag': true,
    'accepts': ['tokens'],
    'divergence': 'normal',
    'events': ['multinomial', 'bernoulli', 'complement'],
    'macros': {'inputs': 'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term': 'text_term', 'weights':
      'text_weights', 'drawn': 'tokens_drawn'},
    'options': ['event', 'weight_norm', 'tfidf', 'norm']},
  'token_counts': {
    'kind': 'tokens',
    'cell': 'token',
    'has_lookups': true,
    'bag': true,
    'accepts': ['token counts'],
    'rules': {'token counts': ['negative_counts']},
    'divergence': 'normal',
    'events': ['multinomial', 'bernoulli', 'complement'],
    'macros': {'inputs': 'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term': 'text_term', 'weights':
      'text_weights', 'drawn': 'token_counts_drawn'},
    'options': ['event', 'weight_norm', 'tfidf', 'norm']},
  'text': {
    'kind': 'tokens',
    'cell': 'token',
    'has_lookups': true,
    'bag': true,
    'accepts': ['text'],
    'divergence': 'normal',
    'events': ['multinomial', 'bernoulli', 'complement'],
    'macros': {'inputs': 'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term': 'text_term', 'weights':
      'text_weights', 'drawn': 'text_drawn'},
    'options': ['event', 'weight_norm', 'tfidf', 'norm', 'pattern', 'lower', 'accents', 'normal_form', 'stop_words', 'min_length',
      'min_count', 'ngrams', 'characters', 'within_words']},
  'calendar': {
    'kind': 'level',
    'cell': 'part',
    'has_categories': true,
    'accepts': ['temporal'],
    'divergence': 'normal',
    'macros': {},
    'options': ['parts', 'zone']}
}) %}
{%- endmacro %}

{# The families that the package does not offer, because they query the data before they count. #}
{% macro families_elsewhere() -%}
{% do return(['binned', 'joint', 'conditional', 'kernel', 'multivariate_gaussian']) %}
{%- endmacro %}
