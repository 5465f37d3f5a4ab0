{#
  The families of features as dictionaries that the macros read, made from a configuration. In Python the classes of nbsql/family/ do
  this. Facts that do not depend on options are generated from those classes (facts.sql), and tests/dbt/test_dbt.py compares the two.
#}

{#
  A family with every attribute that counting, estimating and scoring read.

  given: the family's name, or its name (family) and options. defaults: the model's alpha, nulls and unseen.
#}
{% macro family_of(feature, given, defaults) -%}
{% set given = {'family': given} if given is string else dict(given) if given is mapping else given -%}
{% do nbsql.refuse_if(given is not mapping or given.family is not string,
  "the family of '" ~ feature ~ "' must be a name, or a mapping such as {family: text, stop_words: english}, not " ~ given) %}
{% set known = nbsql.families() -%}
{% if given.family not in known -%}
{% do nbsql.refuse_if(given.family in nbsql.families_elsewhere(),
  "family '" ~ given.family ~ "' of '" ~ feature ~ "' asks the data for its shape before it counts, which the dbt package does not "
  ~ "do; fit it in Python, or choose one of " ~ nbsql.quoted_names(known)) %}
{% do nbsql.refuse("no family '" ~ given.family ~ "', of '" ~ feature ~ "'; the families are " ~ nbsql.quoted_names(known)) %}
{% endif -%}
{% set fixed = known[given.family] -%}
{% do nbsql.check_family_options(given, ['alpha', 'nulls', 'unseen', 'estimate'] + fixed.defaults.keys() | list, feature) %}
{% set options = dict(fixed.defaults, estimate='mean', unseen=defaults.unseen) -%}
{% do options.update({'nulls': defaults.nulls if defaults.nulls != 'category' or fixed.has_categories else 'skip'}) %}
{% do options.update(dict(given, given_unseen=given.unseen)) %}
{% for option, allowed in dict(nbsql.shared_choices(), **(fixed.choices or {})).items() -%}
{% do nbsql.checked_choice(options[option], allowed, option, feature) %}
{% endfor -%}
{% for option in fixed.numbers or [] -%}
{% do options.update({option: nbsql.checked_number(options[option], option, feature)}) %}
{% endfor -%}
{% for option, default in fixed.defaults.items() -%} {# whose type is that of the option, and a whole number the least that it may be #}
{% set value = options[option] -%}
{% if default is boolean -%}
{% do nbsql.refuse_if(value is not boolean, option ~ " of '" ~ feature ~ "' must be true or false, not " ~ value) %}
{% elif default is integer %}{% do options.update({option: nbsql.checked_number(value, option, feature, default, whole=true)}) %}
{% elif default == [] %}{% do nbsql.check_list(value, option, feature) %}
{% endif -%}
{% endfor -%}
{% set alpha = given.alpha | default(defaults.alpha) -%}
{% do nbsql.refuse_if(alpha is mapping and given.family not in ['categorical', 'multinomial', 'complement'],
  "alpha of '" ~ feature ~ "' must be a number, not " ~ alpha) %}
{% do nbsql.refuse_if(options.nulls == 'category' and not fixed.has_categories,
  "nulls: category of '" ~ feature ~ "' needs a family with categories, not '" ~ given.family ~ "'; use skip or error") %}
{% set family = {
  'formula': given.family, 'zeros': false, 'distribution': 'dirichlet', 'units': 'counts', 'declared': [], 'parameters': [], 'rules': {},
  'complement': given.family == 'complement', 'least_count': 0, 'least_occurrences': 0} -%}
{% do family.update(fixed) %}
{% do family.update({'name': given.family, 'estimate': options.estimate, 'nulls': options.nulls, 'unseen': options.unseen}) %}
{% set shared_alpha = given.other_alpha | default(defaults.alpha) if alpha is mapping else alpha -%}
{% do family.update({'added_count': nbsql.pseudo_count(family, shared_alpha, feature)}) %}
{% if fixed.bag -%}
{% do nbsql.check_has('words' if given.family == 'text' else 'bags', "family '" ~ given.family ~ "' of '" ~ feature ~ "'") %}
{% do nbsql.complete_bag(family, options, feature) %}
{% elif 'variance' in options -%}
{% do nbsql.complete_normal(family, options, feature) %}
{% elif fixed.cell == 'bin' -%}
{% do nbsql.complete_bins(family, options, feature) %}
{% elif fixed.level -%}
{% do nbsql.complete_levels(family, options, alpha, feature) %}
{% elif given.family == 'bernoulli' -%}
{% set beta = nbsql.pseudo_count(family, given.beta | default(alpha), feature) -%}
{% do family.update({'declared': [('true', family.added_count), ('false', beta)]}) %}
{% elif fixed.over_columns -%}
{% do nbsql.complete_columns(family, options, alpha, feature) %}
{% elif 'a' in options -%}
{% do nbsql.complete_rate(family, options, feature) %}
{% elif fixed.zeros -%}
{% do nbsql.complete_zero_inflated(family, options) %}
{% else -%}
{% do nbsql.refuse_if(options.estimate != 'mean',
  'estimate: ' ~ options.estimate ~ " of '" ~ feature ~ "' is none of family '" ~ given.family ~ "'; leave it out") %}
{% do family.update({'estimate_options': {'floor': options.floor}, 'distribution': given.family}) %}
{% endif -%}
{% set least = family.declared | map(attribute=1) | list or [family.added_count] -%}
{% do family.update({
  'in_wide_scan': not family.has_lookups or family.presence or family.tfidf,
  'has_parameter_term': not family.has_lookups or family.presence, 'allows_zero': least | min == 0}) %}
{% do family.parameters.extend(nbsql.family_parameters(family)) %}
{% do return(family) %}
{%- endmacro %}

{# Refuses options that a family does not have. #}
{% macro check_family_options(given, allowed, feature) -%}
{% for option in given if option not in ['family'] + allowed -%}
{% do nbsql.refuse(
  "family '" ~ given.family ~ "' of '" ~ feature ~ "' has no option '" ~ option ~ "'; it has " ~ nbsql.quoted_names(allowed)) %}
{% endfor -%}
{%- endmacro %}

{# The parameters of a family that scoring reads from the one row of parameters. #}
{% macro family_parameters(family) -%}
{% set read, is_binary = [], family.name == 'bernoulli' -%}
{% if is_binary -%}
{% for value in ['true', 'false'] %}{% do read.append({'name': value, 'quantity': 'score', 'value': value}) %}{% endfor -%}
{% elif family.kind == 'density' -%}
{% for name, quantity in family.reads %}{% do read.append({'name': name, 'quantity': quantity}) %}{% endfor -%}
{% elif family.over_columns -%}
{% for value in family.columns -%}
{% do read.append({'name': 'weight', 'quantity': 'score', 'value': value, 'column': loop.index}) %}
{% endfor -%}
{% elif family.presence -%}
{% do read.append({'name': 'absent', 'quantity': 'log_absence', 'total': true}) %}
{% endif -%}
{% if family.unseen == 'smooth' and (family.has_lookups or (is_binary and family.nulls == 'category')) -%}
{% do read.append({'name': 'unseen', 'quantity': 'score', 'unseen': true}) %}
{% endif -%}
{% if family.nulls == 'category' %}{% do read.append({'name': 'missing', 'quantity': 'score'}) %}{% endif -%}
{% set complete, defaults = [], {'value': none, 'unseen': false, 'total': false, 'column': none, 'common': false, 'paired': false} -%}
{% for parameter in read %}{% do complete.append(dict(defaults, **parameter)) %}{% endfor -%}
{% do return(complete) %}
{%- endmacro %}


{# Whether a family is smoothed by pseudo-counts. #}
{% macro is_smoothed(family) -%}
{% do return(family.level or family.bag or family.over_columns or family.zeros or family.name == 'bernoulli') %}
{%- endmacro %}

{# The number to add to a count for a pseudo-count. For the mode of the posterior it is one less than for the mean. #}
{% macro pseudo_count(family, alpha, feature) -%}
{% set alpha = nbsql.checked_number(alpha, 'alpha', feature) -%}
{% do nbsql.refuse_if(family.estimate == 'mode' and alpha < 1 and nbsql.is_smoothed(family),
  "estimate: mode of '" ~ feature ~ "' needs every alpha at 1 (no smoothing) or above, not " ~ alpha) %}
{% do return(alpha - 1 if family.estimate == 'mode' else alpha) %}
{%- endmacro %}

{# Sets the options of a bag of tokens as attributes of the family. #}
{% macro complete_bag(family, options, feature) -%}
{% set event, presence, complement = options.event, options.event == 'bernoulli', options.event == 'complement' -%}
{% set weighed, occurrences = options.tfidf or options.norm is string, options.min_count | default(1) -%}
{% do nbsql.refuse_if(presence and weighed,
  "event: bernoulli of '" ~ feature ~ "' asks whether a word is there, not how often; leave out tfidf and norm") %}
{% do nbsql.refuse_if(options.weight_norm and not complement,
  "weight_norm of '" ~ feature ~ "' needs event: complement, not " ~ event) %}
{% do nbsql.refuse_if((presence or weighed) and options.given_unseen == 'smooth',
  "unseen: smooth of '" ~ feature ~ "' needs event: multinomial or complement, without tfidf and norm") %}
{% do nbsql.refuse_if((presence or complement) and family.added_count == 0,
  'event: ' ~ event ~ " of '" ~ feature ~ "' needs a larger alpha, or a word could weigh infinitely") %}
{% do family.update({
  'presence': presence, 'complement': complement, 'reweights_tokens': weighed, 'tfidf': options.tfidf, 'norm': options.norm,
  'min_known': options.min_known, 'normalised_weights': options.weight_norm,
  'distribution': 'presence' if presence else 'complement' if complement else 'dirichlet',
  'least_occurrences': occurrences if occurrences > 1 else 0, 'least_count': occurrences if occurrences > 1 and not weighed else 0,
  'unseen': 'skip' if presence or weighed else family.unseen}) %}
{% if family.name == 'text' %}{% do nbsql.complete_text(family, options, feature) %}{% endif -%}
{%- endmacro %}

{# Sets the options by which a text is cut as attributes of the family. #}
{% macro complete_text(family, options, feature) -%}
{% set characters, stop_words, defaults = options.characters, options.stop_words, family.defaults -%}
{% if stop_words is string -%}
{% do nbsql.checked_choice(stop_words, ['english'], 'stop_words', feature) %}
{% set stop_words = nbsql.english_stop_words().split() -%}
{% elif stop_words is not none -%}
{% do nbsql.refuse_if(stop_words is mapping or stop_words is not iterable or stop_words | reject('string') | list,
  "stop_words of '" ~ feature ~ "' must be english or a list of words, not " ~ stop_words) %}
{% endif -%}
{% do nbsql.refuse_if(options.pattern is not string or not options.pattern,
  "pattern of '" ~ feature ~ "' must be a regular expression, not " ~ options.pattern) %}
{% for option in ['pattern', 'stop_words', 'min_length', 'ngrams'] if characters is not none and options[option] != defaults[option] -%}
{% do nbsql.refuse("characters of '" ~ feature ~ "' cut no words; leave out " ~ option ~ ", or characters") %}
{% endfor -%}
{% do nbsql.refuse_if(options.within_words and characters is none,
  "within_words of '" ~ feature ~ "' goes with runs of characters: characters: [2, 4]") %}
{% do family.update({
  'pattern': options.pattern, 'is_of_words': options.pattern == defaults.pattern, 'lower': options.lower, 'stop_words': stop_words,
  'accents': options.accents, 'normal_form': options.normal_form, 'min_length': options.min_length,
  'ngrams': nbsql.run_lengths(options.ngrams, 'ngrams', feature), 'within_words': options.within_words,
  'characters': none if characters is none else nbsql.run_lengths(characters, 'characters', feature)}) %}
{% set used = {
  'letters': family.is_of_words and characters is none, 'characters': characters is not none, 'ngrams': family.ngrams[1] > 1,
  'normal forms': family.normal_form is not none, 'accents': not family.accents} -%}
{% for thing, is_used in used.items() if is_used %}{% do nbsql.check_has(thing, "the text '" ~ feature ~ "'") %}{% endfor -%}
{%- endmacro %}

{# The shortest and the longest run of words or characters, given as a pair or by the longest. #}
{% macro run_lengths(lengths, option, feature) -%}
{% set is_pair = lengths is sequence and lengths is not string and lengths is not mapping and lengths | length == 2 -%}
{% set low, high = lengths if is_pair else (1, lengths) -%}
{% do nbsql.refuse_if(low is not integer or high is not integer or low < 1 or high > 10 or low > high,
  option ~ " of '" ~ feature ~ "' must be a whole number from 1 to 10, or a pair [shortest, longest], not " ~ lengths) %}
{% do return((low, high)) %}
{%- endmacro %}

{# Sets the options of a normal density as attributes of the family. #}
{% macro complete_normal(family, options, feature) -%}
{% set prior, is_sample, estimate = options.prior, options.variance == 'sample', family.estimate -%}
{% if prior is not none -%}
{% set conjugate = {'mean': none, 'kappa': 1.0, 'a': 2.0, 'b': none} -%}
{% do nbsql.refuse_if(prior is not mapping or prior | reject('in', conjugate) | list,
  "prior of '" ~ feature ~ "' must have some of mean, kappa, a and b, such as {kappa: 1, a: 2}, not " ~ prior) %}
{% for parameter, value in prior.items() if value is not none -%}
{% set least = none if parameter == 'mean' else 0 -%}
{% do conjugate.update({parameter: nbsql.checked_number(value, parameter ~ ' in the prior', feature, least)}) %}
{% endfor -%}
{% do nbsql.refuse_if(0 in [conjugate.a, conjugate.b], "a and b in the prior of '" ~ feature ~ "' must be above 0") %}
{% do nbsql.refuse_if(is_sample or options.shared_variance,
  "a prior of '" ~ feature ~ "' is an estimate of the variance already; leave out variance and shared_variance") %}
{% do nbsql.refuse_if(estimate == 'mean' and conjugate.a <= 1,
  "estimate: mean of '" ~ feature ~ "' needs a > 1, or no variance is expected; use estimate: mode") %}
{% do family.update({'distribution': 'normal_inverse_gamma', 'estimate_options': {
  'prior_mean': conjugate.mean, 'kappa': conjugate.kappa, 'a': conjugate.a, 'b': conjugate.b,
  'divisor': 1.5 if estimate == 'mode' else -1.0, 'floor': options.floor}}) %}
{% else -%}
{% do nbsql.refuse_if(estimate == 'mode',
  "estimate: mode of '" ~ feature ~ "' needs a prior, such as prior: {kappa: 1, a: 2}") %}
{% set lost, smoothed = 1.0 if is_sample else 0.0, options.smoothing > 0 -%}
{% do family.update({
  'distribution': 'smoothed_gaussian' if smoothed else 'shared_gaussian' if options.shared_variance else 'gaussian',
  'estimate_options': {'smoothing': options.smoothing, 'lost': lost} if smoothed else {'floor': options.floor, 'lost': lost}}) %}
{% endif -%}
{% do nbsql.refuse_if(options.smoothing > 0 and (options.shared_variance or prior is not none),
  "smoothing of '" ~ feature ~ "' goes with neither a prior nor shared_variance; leave one of them out") %}
{% do nbsql.refuse_if(options.smoothing > 0 and family.name == 'lognormal',
  "smoothing of '" ~ feature ~ "' compares the variances of numbers, and lognormal has those of logarithms; use floor") %}
{% do family.update({'smoothing': options.smoothing, 'shared_variance': options.shared_variance}) %}
{%- endmacro %}

{# Sets the declared values of a category and their pseudo-counts. #}
{% macro complete_levels(family, options, alpha, feature) -%}
{% set counts, least, declared = {}, options.min_count, [] -%}
{% do nbsql.refuse_if(options.other_alpha is not none and alpha is not mapping,
  "other_alpha of '" ~ feature ~ "' goes with a pseudo-count a category, alpha: {red: 2}; give these, or leave it out") %}
{% for level in options.levels %}{% do counts.update({nbsql.label_of(level): family.added_count}) %}{% endfor -%}
{% for level, count in (alpha.items() if alpha is mapping else []) -%}
{% do declared.append((nbsql.label_of(level), nbsql.pseudo_count(family, count, feature))) %}
{% endfor -%}
{% set named = declared | map(attribute=0) | list -%}
{% for level, count in counts.items() if level not in named %}{% do declared.append((level, count)) %}{% endfor -%}
{% do nbsql.refuse_if(least > 1 and declared,
  "declared categories of '" ~ feature ~ "' are kept however rare; leave out min_count, or levels and alphas by category") %}
{% do family.update({'declared': declared, 'least_count': least if least > 1 else 0}) %}
{%- endmacro %}

{# Sets the edges of bins and their names, as Python writes them. Edges that the data decide are refused. #}
{% macro complete_bins(family, options, feature) -%}
{% do nbsql.refuse_if(options.by is string or options.by is mapping or options.by is not iterable,
  "the bins of '" ~ feature ~ "' need edges, {family: binned, by: [18, 65]}, as the dbt package looks for none in the data; name them, or "
  ~ 'fit it in Python') %}
{% set edges, texts, labels, found = [], [], [], [] -%}
{% for edge in options.by -%}
{% do edges.append(nbsql.checked_number(edge, 'an edge', feature, none)) %}
{% do nbsql.refuse_if(edges[-1] | abs > 1e300 or (edges[-1] != 0 and edges[-1] | abs < 1e-300),
  "an edge of '" ~ feature ~ "' must be 0 or from 1e-300 to 1e300 in size, not " ~ edge) %}
{% do texts.append(nbsql.six_digits(edges[-1])) %}
{% endfor -%}
{% do nbsql.refuse_if(not edges or edges | length > 999 or edges != edges | unique | sort,
  "the edges of '" ~ feature ~ "' must be 1 to 999 numbers in ascending order, not " ~ options.by) %}
{% if texts | unique | list | length < texts | length %}{% set texts = edges | map('string') | list %}{% endif -%}
{% set ends = ['-inf'] + texts + ['inf'] -%}
{% for text in ends[:-1] %}{% do labels.append(('(' if loop.first else '[') ~ text ~ ', ' ~ ends[loop.index] ~ ')') %}{% endfor -%}
{% set declared, spans = [], [none] + edges + [none] -%}
{% for label in labels -%}
{% do declared.append((label, family.added_count)) %}
{% do found.append((label, spans[loop.index0], spans[loop.index])) %}
{% endfor -%}
{% do family.update({'edges': edges, 'labels': labels, 'ends': found, 'declared': declared}) %}
{%- endmacro %}

{# A number as '%.6g' writes it, which the format of dbt 2 does not know: 18, 2.5, 1.23457e+06. #}
{% macro six_digits(x) -%}
{% set size, found = x | abs, namespace(power=0) -%}
{% for _ in range(310) if size > 0 -%}
{% if size >= 10.0 ** (found.power + 1) %}{% set found.power = found.power + 1 %}
{% elif size < 10.0 ** found.power %}{% set found.power = found.power - 1 %}
{% endif -%}
{% endfor -%}
{% set shift = 5 - found.power -%}
{% set digits = '%.0f' | format(size * 10.0 ** shift if shift >= 0 else size / 10.0 ** -shift) -%}
{# A small number times a power of ten is rounded, and that again to six digits; its own decimals are exact. #}
{% if found.power < 0 %}{% set digits = (('%.' ~ shift ~ 'f') | format(size) | replace('.', '')).lstrip('0') %}{% endif -%}
{% set power = found.power + digits | length - 6 if size > 0 else 0 -%}
{% set is_short = -4 <= power and power < 6 -%}
{% set text = ('%.' ~ (5 - power) ~ 'f') | format(x) if is_short else ('-' if x < 0 else '') ~ digits[0] ~ '.' ~ digits[1:] -%}
{% if '.' in text %}{% set text = text.rstrip('0').rstrip('.') %}{% endif -%}
{% do return(text if is_short else text ~ 'e' ~ ('-' if power < 0 else '+') ~ ('0' if power | abs < 10 else '') ~ power | abs) %}
{%- endmacro %}

{# Sets the count columns that share a total and their pseudo-counts. #}
{% macro complete_columns(family, options, alpha, feature) -%}
{% do nbsql.refuse_if(options.columns is string or options.columns | length < 2,
  "family '" ~ family.name ~ "' of '" ~ feature ~ "' needs at least two count columns: {family: " ~ family.name
  ~ ', columns: [w1, w2]}') %}
{% for column in (alpha if alpha is mapping else {}) if column not in options.columns -%}
{% do nbsql.refuse(
  "alpha of '" ~ feature ~ "' names '" ~ column ~ "', which is none of its columns: " ~ nbsql.quoted_names(options.columns)) %}
{% endfor -%}
{% set declared = [] -%}
{% for column in options.columns -%}
{% set has_own = alpha is mapping and column in alpha -%}
{% do declared.append((column, nbsql.pseudo_count(family, alpha[column], feature) if has_own else family.added_count)) %}
{% endfor -%}
{% do family.update({
  'columns': options.columns, 'declared': declared, 'normalised_weights': options.norm | default(false),
  'distribution': 'complement' if family.complement else 'dirichlet'}) %}
{% do nbsql.refuse_if(family.complement and declared | map(attribute=1) | min == 0,
  "the complement of '" ~ feature ~ "' needs alpha > 0, or a column that no other class has would weigh infinitely") %}
{%- endmacro %}

{# Sets the options of a distribution of counts as attributes of the family. #}
{% macro complete_rate(family, options, feature) -%}
{% set a, b = options.a, options.b -%}
{% set lower = 1 if family.estimate == 'mode' and (a > 0 or b > 0) else 0 -%}
{% do nbsql.refuse_if(a < lower or (family.bounded and b < lower),
  "estimate: mode of '" ~ feature ~ "' needs a" ~ (' and b' if family.bounded else '') ~ ' at 1 or above, or a and b at 0 for no '
  ~ 'prior') %}
{% do family.update({'estimate_options': {'a': a - lower, 'b': b - lower if family.bounded else b}, 'distribution': family.name}) %}
{%- endmacro %}

{# Sets the options of a number whose zeros are counted apart: the family of the other numbers, its parameters, and those of the zeros. #}
{% macro complete_zero_inflated(family, options) -%}
{% set formula, others, read = options.of, nbsql.families()[options.of], [] -%}
{% for name, quantity in others.reads -%}
{% do read.append([name, 'inverse_' ~ quantity if formula == 'exponential' else quantity]) %}
{% endfor -%}
{% do family.update({
  'formula': formula, 'distribution': family.name ~ '_' ~ formula, 'macros': dict(others.macros, **family.macros),
  'rules': {} if formula == 'gaussian' else family.rules, 'reads': read + [['zero', 'log_zero'], ['other', 'log_other']],
  'estimate_options': {'floor': options.floor, 'lost': 0.0, 'added': family.added_count}}) %}
{%- endmacro %}

{# The value of an option. A value that is not one of those allowed is refused. #}
{% macro checked_choice(value, allowed, option, feature) -%}
{% do nbsql.refuse_if(value not in allowed,
  option ~ " of '" ~ feature ~ "' must be one of " ~ nbsql.quoted_names(allowed) ~ ', not ' ~ value) %}
{%- endmacro %}

{# Refuses the value of an option that is no list, or one with a none, or fewer than `least` values. #}
{% macro check_list(value, option, feature, least=0) -%}
{% do nbsql.refuse_if(value is string or value is mapping or value is not iterable or none in value or value | length < least,
  option ~ " of '" ~ feature ~ "' must be a list, such as ['a', 'b'], not " ~ value) %}
{%- endmacro %}

{# The value of an option that is a number. A missing number, or one below `least` or above `most` if these are given, is refused. #}
{% macro checked_number(value, option, feature, least=0, whole=false, most=none) -%}
{% set digits = '\\s*[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?\\s*$' -%}
{% set is_number = value is number or (value is string and modules.re.match(digits, value)) -%}
{% set number = value | float if is_number and value is not boolean else none -%}
{% set largest = 1e300 if most is none else most -%}
{% if number is none or number != number or number > largest or (least is not none and number < least) or (whole and number % 1) -%}
{% set bound = '' if least is none else ' of at least ' ~ least if most is none else ' from ' ~ least ~ ' to ' ~ most -%}
{% do nbsql.refuse(option ~ " of '" ~ feature ~ "' must be a " ~ ('whole ' if whole else '') ~ 'number' ~ bound ~ ', not ' ~ value) %}
{% endif -%}
{% do return(number | int if whole else number) %}
{%- endmacro %}
