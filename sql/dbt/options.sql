{#
  The options of a model, from the configuration of a dbt model of statistics:

    config:
      meta:
        nbsql:
          target: arrival
          families: {stops: poisson, notes: {family: text, stop_words: english}}

  The options have the names of the arguments of nbsql.fit.
#}

{# The dbt node of a statistics relation: a model, or a source that another project has counted. #}
{% macro statistics_node(relation) -%}
{% do nbsql.refuse_if((model | default({})).resource_type == 'unit_test',
  "the rows of a unit test are in no relation, whose columns and classes nbsql's models read; test the models around them") %}
{% do nbsql.refuse_if(relation is undefined or relation is string or relation.identifier is undefined,
  "statistics must be a relation, ref('...'), all of it and not some of its rows, not " ~ (relation or 'none')) %}
{% set name = relation.identifier | string | replace('__dbt__cte__', '') -%} {# as dbt 1 refers to an ephemeral model #}
{% do nbsql.refuse_ephemeral(name, name != relation.identifier | string) %}
{% set named = [] -%}
{% for node in graph.nodes.values() | list + graph.sources.values() | list
  if node.resource_type in ['model', 'source'] and node.config.meta and node.config.meta.nbsql
  and (node.alias or node.identifier) | lower == relation.identifier | lower -%}
{% do named.append(node) %}
{% endfor -%}
{% for node in named if node.schema | lower == relation.schema | lower and node.database | lower == relation.database | lower -%}
{% do return(node) %}
{% endfor -%}
{% if named | length == 1 %}{% do return(named[0]) %}{% endif -%} {# for example when dbt defers to another environment #}
{% do nbsql.refuse(
  "'" ~ relation.identifier ~ "' has no meta.nbsql in its config, so it is no model of statistics; give it one: "
  ~ 'meta: {nbsql: {target: ...}}') %}
{%- endmacro %}

{# Refuses statistics that no relation holds, if these are. #}
{% macro refuse_ephemeral(name, is_ephemeral) -%}
{% do nbsql.refuse_if(is_ephemeral,
  "the statistics '" ~ name ~ "' are ephemeral, so that there is no relation of them; materialize them as a table") %}
{%- endmacro %}

{# The options of a node, with defaults for those left out. #}
{% macro options_of(node) -%}
{% set given = node.config.meta.nbsql -%}
{% set options = nbsql.default_options() -%}
{% do nbsql.refuse_if(given is not mapping,
  "meta.nbsql of '" ~ node.name ~ "' must be a mapping such as {target: churned}, not " ~ given) %}
{% for option, value in given.items() -%}
{% if option not in options -%}
{% do nbsql.refuse_if(option in nbsql.options_of_python(),
  "meta.nbsql of '" ~ node.name ~ "' has '" ~ option ~ "', which the dbt package does not do; fit such a model in Python, with "
  ~ "nbsql.fit") %}
{% do nbsql.refuse("meta.nbsql of '" ~ node.name ~ "' has no option '" ~ option ~ "'; it has " ~ nbsql.quoted_names(options)) %}
{% elif value is not none %}{% do options.update({option: value}) %}
{% endif -%}
{% endfor -%}
{% do nbsql.refuse_if(options.target is not string,
  "meta.nbsql of '" ~ node.name ~ "' must name the column of the class: target: churned") %}
{% for option in ['id', 'exclude', 'features', 'missing'] if options[option] is not none -%}
{% set names = [options[option]] if options[option] is string else options[option] -%}
{% do nbsql.refuse_if(names is mapping or names is not iterable or names | reject('string') | list,
  option ~ " of '" ~ node.name ~ "' must be a list of texts, such as ['a', 'b'], not " ~ names) %}
{% do options.update({option: names if option == 'missing' else nbsql.named_once(names)}) %}
{% endfor -%}
{% do nbsql.refuse_if(options.families is not mapping,
  "families of '" ~ node.name ~ "' must be a mapping such as {visits: poisson}, not " ~ options.families) %}
{% do nbsql.check_once(options.families, "families of '" ~ node.name ~ "'") %}
{% if options.classes is not none %}{% do nbsql.check_list(options.classes, 'classes', node.name, 1) %}{% endif -%}
{% do nbsql.check_derive(options.derive, node.name) %}
{% for option in ['alpha', 'lookback'] -%}
{% do options.update({option: nbsql.checked_number(options[option], option, node.name, whole=option == 'lookback')}) %}
{% endfor -%}
{% for option in ['nulls', 'unseen'] -%}
{% do nbsql.checked_choice(options[option], nbsql.shared_choices()[option], option, node.name) %}
{% endfor -%}
{% do return(options) %}
{%- endmacro %}

{# The prior as the macros read it: kind, alpha, and for given priors one pair per class: its label as text and its probability. #}
{% macro prior_of(options, name) -%}
{% do nbsql.refuse_if(options.prior_alpha is not none and options.prior != 'smoothed',
  "prior_alpha of '" ~ name ~ "' is of prior: smoothed; leave it out, or choose that prior") %}
{% if options.prior is mapping -%}
{% set given = [] -%}
{% for label, probability in options.prior.items() -%}
{% do given.append((nbsql.label_of(label), nbsql.checked_number(probability, 'prior', name))) %}
{% endfor -%}
{% do nbsql.refuse_if((given | map(attribute=1) | sum - 1) | abs > 1e-9,
  "the priors of '" ~ name ~ "' sum to " ~ given | map(attribute=1) | sum ~ '; they must sum to 1') %}
{% do return({'kind': 'given', 'alpha': 0.0, 'given': given}) %}
{% endif -%}
{% do nbsql.checked_choice(options.prior, ['empirical', 'uniform', 'smoothed'], 'prior', name) %}
{% set alpha = options.alpha if options.prior_alpha is none else options.prior_alpha -%}
{% do return({'kind': options.prior, 'added_count': nbsql.checked_number(alpha, 'prior_alpha', name), 'given': []}) %}
{%- endmacro %}
