{# The features of a model, resolved from its options and the columns it learns from. In Python nbsql/spec/resolve.py does this. #}

{#
  The features in the order of the columns. A feature over several columns stands where its first column does. Attributes: name, index,
  family, column, columns, kinds, floating, whole, is_inferred.
#}
{% macro features_of(options, columns, relation) -%}
{% set roles = [options.target] + options.id + ([options.weight] if options.weight is not none else []) -%}
{% set reserved = [] -%}
{% for name in roles -%}
{% do reserved.append(nbsql.column_named(columns, name, 'the target, the weight or an id', relation).name) %}
{% endfor -%}
{% set excluded = [] -%}
{% for name in options.exclude %}{% do excluded.append(nbsql.column_named(columns, name, 'to exclude', relation).name) %}{% endfor -%}
{% set chosen = [] -%}
{% if options.features is none -%}
{% for column in columns if column.name not in reserved and column.name not in excluded %}{% do chosen.append(column) %}{% endfor -%}
{% else -%}
{% for name in options.features -%}
{% set column = nbsql.column_named(columns, name, 'a feature', relation) -%}
{% do nbsql.refuse_if(column.name in reserved, "column '" ~ name ~ "' is the target, the weight or an id, and cannot be a feature too") %}
{% do chosen.append(column) %}
{% endfor -%}
{% endif -%}
{% set single, together, taken, by_pattern = {}, {}, {}, {} -%}
{% for name in nbsql.names_before_patterns(options.families, columns) -%}
{% set family = nbsql.family_of(name, options.families[name], options) -%}
{% if family.over_columns -%}
{% set members = [] -%}
{% for member in family.columns %}{% do members.append(nbsql.column_named(columns, member, "of '" ~ name ~ "'", relation)) %}{% endfor -%}
{% for member in members -%}
{% do nbsql.refuse_if(member.name in taken or member.name in single,
  "column '" ~ member.name ~ "' is in '" ~ name ~ "' and has another family too; leave it in one") %}
{% do taken.update({member.name: name}) %}
{% endfor -%}
{% do together.update({name: {'family': family, 'members': members}}) %}
{% elif nbsql.is_pattern(name, columns) -%}
{% for column in nbsql.columns_matching(name, chosen) if column.name not in taken -%}
{% if column.name not in single %}{% do single.update({column.name: family}) %}{% do by_pattern.update({column.name: name}) %}
{% elif column.name in by_pattern and single[column.name] != family -%}
{% do nbsql.refuse(
  "column '" ~ column.name ~ "' matches '" ~ by_pattern[column.name] ~ "' and '" ~ name ~ "' of families; give it by its name") %}
{% endif -%}
{% endfor -%}
{% else -%}
{% set column = nbsql.column_named(columns, name, 'in families', relation) -%}
{% do nbsql.refuse_if(column not in chosen,
  "families names '" ~ name ~ "', which is not among the features; take it out, or add it to features") %}
{% do nbsql.refuse_if(column.name in taken,
  "column '" ~ name ~ "' is in '" ~ taken[column.name] ~ "' and has another family too; leave it in one") %}
{% do single.update({column.name: family}) %}
{% endif -%}
{% endfor -%}
{% set found, without, placed = [], [], [] -%}
{% for column in chosen -%}
{% if column.name in taken -%}
{% if taken[column.name] not in placed -%}
{% do placed.append(taken[column.name]) %}
{% set group = together[taken[column.name]] -%}
{% do found.append(nbsql.feature_of(taken[column.name], group.family, group.members, found)) %}
{% endif -%}
{% else -%}
{% set family = single[column.name] or nbsql.inferred_families().get(column.kind) -%}
{% if not family -%}
{% do without.append(column) %}
{% else -%}
{% set complete = family if family is mapping else nbsql.family_of(column.name, family, options) -%}
{% set feature = nbsql.feature_of(column.name, complete, [column], found) -%}
{% do feature.update({'is_inferred': column.name not in single}) %}
{% do found.append(feature) %}
{% endif -%}
{% endif -%}
{% endfor -%}
{% for name, group in together.items() if name not in placed -%}
{% do found.append(nbsql.feature_of(name, group.family, group.members, found)) %}
{% endfor -%}
{% if without -%}
{% set names = without | map(attribute='name') | list -%}
{% do nbsql.refuse(
  "column '" ~ names[0] ~ "' is " ~ without[0].type ~ ', which has no family; leave it out with exclude: [' ~ names | join(', ')
  ~ '], or ' ~ ('name a family' if without[0].kind == 'temporal' else 'cast it, to text say')) %}
{% endif -%}
{% do return(found) %}
{%- endmacro %}

{# Whether a key of families is a pattern, such as soil_*. A column of exactly that name takes precedence. #}
{% macro is_pattern(name, columns) -%}
{% set text = name | string -%}
{% do return(('*' in text or '?' in text) and text | lower not in columns | map(attribute='name') | map('lower') | list) %}
{%- endmacro %}

{# The keys of families, names before patterns, because names take precedence. #}
{% macro names_before_patterns(families, columns) -%}
{% set names, patterns = [], [] -%}
{% for name in families -%}
{% if nbsql.is_pattern(name, columns) %}{% do patterns.append(name) %}{% else %}{% do names.append(name) %}{% endif -%}
{% endfor -%}
{% do return(names + patterns) %}
{%- endmacro %}

{# The columns that match a pattern. A pattern without a match is refused. #}
{% macro columns_matching(pattern, columns) -%}
{% set regex = '(?is)' ~ modules.re.escape(pattern) | replace('\\*', '.*') | replace('\\?', '.') ~ '$' -%}
{% set found = [] -%}
{% for column in columns if modules.re.match(regex, column.name) %}{% do found.append(column) %}{% endfor -%}
{% if not found -%}
{% set names = nbsql.quoted_names(columns | map(attribute='name')) -%}
{% do nbsql.refuse("families has '" ~ pattern ~ "', which no feature matches; they are " ~ names) %}
{% endif -%}
{% do return(found) %}
{%- endmacro %}

{# A feature as the macros read it (nbsql/plan/context.py). #}
{% macro feature_of(name, family, columns, before) -%}
{% for column in columns if column.kind not in family.accepts -%}
{% do nbsql.refuse(
  "column '" ~ column.name ~ "' is " ~ column.type ~ ", which family '" ~ family.name ~ "' does not take (it takes "
  ~ family.accepts | join(', ') ~ ' columns); cast it, or choose another family') %}
{% endfor -%}
{% do nbsql.refuse_if(name in before | map(attribute='name'),
  "two features are named '" ~ name ~ "'; give the family over several columns another key") %}
{% set kinds = columns | map(attribute='kind') | list -%}
{% set times = {} -%}
{% for column in columns if column.kind == 'temporal' %}{% do times.update({column.name: column.type | lower}) %}{% endfor -%}
{% set fractions = {} -%}
{% for column in columns if column.kind in ['float', 'decimal'] %}{% do fractions.update({column.name: column.type}) %}{% endfor -%}
{% set feature = {
  'name': name, 'index': before | length + 1, 'family': family, 'column': columns[0].name,
  'columns': nbsql.as_tuple(columns | map(attribute='name') | list), 'kinds': kinds,
  'floating': 'float' in kinds, 'whole': kinds == ['integer'], 'fraction_types': fractions,
  'time_types': times, 'untyped': []} -%}
{% if family.level and family.declared -%}
{% do feature.update({'family': dict(family, declared=nbsql.levels_as_written(feature, columns[0]))}) %}
{% endif -%}
{% do return(feature) %}
{%- endmacro %}

{# The rules that training rows must satisfy, each with the message to show when a row breaks it. #}
{% macro checks_of(model) -%}
{% set checks = [] -%}
{% set weight = model.spec.weight if model.aged is none else model.aged.weight -%}
{% if model.aged is not none -%}
{% do checks.append({
  'rule': 'time', 'column': model.aged.at, 'message': 'NULL or infinite, by which rows age; fill them, or leave such rows out'}) %}
{% endif -%}
{% if weight is not none -%}
{% do checks.append({'rule': 'weight', 'column': weight, 'message': 'negative, NULL or not finite; weights must be at least 0'}) %}
{% endif -%}
{% for feature in model.facts.features -%}
{% set least = ' must be at least 0' -%}
{% set messages = {
  'negative': 'negative; ' ~ feature.family.name ~ ' ' ~ feature.family.units ~ least,
  'positive': '0 or negative; ' ~ feature.family.name ~ ' ' ~ feature.family.units ~ ' must be above 0',
  'inside': 'not between 0 and 1; ' ~ feature.family.name ~ ' ' ~ feature.family.units ~ ' must be above 0 and below 1',
  'whole': 'not whole; ' ~ feature.family.name ~ ' ' ~ feature.family.units ~ ' must be whole numbers',
  'binary': 'neither 0 nor 1; bernoulli takes a BOOLEAN or 0/1 column',
  'negative_counts': 'maps with a negative count; counts' ~ least,
  'missing': 'NULL, and nulls: error; fill them, or use nulls: skip'} -%}
{% for column in feature.columns -%}
{% for rule in feature.family.rules.get(feature.kinds[loop.index0], []) + (['missing'] if feature.family.nulls == 'error' else []) -%}
{% do checks.append({'rule': rule, 'column': column, 'message': messages[rule]}) %}
{% endfor -%}
{% endfor -%}
{% endfor -%}
{% do return(checks) %}
{%- endmacro %}
