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
    'level': true,
    'has_categories': true,
    'accepts': ['text', 'boolean', 'integer', 'float', 'decimal', 'temporal'],
    'options': ['other_alpha', 'levels', 'min_count']},
  'bernoulli': {
    'number': true,
    'has_categories': true,
    'accepts': ['boolean', 'integer', 'float', 'decimal'],
    'rules': {'integer': ['binary'], 'float': ['binary'], 'decimal': ['binary']},
    'options': ['beta']},
  'gaussian': {
    'number': true,
    'density': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'units': 'numbers',
    'options': ['variance', 'floor', 'smoothing', 'shared_variance', 'prior'],
    'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'lognormal': {
    'number': true,
    'density': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']},
    'units': 'numbers',
    'options': ['variance', 'floor', 'smoothing', 'shared_variance', 'prior'],
    'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'gamma': {
    'number': true,
    'density': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']},
    'units': 'numbers',
    'options': ['floor'],
    'defaults': {'floor': 1e-09},
    'reads': [['mean', 'mean'], ['shape', 'shape'], ['gamma_peak', 'gamma_peak']]},
  'beta': {
    'number': true,
    'density': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['inside'], 'float': ['inside'], 'decimal': ['inside']},
    'units': 'numbers',
    'options': ['floor'],
    'defaults': {'floor': 1e-09},
    'reads': [['a', 'a'], ['b', 'b'], ['log_beta', 'log_beta']]},
  'exponential': {
    'number': true,
    'density': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'units': 'numbers',
    'divergence': 'exponential',
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'poisson': {
    'number': true,
    'density': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']},
    'divergence': 'poisson',
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'geometric': {
    'number': true,
    'density': true,
    'bounded': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']},
    'divergence': 'geometric',
    'options': ['a', 'b'],
    'defaults': {'a': 0.0, 'b': 0.0},
    'reads': [['success', 'log_success'], ['failure', 'log_failure']]},
  'zero_inflated': {
    'number': true,
    'density': true,
    'zeros': true,
    'centred': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'units': 'numbers',
    'options': ['of', 'floor'],
    'defaults': {'of': 'lognormal', 'floor': 1e-09},
    'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision'], ['zero', 'log_zero'], ['other', 'log_other']]},
  'multinomial': {
    'number': true,
    'over_columns': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'options': ['columns']},
  'complement': {
    'number': true,
    'over_columns': true,
    'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']},
    'options': ['columns', 'norm']},
  'tokens': {
    'bag': true,
    'accepts': ['tokens'],
    'events': ['multinomial', 'bernoulli', 'complement'],
    'options': ['event', 'weight_norm', 'tfidf', 'norm']},
  'token_counts': {
    'bag': true,
    'accepts': ['token counts'],
    'rules': {'token counts': ['negative_counts']},
    'events': ['multinomial', 'bernoulli', 'complement'],
    'options': ['event', 'weight_norm', 'tfidf', 'norm']},
  'text': {
    'bag': true,
    'accepts': ['text'],
    'events': ['multinomial', 'bernoulli', 'complement'],
    'options': ['event', 'weight_norm', 'tfidf', 'norm', 'pattern', 'lower', 'accents', 'normal_form', 'stop_words', 'min_length',
      'min_count', 'ngrams', 'characters', 'within_words']},
  'calendar': {
    'has_categories': true,
    'accepts': ['temporal'],
    'options': ['parts', 'zone']}
}) %}
{%- endmacro %}

{# The families that the package does not offer, because they query the data before they count. #}
{% macro families_elsewhere() -%}
{% do return(['binned', 'joint', 'conditional', 'kernel', 'multivariate_gaussian']) %}
{%- endmacro %}
