{# What is known of families and options. Generated from Python's classes by python -m nbsql.dbt write. #}

{#
  The facts about each family of features that do not depend on its options: attributes as in its class (nbsql/family/), and

    defaults  the family's own options, with their defaults
    choices   the values that some of these allow
    numbers   those that are numbers of at least 0
    reads     of a density: the parameters that its term reads, pairs of a name and a quantity
#}
{% macro families() -%}
{% set number = {'kind': 'density', 'cell': 'number', 'accepts': ['integer', 'float', 'decimal']} -%}
{% set column = {'kind': 'tokens', 'cell': 'column', 'over_columns': true, 'accepts': ['integer', 'float', 'decimal'], 'rules':
  {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'divergence': 'normal', 'macros': {'inputs':
  'multinomial_inputs', 'aggregates': 'multinomial_aggregates', 'cells': 'multinomial_cells', 'term': 'multinomial_term'}} -%}
{% set token = {'kind': 'tokens', 'cell': 'token', 'has_lookups': true, 'bag': true, 'divergence': 'normal', 'macros': {'inputs':
  'text_inputs', 'aggregates': 'text_aggregates', 'cells': 'text_cells', 'term': 'text_term'}} -%}
{% do return({
  'categorical': {'kind': 'level', 'cell': 'level', 'has_lookups': true, 'level': true, 'has_categories': true, 'accepts': ['text',
    'boolean', 'integer', 'float', 'decimal', 'temporal'], 'divergence': 'normal', 'macros': {'value': 'categorical_value', 'given':
    'categorical_given'}, 'defaults': {'other_alpha': none, 'levels': [], 'min_count': 1}},
  'binned': {'kind': 'level', 'cell': 'bin', 'has_lookups': true, 'level': true, 'has_categories': true, 'accepts': ['integer', 'float',
    'decimal'], 'divergence': 'normal', 'macros': {'value': 'binned_value', 'given': 'binned_given'}, 'defaults': {'by': 'quantile'}},
  'bernoulli': {'kind': 'level', 'cell': 'boolean', 'has_categories': true, 'accepts': ['boolean', 'integer', 'float', 'decimal'],
    'rules': {'integer': ['binary'], 'float': ['binary'], 'decimal': ['binary']}, 'divergence': 'normal', 'macros': {'inputs':
    'bernoulli_inputs', 'aggregates': 'bernoulli_aggregates', 'cells': 'bernoulli_cells', 'term': 'bernoulli_term'}, 'defaults': {'beta':
    none}},
  'gaussian': dict(number, **{'centred': true, 'units': 'numbers', 'divergence': 'normal', 'macros': {'inputs': 'gaussian_inputs',
    'aggregates': 'gaussian_aggregates', 'cells': 'gaussian_cells', 'density': 'gaussian_density', 'parameter': 'gaussian_parameter'},
    'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior': none}, 'choices':
    {'variance': ['population', 'sample']}, 'numbers': ['floor', 'smoothing'], 'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision',
    'precision']]}),
  'lognormal': dict(number, **{'centred': true, 'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']},
    'units': 'numbers', 'divergence': 'normal', 'macros': {'inputs': 'lognormal_inputs', 'aggregates': 'gaussian_aggregates', 'cells':
    'gaussian_cells', 'density': 'gaussian_density', 'parameter': 'gaussian_parameter', 'base': 'lognormal_base', 'inside':
    'lognormal_inside'}, 'defaults': {'variance': 'population', 'floor': 1e-09, 'smoothing': 0.0, 'shared_variance': false, 'prior':
    none}, 'choices': {'variance': ['population', 'sample']}, 'numbers': ['floor', 'smoothing'], 'reads': [['mean', 'mean'], ['peak',
    'peak'], ['precision', 'precision']]}),
  'gamma': dict(number, **{'centred': true, 'rules': {'integer': ['positive'], 'float': ['positive'], 'decimal': ['positive']}, 'units':
    'numbers', 'divergence': 'normal', 'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells':
    'gaussian_cells', 'parameter': 'gamma_parameter', 'density': 'gamma_density', 'base': 'gamma_base', 'inside': 'gamma_inside'},
    'defaults': {'floor': 1e-09}, 'numbers': ['floor'], 'reads': [['mean', 'mean'], ['shape', 'shape'], ['gamma_peak', 'gamma_peak']]}),
  'beta': dict(number, **{'centred': true, 'rules': {'integer': ['inside'], 'float': ['inside'], 'decimal': ['inside']}, 'units':
    'numbers', 'divergence': 'normal', 'macros': {'inputs': 'gaussian_inputs', 'aggregates': 'gaussian_aggregates', 'cells':
    'gaussian_cells', 'parameter': 'beta_parameter', 'density': 'beta_density', 'inside': 'beta_inside'}, 'defaults': {'floor': 1e-09},
    'numbers': ['floor'], 'reads': [['a', 'a'], ['b', 'b'], ['log_beta', 'log_beta']]}),
  'exponential': dict(number, **{'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal': ['negative']}, 'units': 'numbers',
    'divergence': 'exponential', 'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells',
    'parameter': 'poisson_parameter', 'density': 'exponential_density', 'inside': 'exponential_inside'}, 'defaults': {'a': 0.0, 'b': 0.0},
    'numbers': ['a', 'b'], 'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]}),
  'poisson': dict(number, **{'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative', 'whole']},
    'divergence': 'poisson', 'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells': 'poisson_cells',
    'parameter': 'poisson_parameter', 'density': 'poisson_density', 'base': 'poisson_base', 'inside': 'poisson_inside', 'at_zero':
    'poisson_at_zero'}, 'defaults': {'a': 0.0, 'b': 0.0}, 'numbers': ['a', 'b'], 'reads': [['rate', 'rate'], ['log_rate', 'log_rate']]}),
  'geometric': dict(number, **{'bounded': true, 'rules': {'integer': ['negative'], 'float': ['negative', 'whole'], 'decimal': ['negative',
    'whole']}, 'divergence': 'geometric', 'macros': {'inputs': 'poisson_inputs', 'aggregates': 'poisson_aggregates', 'cells':
    'poisson_cells', 'parameter': 'geometric_parameter', 'density': 'geometric_density', 'inside': 'geometric_inside', 'at_zero':
    'geometric_at_zero'}, 'defaults': {'a': 0.0, 'b': 0.0}, 'numbers': ['a', 'b'], 'reads': [['success', 'log_success'], ['failure',
    'log_failure']]}),
  'zero_inflated': dict(number, **{'zeros': true, 'centred': true, 'rules': {'integer': ['negative'], 'float': ['negative'], 'decimal':
    ['negative']}, 'units': 'numbers', 'divergence': 'normal', 'macros': {'inputs': 'zero_inflated_inputs', 'aggregates':
    'zero_inflated_aggregates', 'cells': 'zero_inflated_cells'}, 'defaults': {'of': 'lognormal', 'floor': 1e-09}, 'choices': {'of':
    ['lognormal', 'gamma', 'exponential', 'gaussian']}, 'numbers': ['floor'], 'reads': [['mean', 'mean'], ['peak', 'peak'], ['precision',
    'precision'], ['zero', 'log_zero'], ['other', 'log_other']]}),
  'multinomial': dict(column, **{'defaults': {'columns': []}}),
  'complement': dict(column, **{'defaults': {'columns': [], 'norm': false}}),
  'tokens': dict(token, **{'accepts': ['tokens'], 'defaults': {'event': 'multinomial', 'weight_norm': false, 'tfidf': false, 'norm': none,
    'min_known': 0}, 'choices': {'event': ['multinomial', 'bernoulli', 'complement'], 'norm': [none, 'l2']}}),
  'token_counts': dict(token, **{'accepts': ['token counts'], 'rules': {'token counts': ['negative_counts']}, 'defaults': {'event':
    'multinomial', 'weight_norm': false, 'tfidf': false, 'norm': none, 'min_known': 0}, 'choices': {'event': ['multinomial', 'bernoulli',
    'complement'], 'norm': [none, 'l2']}}),
  'text': dict(token, **{'accepts': ['text'], 'defaults': {'event': 'multinomial', 'weight_norm': false, 'tfidf': false, 'norm': none,
    'min_known': 0, 'pattern': '[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*', 'lower': true, 'accents': true, 'normal_form': 'C', 'stop_words':
    none, 'min_length': 1, 'min_count': 1, 'ngrams': [1, 1], 'characters': none, 'within_words': false}, 'choices': {'event':
    ['multinomial', 'bernoulli', 'complement'], 'norm': [none, 'l2'], 'normal_form': [none, 'C']}}),
  'calendar': {'kind': 'level', 'cell': 'part', 'has_categories': true, 'accepts': ['temporal'], 'divergence': 'normal', 'macros': {},
    'defaults': {'parts': none, 'zone': none}}
}) %}
{%- endmacro %}

