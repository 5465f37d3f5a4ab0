{#
  The families of features as dictionaries that the macros read, made from a configuration. In Python the classes of nbsql/family/ do
  this. Facts that do not depend on options are generated from those classes (family_facts.sql), and tests/dbt/test_dbt.py compares the
  two.
#}

{# The default family of a feature, by the kind of its column. #}
{% macro inferred_family(kind) -%}
{% do return({
  'text': 'categorical', 'boolean': 'bernoulli', 'integer': 'gaussian', 'float': 'gaussian', 'decimal': 'gaussian',
  'tokens': 'tokens', 'token counts': 'token_counts'}.get(kind)) %}
{%- endmacro %}

{#
  A family with every attribute that counting, estimating and scoring read.

  given: the family's name, or its name (family) and options. defaults: the model's alpha, nulls and unseen.
#}
{% macro family_of(feature, given, defaults) -%}
{% set given = {'family': given} if given is string else dict(given) if given is mapping else given -%}
{% if given is not mapping or given.family is not string -%}
{% do nbsql.refuse(
  "the family of '" ~ feature ~ "' must be a name, or a mapping such as {family: text, stop_words: english}, not " ~ given) %}
{% endif -%}
{% set known = nbsql.families() -%}
{% if given.family not in known -%}
{% if given.family in nbsql.families_elsewhere() -%}
{% do nbsql.refuse(
  "family '" ~ given.family ~ "' of '" ~ feature ~ "' asks the data for its shape before it counts, which the dbt package does not "
  ~ "do; fit it in Python, or choose one of " ~ nbsql.quoted_names(known)) %}
{% endif -%}
{% do nbsql.refuse("no family '" ~ given.family ~ "', of '" ~ feature ~ "'; the families are " ~ nbsql.quoted_names(known)) %}
{% endif -%}
{% set fixed = known[given.family] -%}
{% set allowed = ['family', 'alpha', 'nulls', 'unseen', 'estimate'] + fixed.options -%}
{% for option in given if option not in allowed -%}
{% do nbsql.refuse(
  "family '" ~ given.family ~ "' of '" ~ feature ~ "' has no option '" ~ option ~ "'; it has " ~ nbsql.quoted_names(allowed[1:])) %}
{% endfor -%}
{% set family = {
  'name': given.family, 'formula': given.family, 'zeros': false, 'distribution': 'dirichlet', 'units': 'counts', 'declared': [],
  'parameters': [], 'rules': {},
  'estimate': given.estimate | default('mean'), 'complement': given.family == 'complement',
  'least_count': 0, 'least_occurrences': 0} -%}
{% do family.update(fixed) %}
{% do nbsql.checked_choice(family.estimate, ['mean', 'mode'], 'estimate', feature) %}
{% set alpha = given.alpha | default(defaults.alpha) -%}
{% if alpha is mapping and given.family not in ['categorical', 'multinomial', 'complement'] -%}
{% do nbsql.refuse("alpha of '" ~ feature ~ "' must be a number, not " ~ alpha) %}
{% endif -%}
{% do family.update({
  'nulls': given.nulls | default(defaults.nulls if defaults.nulls != 'category' or fixed.has_categories else 'skip'),
  'unseen': given.unseen | default(defaults.unseen),
  'added_count': nbsql.pseudo_count(family, given.other_alpha | default(defaults.alpha) if alpha is mapping else alpha, feature)}) %}
{% do nbsql.checked_choice(family.nulls, ['skip', 'category', 'error'], 'nulls', feature) %}
{% do nbsql.checked_choice(family.unseen, ['skip', 'smooth'], 'unseen', feature) %}
{% if family.nulls == 'category' and not fixed.has_categories -%}
{% do nbsql.refuse("nulls: category of '" ~ feature ~ "' needs a family with categories, not '" ~ given.family ~ "'; use skip or error") %}
{% endif -%}
{% if fixed.bag -%}
{% do nbsql.complete_bag(family, given, feature) %}
{% elif 'prior' in fixed.options -%}
{% do nbsql.complete_normal(family, given, feature) %}
{% elif fixed.level -%}
{% do nbsql.complete_levels(family, given, alpha, feature) %}
{% elif given.family == 'bernoulli' -%}
{% set beta = nbsql.pseudo_count(family, given.beta | default(alpha), feature) -%}
{% do family.update({'declared': [('true', family.added_count), ('false', beta)]}) %}
{% elif fixed.over_columns -%}
{% do nbsql.complete_columns(family, given, alpha, feature) %}
{% elif 'a' in fixed.options -%}
{% do nbsql.complete_rate(family, given, feature) %}
{% elif fixed.zeros -%}
{% do nbsql.complete_zero_inflated(family, given, feature) %}
{% else -%}
{% do nbsql.complete_density(family, given, feature) %}
{% endif -%}
{% set least = family.declared | map(attribute=1) | list or [family.added_count] -%}
{% do family.update({
  'in_wide_scan': not family.has_lookups or family.presence or family.tfidf,
  'has_parameter_term': not family.has_lookups or family.presence, 'allows_zero': least | min == 0}) %}
{% do family.parameters.extend(nbsql.family_parameters(family)) %}
{% do return(family) %}
{%- endmacro %}

{# The parameters of a family that scoring reads from the one row of parameters. #}
{% macro family_parameters(family) -%}
{% set read = [] -%}
{% if family.name == 'bernoulli' -%}
{% for value in ['true', 'false'] %}{% do read.append({'name': value, 'quantity': 'score', 'value': value}) %}{% endfor -%}
{% if family.nulls == 'category' and family.unseen == 'smooth' -%}
{% do read.append({'name': 'unseen', 'quantity': 'score', 'unseen': true}) %}
{% endif -%}
{% elif family.kind == 'density' -%}
{% for name, quantity in family.reads %}{% do read.append({'name': name, 'quantity': quantity}) %}{% endfor -%}
{% elif family.over_columns -%}
{% for value in family.columns -%}
{% do read.append({'name': 'weight', 'quantity': 'score', 'value': value, 'column': loop.index}) %}
{% endfor -%}
{% elif family.presence -%}
{% do read.append({'name': 'absent', 'quantity': 'log_absence', 'total': true}) %}
{% elif family.unseen == 'smooth' -%}
{% do read.append({'name': 'unseen', 'quantity': 'score', 'unseen': true}) %}
{% endif -%}
{% if family.nulls == 'category' %}{% do read.append({'name': 'missing', 'quantity': 'score'}) %}{% endif -%}
{% set complete = [] -%}
{% set defaults = {'value': none, 'unseen': false, 'total': false, 'column': none, 'common': false, 'paired': false} -%}
{% for parameter in read -%}
{% do complete.append(dict(defaults, **parameter)) %}
{% endfor -%}
{% do return(complete) %}
{%- endmacro %}


{# Whether a family is smoothed by pseudo-counts. #}
{% macro is_smoothed(family) -%}
{% do return(family.level or family.bag or family.over_columns or family.zeros or family.name == 'bernoulli') %}
{%- endmacro %}

{# The number to add to a count for a pseudo-count. For the mode of the posterior it is one less than for the mean. #}
{% macro pseudo_count(family, alpha, feature) -%}
{% set alpha = nbsql.checked_number(alpha, 'alpha', feature) -%}
{% if family.estimate == 'mode' and alpha < 1 and nbsql.is_smoothed(family) -%}
{% do nbsql.refuse("estimate: mode of '" ~ feature ~ "' needs every alpha at 1 (no smoothing) or above, not " ~ alpha) %}
{% endif -%}
{% do return(alpha - 1 if family.estimate == 'mode' else alpha) %}
{%- endmacro %}

{# Sets the options of a bag of tokens as attributes of the family. #}
{% macro complete_bag(family, given, feature) -%}
{% set event = given.event | default('multinomial') -%}
{% do nbsql.checked_choice(event, family.events, 'event', feature) %}
{% do nbsql.checked_choice(given.get('norm'), [none, 'l2'], 'norm', feature) %}
{% set presence, complement, weighed = event == 'bernoulli', event == 'complement', given.tfidf or given.norm is string -%}
{% if presence and weighed -%}
{% do nbsql.refuse("event: bernoulli of '" ~ feature ~ "' asks whether a word is there, not how often; leave out tfidf and norm") %}
{% endif -%}
{% if given.weight_norm and not complement -%}
{% do nbsql.refuse("weight_norm of '" ~ feature ~ "' needs event: complement, not " ~ event) %}
{% endif -%}
{% if (presence or weighed) and given.unseen == 'smooth' -%}
{% do nbsql.refuse("unseen: smooth of '" ~ feature ~ "' needs event: multinomial or complement, without tfidf and norm") %}
{% endif -%}
{% if (presence or complement) and family.added_count == 0 -%}
{% do nbsql.refuse('event: ' ~ event ~ " of '" ~ feature ~ "' needs a larger alpha, or a word could weigh infinitely") %}
{% endif -%}
{% set occurrences = given.min_count | default(1) | int -%}
{% do family.update({
  'presence': presence, 'complement': complement, 'reweights_tokens': weighed, 'tfidf': given.tfidf | default(false),
  'norm': given.get('norm'), 'normalised_weights': given.weight_norm | default(false),
  'distribution': 'presence' if presence else 'complement' if complement else 'dirichlet',
  'least_occurrences': occurrences if occurrences > 1 else 0,
  'least_count': occurrences if occurrences > 1 and not weighed else 0,
  'unseen': 'skip' if presence or weighed else family.unseen}) %}
{% if family.name == 'text' -%}
{% do nbsql.complete_text(family, given, feature) %}
{% endif -%}
{%- endmacro %}

{# Sets the options by which a text is cut as attributes of the family. #}
{% macro complete_text(family, given, feature) -%}
{% set word, characters = '[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N}]*', given.get('characters') -%}
{% set pattern, form = given.pattern | default(word), given.get('normal_form', 'C') -%}
{% do nbsql.checked_choice(form, [none, 'C'], 'normal_form', feature) %}
{% set stop_words = given.get('stop_words') -%}
{% if stop_words is string -%}
{% do nbsql.checked_choice(stop_words, ['english'], 'stop_words', feature) %}
{% set stop_words = nbsql.english_stop_words() -%}
{% endif -%}
{% for option in ['pattern', 'stop_words', 'min_length', 'ngrams'] if option in given and characters is not none -%}
{% do nbsql.refuse("characters of '" ~ feature ~ "' cut no words; leave out " ~ option ~ ", or characters") %}
{% endfor -%}
{% if given.within_words and characters is none -%}
{% do nbsql.refuse("within_words of '" ~ feature ~ "' goes with runs of characters: characters: [2, 4]") %}
{% endif -%}
{% do family.update({
  'pattern': pattern, 'is_of_words': pattern == word, 'lower': given.lower | default(true), 'stop_words': stop_words,
  'accents': given.accents | default(true), 'normal_form': form, 'min_length': given.min_length | default(1) | int,
  'ngrams': nbsql.run_lengths(given.ngrams | default(1), 'ngrams', feature),
  'characters': none if characters is none else nbsql.run_lengths(characters, 'characters', feature),
  'within_words': given.within_words | default(false)}) %}
{%- endmacro %}

{# The shortest and the longest run of words or characters, given as a pair or by the longest. #}
{% macro run_lengths(lengths, option, feature) -%}
{% set low, high = (1, lengths) if lengths is number else lengths -%}
{% if low is not integer or high is not integer or low < 1 or high > 10 or low > high -%}
{% do nbsql.refuse(
  option ~ " of '" ~ feature ~ "' must be a whole number from 1 to 10, or a pair [shortest, longest], not " ~ lengths) %}
{% endif -%}
{% do return((low, high)) %}
{%- endmacro %}

{# Sets the options of a normal density as attributes of the family. #}
{% macro complete_normal(family, given, feature) -%}
{% set variance, prior = given.variance | default('population'), given.get('prior') -%}
{% do nbsql.checked_choice(variance, ['population', 'sample'], 'variance', feature) %}
{% if prior is not none -%}
{% set conjugate = {'mean': none, 'kappa': 1.0, 'a': 2.0, 'b': none} -%}
{% if prior is not mapping or prior | reject('in', conjugate) | list -%}
{% do nbsql.refuse("prior of '" ~ feature ~ "' must have some of mean, kappa, a and b, such as {kappa: 1, a: 2}, not " ~ prior) %}
{% endif -%}
{% do conjugate.update(prior) %}
{% if variance == 'sample' or given.shared_variance -%}
{% do nbsql.refuse("a prior of '" ~ feature ~ "' is an estimate of the variance already; leave out variance and shared_variance") %}
{% endif -%}
{% if family.estimate == 'mean' and conjugate.a <= 1 -%}
{% do nbsql.refuse("estimate: mean of '" ~ feature ~ "' needs a > 1, or no variance is expected; use estimate: mode") %}
{% endif -%}
{% set prior = conjugate -%}
{% elif family.estimate == 'mode' -%}
{% do nbsql.refuse("estimate: mode of '" ~ feature ~ "' needs a prior, such as prior: {kappa: 1, a: 2}") %}
{% endif -%}
{% do family.update({
  'variance': variance, 'floor': nbsql.checked_number(given.floor | default(1e-9), 'floor', feature),
  'smoothing': nbsql.checked_number(given.smoothing | default(0), 'smoothing', feature),
  'shared_variance': given.shared_variance | default(false), 'prior': prior}) %}
{% if family.smoothing > 0 and (family.shared_variance or prior is not none) -%}
{% do nbsql.refuse("smoothing of '" ~ feature ~ "' goes with neither a prior nor shared_variance; leave one of them out") %}
{% endif -%}
{% if family.smoothing > 0 and family.name == 'lognormal' -%}
{% do nbsql.refuse("smoothing of '" ~ feature ~ "' compares the variances of numbers, and lognormal has those of logarithms; use floor") %}
{% endif -%}
{% if prior is none and family.smoothing > 0 -%}
{% do family.update({
  'distribution': 'smoothed_gaussian',
  'estimate_options': {'smoothing': family.smoothing, 'lost': 1.0 if variance == 'sample' else 0.0}}) %}
{% elif prior is none -%}
{% do family.update({
  'distribution': 'shared_gaussian' if family.shared_variance else 'gaussian',
  'estimate_options': {'floor': family.floor, 'lost': 1.0 if variance == 'sample' else 0.0}}) %}
{% else -%}
{% do family.update({
  'distribution': 'normal_inverse_gamma',
  'estimate_options': {
    'prior_mean': prior.mean, 'kappa': prior.kappa, 'a': prior.a, 'b': prior.b, 'divisor': 1.5 if family.estimate == 'mode' else -1.0,
    'floor': family.floor}}) %}
{% endif -%}
{%- endmacro %}

{# Sets the declared values of a category and their pseudo-counts. #}
{% macro complete_levels(family, given, alpha, feature) -%}
{% set declared = [] -%}
{% if alpha is mapping -%}
{% for level, count in alpha.items() -%}
{% do declared.append((nbsql.label_of(level), nbsql.pseudo_count(family, count, feature))) %}
{% endfor -%}
{% endif -%}
{% set named = declared | map(attribute=0) | list -%}
{% for level in given.levels | default([]) if nbsql.label_of(level) not in named -%}
{% do declared.append((nbsql.label_of(level), family.added_count)) %}
{% endfor -%}
{% set least = given.min_count | default(1) | int -%}
{% if least > 1 and declared -%}
{% do nbsql.refuse(
  "declared categories of '" ~ feature ~ "' are kept however rare; leave out min_count, or levels and alphas by category") %}
{% endif -%}
{% do family.update({'declared': declared, 'least_count': least if least > 1 else 0}) %}
{%- endmacro %}

{# Sets the count columns that share a total and their pseudo-counts. #}
{% macro complete_columns(family, given, alpha, feature) -%}
{% if given.columns is undefined or given.columns is string or given.columns | length < 2 -%}
{% do nbsql.refuse(
  "family '" ~ family.name ~ "' of '" ~ feature ~ "' needs at least two count columns: {family: " ~ family.name
  ~ ', columns: [w1, w2]}') %}
{% endif -%}
{% set declared = [] -%}
{% for column in given.columns -%}
{% set has_own = alpha is mapping and column in alpha -%}
{% do declared.append((column, nbsql.pseudo_count(family, alpha[column], feature) if has_own else family.added_count)) %}
{% endfor -%}
{% do family.update({
  'columns': given.columns, 'declared': declared, 'normalised_weights': given.norm | default(false),
  'distribution': 'complement' if family.complement else 'dirichlet'}) %}
{% if family.complement and declared | map(attribute=1) | min == 0 -%}
{% do nbsql.refuse("the complement of '" ~ feature ~ "' needs alpha > 0, or a column that no other class has would weigh infinitely") %}
{% endif -%}
{%- endmacro %}

{# Sets the options of a distribution of counts as attributes of the family. #}
{% macro complete_rate(family, given, feature) -%}
{% set a, b = nbsql.checked_number(given.a | default(0), 'a', feature), nbsql.checked_number(given.b | default(0), 'b', feature) -%}
{% set lower = 1 if family.estimate == 'mode' and (a > 0 or b > 0) else 0 -%}
{% if a < lower or (family.bounded and b < lower) -%}
{% do nbsql.refuse(
  "estimate: mode of '" ~ feature ~ "' needs a" ~ (' and b' if family.bounded else '') ~ ' at 1 or above, or a and b at 0 for no '
  ~ 'prior') %}
{% endif -%}
{% do family.update({'estimate_options': {'a': a - lower, 'b': b - lower if family.bounded else b}, 'distribution': family.name}) %}
{%- endmacro %}

{# Sets the options of a number whose zeros are counted apart: the family of the other numbers, its parameters, and those of the zeros. #}
{% macro complete_zero_inflated(family, given, feature) -%}
{% set formula = given.of | default(family.defaults.of) -%}
{% do nbsql.checked_choice(formula, ['lognormal', 'gamma', 'exponential', 'gaussian'], 'of', feature) %}
{% set read = [] -%}
{% for name, quantity in nbsql.families()[formula].reads -%}
{% do read.append([name, 'inverse_' ~ quantity if formula == 'exponential' else quantity]) %}
{% endfor -%}
{% do family.update({
  'formula': formula, 'distribution': family.name ~ '_' ~ formula, 'macros': dict(nbsql.families()[formula].macros, **family.macros),
  'rules': {} if formula == 'gaussian' else family.rules,
  'reads': read + [['zero', 'log_zero'], ['other', 'log_other']],
  'estimate_options': {
    'floor': nbsql.checked_number(given.floor | default(family.defaults.floor), 'floor', feature), 'lost': 0.0,
    'added': family.added_count}}) %}
{%- endmacro %}

{# Sets the options of a density whose options are numbers of at least 0. Its estimate reads them unchanged. #}
{% macro complete_density(family, given, feature) -%}
{% if family.estimate != 'mean' -%}
{% do nbsql.refuse('estimate: ' ~ family.estimate ~ " of '" ~ feature ~ "' is none of family '" ~ family.name ~ "'; leave it out") %}
{% endif -%}
{% set options = {} -%}
{% for name, defaults in family.defaults.items() -%}
{% do options.update({name: nbsql.checked_number(given[name] | default(defaults), name, feature)}) %}
{% endfor -%}
{% do family.update({'estimate_options': options, 'distribution': family.name}) %}
{%- endmacro %}


{# The value of an option. A value that is not one of those allowed is refused. #}
{% macro checked_choice(value, allowed, option, feature) -%}
{% if value not in allowed -%}
{% do nbsql.refuse(option ~ " of '" ~ feature ~ "' must be one of " ~ nbsql.quoted_names(allowed) ~ ', not ' ~ value) %}
{% endif -%}
{%- endmacro %}

{# The value of an option that is a number. A missing number, or one below `least` if that is given, is refused. #}
{% macro checked_number(value, option, feature, least=0) -%}
{% set digits = '\\s*[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?\\s*$' -%}
{% set is_number = value is number or (value is string and modules.re.match(digits, value)) -%}
{% set number = value | float if is_number and value is not boolean else none -%}
{% if number is none or number != number or number > 1e300 or (least is not none and number < least) -%}
{% set bound = '' if least is none else ' of at least ' ~ least -%}
{% do nbsql.refuse(option ~ " of '" ~ feature ~ "' must be a number" ~ bound ~ ', not ' ~ value) %}
{% endif -%}
{% do return(number) %}
{%- endmacro %}
