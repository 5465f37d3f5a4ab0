{# What is known of families and options. Generated from Python's classes by python -m nbsql.dbt write. #}

{#
  The facts about each family of features that do not depend on its options: attributes as in its class (nbsql/family/), and

    defaults  the family's own options, with their defaults
    choices   the values that some of these allow
    numbers   those that are numbers of at least 0
    reads     of a density: the parameters that its term reads, pairs of a name and a quantity
#}
{% macro families() -%}
{% do return({
  'categorical': {'kind': 'level', 'cell': 'level', 'has_lookups': true, 'level': true, 'has_categories': true, 'accepts':
    ['text', 'boolean', 'integer', 'float', 'decimal', 'temporal'], 'divergence': 'normal', 'macros': {'value':
    'categorical_value', 'given': 'categorical_given', 'drawn': 'categorical_drawn'}, 'defaults': {'other_alpha': none,
    'levels': [], 'min_count': 1}},
  'bernoulli': {'kind': 'level', 'cell': 'boolean', 'has_categories': true, 'accepts': ['boolean', 'integer', 'float',
    'decimal'], 'rules': {'integer': ['binary'], 'float': ['binary'], 'decimal': ['binary']}, 'divergence': 'normal',
    'macros': {'inputs': 'bernoulli_inputs', 'aggregates': 'bernoulli_aggregates', 'cells': 'bernoulli_cells', 'term':
    'bernoulli_term', 'weights': 'bernoulli_weights', 'drawn': 'bernoulli_drawn'}, 'defaults': {'beta': none}},
  'gaussian': {'kind': 'density', 'cell': 'number', 'centred': true, 'accepts': ['integer', 'float', 'decimal'], 'units':
    'numbers', 'divergence': 'normal', 'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells':
    'gaussian_cells', 'density': 'gaussian_density', 'parameter': 'gaussian_parameter', 'weights': 'gaussian_weights',
    'drawn': 'gaussian_drawn'}, 'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance':
    false, 'prior': none}, 'choices': {'variance': ['population', 'sample']}, 'numbers': ['floor', 'smoothing'], 'reads':
    [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'lognormal': {'kind': 'density', 'cell': 'number', 'centred': true, 'accepts': ['integer', 'float', 'decimal'], 'rules':
    {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']}, 'units': 'numbers', 'divergence': 'normal',
    'macros': {'inputs': 'lognormal_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'density':
    'gaussian_density', 'parameter': 'gaussian_parameter', 'weights': 'gaussian_weights', 'drawn': 'lognormal_drawn', 'base':
    'lognormal_base', 'inside': 'lognormal_inside', 'moment': 'lognormal_moment'}, 'defaults': {'variance': 'population',
    'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none}, 'choices': {'variance': ['population',
    'sample']}, 'numbers': ['floor', 'smoothing'], 'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision', 'precision']]},
  'gamma': {'kind': 'density', 'cell': 'number', 'centred': true, 'accepts': ['integer', 'float', 'decimal'], 'rules':
    {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']}, 'units': 'numbers', 'divergence': 'normal',
    'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'parameter':
    'gamma_parameter', 'density': 'gamma_density', 'base': 'gamma_base', 'inside': 'gamma_inside'}, 'defaults': {'floor':
    1e-09}, 'numbers': ['floor'], 'reads': [['mean', 'mean'], ['shape', 'shape'], ['gamma_peak', 'gamma_peak']]},
  'beta': {'kind': 'density', 'cell': 'number', 'centred': true, 'accepts': ['integer', 'float', 'decimal'], 'rules':
    {'integer': ['inside'], 'float': ['inside'], 'decimal': ['inside']}, 'units': 'numbers', 'divergence': 'normal',
    'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'parameter':
    'beta_parameter', 'density': 'beta_density', 'inside': 'beta_inside'}, 'defaults': {'floor': 1e-09}, 'numbers':
    ['floor'], 'reads': [['a', 'a'], ['b', 'b'], ['log_beta', 'log_beta']]},
  'exponential': {'kind': 'density', 'cell': 'number', 'accepts': ['integer', 'float', 'decimal'], 'rules': {'integer':
    ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'units': 'numbers', 'divergence': 'exponential', 'macros':
    {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
    'poisson_parameter', 'density': 'exponential_density', 'inside': 'exponential_inside', 'weights': 'exponential_weights',
    'drawn': 'exponential_drawn', 'moment': 'exponential_moment'}, 'defaults': {'a': 0.0, 'b': 0.0}, 'numbers': ['a', 'b'],
    'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'poisson': {'kind': 'density', 'cell': 'number', 'accepts': ['integer', 'float', 'decimal'], 'rules': {'integer':
    ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']}, 'divergence': 'poisson', 'macros':
    {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
    'poisson_parameter', 'density': 'poisson_density', 'base': 'poisson_base', 'inside': 'poisson_inside', 'at_zero':
    'poisson_at_zero', 'weights': 'poisson_weights', 'drawn': 'poisson_drawn', 'moment': 'poisson_moment'}, 'defaults': {'a':
    0.0, 'b': 0.0}, 'numbers': ['a', 'b'], 'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]},
  'geometric': {'kind': 'density', 'cell': 'number', 'bounded': true, 'accepts': ['integer', 'float', 'decimal'], 'rules':
    {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']}, 'divergence': 'geometric',
    'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells', 'parameter':
    'geometric_parameter', 'density': 'geometric_density', 'inside': 'geometric_inside', 'at_zero': 'geometric_at_zero',
    'weights': 'geometric_weights', 'drawn': 'geometric_drawn', 'moment': 'geometric_moment'}, 'defaults': {'a': 0.0, 'b':
    0.0}, 'numbers': ['a', 'b'], 'reads': [['success', 'log_success'], ['failure', 'log_failure']]},
  'zero_inflated': {'kind': 'density', 'cell': 'number', 'zeros': true, 'centred': true, 'accepts': ['integer', 'float',
    'decimal'], 'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'units': 'numbers',
    'divergence': 'normal', 'macros': {'inputs': 'zero_inflated_inputs', 'aggregates': 'zero_inflated_aggregates', 'cells':
    'zero_inflated_cells', 'drawn': 'zero_inflated_drawn'}, 'defaults': {'of': 'lognormal', 'floor': 1e-09}, 'choices':
    {'of': ['lognormal', 'gamma', 'exponential', 'gaussian']}, 'numbers': ['floor'], 'reads': [['mean', 'mean'], ['peak',
    'peak'], ['precision', 'precision'], ['zero', 'log_zero'], ['other', 'log_other']]},
  'multinomial': {'kind': 'tokens', 'cell': 'column', 'over_columns': true, 'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'divergence': 'normal', 'macros':
    {'inputs': 'multinomial_inputs', 'aggregates': 'multinomial_aggregates', 'cells': 'multinomial_cells', 'term':
    'multinomial_term', 'weights': 'multinomial_weights', 'drawn': 'multinomial_drawn'}, 'defaults': {'columns': []}},
  'complement': {'kind': 'tokens', 'cell': 'column', 'over_columns': true, 'accepts': ['integer', 'float', 'decimal'],
    'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'divergence': 'normal', 'macros':
    {'inputs': 'multinomial_inputs', 'aggregates': 'multinomial_aggregates', 'cells': 'multinomial_cells', 'term':
    'multinomial_term', 'weights': 'multinomial_weights', 'drawn': 'multinomial_drawn'}, 'defaults': {'columns': [], 'norm':
    false}},
  'tokens': {'kind': 'tokens', 'cell': 'token', 'has_lookups': true, 'bag': true, 'accepts': ['tokens'], 'divergence':
    'normal', 'macros': {'inputs': 'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term':
    'text_term', 'weights': 'text_weights', 'drawn': 'tokens_drawn'}, 'defaults': {'event': 'multinomial', 'weight_norm':
    false, 'tfidf': false, 'norm': none}, 'choices': {'event': ['multinomial', 'bernoulli', 'complement'], 'norm': [none,
    'l2']}},
  'token_counts': {'kind': 'tokens', 'cell': 'token', 'has_lookups': true, 'bag': true, 'accepts': ['token counts'], 'rules':
    {'token counts': ['negative_counts']}, 'divergence': 'normal', 'macros': {'inputs': 'text_inputs', 'aggregates':
    'text_aggregates', 'cells': 'text_cells', 'term': 'text_term', 'weights': 'text_weights', 'drawn': 'token_counts_drawn'},
    'defaults': {'event': 'multinomial', 'weight_norm': false, 'tfidf': false, 'norm': none}, 'choices': {'event':
    ['multinomial', 'bernoulli', 'complement'], 'norm': [none, 'l2']}},
  'text': {'kind': 'tokens', 'cell': 'token', 'has_lookups': true, 'bag': true, 'accepts': ['text'], 'divergence': 'normal',
    'macros': {'inputs': 'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term': 'text_term',
    'weights': 'text_weights', 'drawn': 'text_drawn'}, 'defaults': {'event': 'multinomial', 'weight_norm': false, 'tfidf':
    false, 'norm': none, 'pattern': '[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*', 'lower': true, 'accents': true, 'normal_form':
    'C', 'stop_words': none, 'min_length': 1, 'min_count': 1, 'ngrams': [1, 1], 'characters': none, 'within_words': false},
    'choices': {'event': ['multinomial', 'bernoulli', 'complement'], 'norm': [none, 'l2'], 'normal_form': [none, 'C']}},
  'calendar': {'kind': 'level', 'cell': 'part', 'has_categories': true, 'accepts': ['temporal'], 'divergence': 'normal',
    'macros': {}, 'defaults': {'parts': none, 'zone': none}}
}) %}
{%- endmacro %}

{# The families that query the data before they count. #}
{% macro families_elsewhere() -%}
{% do return(['binned', 'joint', 'conditional', 'kernel', 'multivariate_gaussian']) %}
{%- endmacro %}

{# The values of options of every family. #}
{% macro shared_choices() -%}
{% do return({'nulls': ['skip', 'category', 'error'], 'unseen': ['skip', 'smooth'], 'estimate': ['mean', 'mode']}) %}
{%- endmacro %}

{# The words of stop_words: english, between blanks. #}
{% macro english_stop_words() -%}
{% do return('a an the this that these those some any each every either neither both all such no nor not only own same other another i me
  my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
  itself they them their theirs themselves one who whom whose which what and or but if then else than so because as until
  while though although whether unless since of at by for with about against between into through during before after above
  below to from up down in out on off over under near per via within without among upon toward towards onto across along
  behind beside besides beyond despite again further once here there when where why how ever never always also too very just
  more most less least few many much quite rather still yet already even almost am is are was were be been being have has had
  having do does did doing done can could may might must shall should will would ought s t d ll m o re ve don didn doesn isn
  aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn needn shan ain') %}
{%- endmacro %}