{# The default family of a feature, by the kind of its column. #}
{% macro inferred_families() -%}
{% do return({'text': 'categorical', 'boolean': 'bernoulli', 'integer': 'gaussian', 'float': 'gaussian', 'decimal': 'gaussian', 'tokens':
  'tokens', 'token counts': 'token_counts'}) %}
{%- endmacro %}

{# The families that query the data before they count. #}
{% macro families_elsewhere() -%}
{% do return(['joint', 'conditional', 'kernel', 'multivariate_gaussian']) %}
{%- endmacro %}

{# The options of a model, with their defaults. #}
{% macro default_options() -%}
{% do return({'target': none, 'id': [], 'features': none, 'exclude': [], 'families': {}, 'weight': none, 'alpha': 1.0, 'prior':
  'empirical', 'prior_alpha': none, 'nulls': 'skip', 'unseen': 'skip', 'slice_by': none, 'lookback': 1, 'classes': none, 'derive': {},
  'missing': []}) %}
{%- endmacro %}

{# The other options of nbsql.fit, and those of its methods. #}
{% macro options_of_python() -%}
{% do return(['joins', 'infer', 'method', 'segment_by', 'estimate', 'backoff', 'shrinkage', 'toward', 'bins', 'weighted', 'k', 'least',
  'penalty', 'iterations', 'tolerance', 'per', 'views', 'pairs', 'triples', 'parents', 'starts', 'seed', 'components',
  'segment_shrinkage']) %}
{%- endmacro %}

{# The arguments of the macros that a project calls. #}
{% macro arguments_of_macros() -%}
{% do return({'statistics': ['source', 'where'], 'class_priors': ['statistics', 'training'], 'feature_likelihoods': ['statistics',
  'training'], 'with_cell': ['query', 'columns'], 'predictions': ['statistics', 'source', 'where', 'training', 'columns', 'calibration',
  'certain', 'by_class'], 'probabilities': ['statistics', 'source', 'where', 'training', 'columns', 'calibration'],
  'joint_log_likelihoods': ['statistics', 'source', 'where', 'training', 'columns'], 'evidence': ['statistics', 'source', 'where',
  'training', 'columns'], 'explanation': ['statistics', 'source', 'where', 'training'], 'evaluation': ['statistics', 'source', 'table',
  'weight', 'bins', 'where', 'training', 'by', 'between', 'label', 'calibration'], 'comparison': ['statistics', 'other', 'source',
  'weight', 'where', 'training', 'other_training', 'calibration', 'other_calibration'], 'fitted_calibration': ['statistics', 'source',
  'method', 'weight', 'where', 'training', 'confidence'], 'review_queue': ['statistics', 'source', 'n', 'by', 'where', 'training',
  'costs', 'columns'], 'scorecard': ['statistics', 'points', 'odds', 'double', 'target', 'digits', 'training'], 'monitoring':
  ['statistics', 'source', 'by', 'weight', 'where', 'training'], 'feature_drift': ['statistics', 'a', 'b', 'slices', 'against',
  'training']}) %}
{%- endmacro %}

{# What is wrong with values that break a rule. #}
{% macro rule_messages() -%}
{% do return({'negative': 'are negative; {family} {units} must be at least 0', 'positive':
  'are 0 or negative; {family} {units} must be above 0', 'inside':
  'are not between 0 and 1; {family} {units} must be above 0 and below 1', 'whole':
  'are not whole; {family} {units} must be whole numbers', 'binary': 'are neither 0 nor 1; {family} takes a BOOLEAN or 0/1 column',
  'negative_counts': 'hold a negative count; counts must be at least 0', 'missing':
  'are NULL, and nulls: error; fill them, or use nulls: skip', 'time':
  'are NULL or infinite, by which rows age; fill them, or leave such rows out', 'weight':
  'are negative, NULL or not finite; weights must be at least 0'}) %}
{%- endmacro %}

{# The values of options of every family. #}
{% macro shared_choices() -%}
{% do return({'nulls': ['skip', 'category', 'error'], 'unseen': ['skip', 'smooth'], 'estimate': ['mean', 'mode']}) %}
{%- endmacro %}

{# What a column by which to slice may not be named. #}
{% macro columns_of_slices() -%}
{% do return(['rows', 'weight', 'accuracy', 'low', 'high', 'log_loss', 'brier', 'roc_auc', 'precision', 'selection_rate',
  'false_positive_rate', 'false_negative_rate', 'class', 'metric', 'value', 'standard_error']) %}
{%- endmacro %}

{# The words of stop_words: english, between blanks. #}
{% macro english_stop_words() -%}
{% do return('a an the this that these those some any each every either neither both all such no nor not only own same other another i me
  my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself they
  them their theirs themselves one who whom whose which what and or but if then else than so because as until while though although
  whether unless since of at by for with about against between into through during before after above below to from up down in out on off
  over under near per via within without among upon toward towards onto across along behind beside besides beyond despite again further
  once here there when where why how ever never always also too very just more most less least few many much quite rather still yet
  already even almost am is are was were be been being have has had having do does did doing done can could may might must shall should
  will would ought s t d ll m o re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn mustn needn shan ain')
  %}
{%- endmacro %}
