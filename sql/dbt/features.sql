{# The features of a model, resolved from its options and the columns it learns from. In Python nbsql/spec/features.py does this. #}

{#
  The features in the order of the columns. A feature over several columns stands where its first column does. Attributes: name, index,
  family, column, columns, kinds, floating, whole, is_inferred.
#}
{% macro features_of(options, columns, relation) -%}
{% set roles = [options.target] + options.id + ([options.weight] if options.weight is not none else []) -%}
{% set reserved = nbsql.columns_named(columns, roles, 'the target, the weight or an id', relation) | map(attribute='name') | list -%}
{% do nbsql.refuse_if(reserved[0] in reserved[1:],
  "column '" ~ reserved[0] ~ "' cannot be both the target and the weight, the time of a half-life or an id; name another") %}
{% set excluded = nbsql.columns_named(columns, options.exclude, 'to exclude', relation) | map(attribute='name') | list -%}
{% set chosen = columns | rejectattr('name', 'in', reserved) | list -%}
{% if options.features is not none %}{% set chosen = nbsql.columns_named(columns, options.features, 'a feature', relation) %}{% endif -%}
{% set chosen = chosen | rejectattr('name', 'in', excluded) | list -%}
{% for column in chosen -%}
{% do nbsql.refuse_if(column.name in reserved,
  "column '" ~ column.name ~ "' is the target, the weight or an id; leave it out of the features") %}
{% endfor -%}
{% set single, together, taken, by_pattern = {}, {}, {}, {} -%}
{% for name in nbsql.names_before_patterns(options.families, columns) -%}
{% set given = options.families[name] -%}
{% set named = given.get('columns') if given is mapping else none -%}
{% set named = named if named is iterable and named is not string and named is not mapping else [] -%}
{% set members = nbsql.columns_named(columns, nbsql.named_once(named), "of '" ~ name ~ "'", relation) -%}
{% if members %}{% set given = dict(given, columns=members | map(attribute='name') | list) %}{% endif -%}
{% set family = nbsql.family_of(name, given, options) -%}
{% if family.over_columns -%}
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
{% set name, family = taken.get(column.name), single.get(column.name) or nbsql.inferred_families().get(column.kind) -%}
{% if name is none and not family -%}
{% do without.append(column) %}
{% elif name is none -%}
{% set complete = family if family is mapping else nbsql.family_of(column.name, family, options) -%}
{% do found.append(dict(nbsql.feature_of(column.name, complete, [column], found), is_inferred=column.name not in single)) %}
{% elif name not in placed -%}
{% do placed.append(name) %}
{% do found.append(nbsql.feature_of(name, together[name].family, together[name].members, found)) %}
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
{% set is_name = name | string | lower in columns | map(attribute='name') | map('lower') | list -%}
{% do return(not is_name and ('*' in name | string or '?' in name | string)) %}
{%- endmacro %}

{# The keys of families, names before patterns, because names take precedence. #}
{% macro names_before_patterns(families, columns) -%}
{% set names, patterns = [], [] -%}
{% for name in families %}{% do (patterns if nbsql.is_pattern(name, columns) else names).append(name) %}{% endfor -%}
{% do return(names + patterns) %}
{%- endmacro %}

{# The columns that match a pattern, or have that name without regard to case. #}
{% macro columns_like(pattern, columns) -%}
{% set regex, found = '(?is)' ~ modules.re.escape(pattern | string) | replace('\\*', '.*') | replace('\\?', '.') ~ '$', [] -%}
{% for column in columns if modules.re.match(regex, column.name) %}{% do found.append(column) %}{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# The columns that match a pattern. A pattern without a match is refused. #}
{% macro columns_matching(pattern, columns) -%}
{% set found = nbsql.columns_like(pattern, columns) -%}
{% do nbsql.refuse_if(not found,
  "families has '" ~ pattern ~ "', which no feature matches; they are " ~ nbsql.quoted_names(columns | map(attribute='name'))) %}
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
{% set kinds, times, fractions = columns | map(attribute='kind') | list, {}, {} -%}
{% for column in columns -%}
{% if column.kind == 'temporal' %}{% do times.update({column.name: column.type | lower}) %}
{% elif column.kind in ['float', 'decimal'] %}{% do fractions.update({column.name: column.type}) %}
{% endif -%}
{% endfor -%}
{% set feature = {
  'name': name, 'index': before | length + 1, 'family': family, 'column': columns[0].name,
  'columns': nbsql.as_tuple(columns | map(attribute='name') | list), 'kinds': kinds,
  'floating': 'float' in kinds, 'whole': kinds == ['integer'], 'fraction_types': fractions,
  'time_types': times, 'untyped': []} -%}
{% if family.cell == 'level' and family.declared -%}
{% do feature.update({'family': dict(family, declared=nbsql.levels_as_written(feature, columns[0]))}) %}
{% endif -%}
{% do return(feature) %}
{%- endmacro %}

{# The rules that training rows must satisfy, each with the message to show when a row breaks it. #}
{% macro checks_of(model) -%}
{% set checks, messages = [], nbsql.rule_messages() -%}
{% set weight = model.spec.weight if model.aged is none else model.aged.weight -%}
{% if model.aged is not none %}{% do checks.append({'rule': 'time', 'column': model.aged.at, 'message': messages.time}) %}{% endif -%}
{% if weight is not none %}{% do checks.append({'rule': 'weight', 'column': weight, 'message': messages.weight}) %}{% endif -%}
{% for feature in model.facts.features -%}
{% for column in feature.columns -%}
{% for rule in feature.family.rules.get(feature.kinds[loop.index0], []) + (['missing'] if feature.family.nulls == 'error' else []) -%}
{% set message = messages[rule] | replace('{family}', feature.family.name) | replace('{units}', feature.family.units) -%}
{% do checks.append({'rule': rule, 'column': column, 'message': message}) %}
{% endfor -%}
{% endfor -%}
{% endfor -%}
{% do return(checks) %}
{%- endmacro %}
