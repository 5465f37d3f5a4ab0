{# The parts of dates and times as features, from meta.nbsql: {families: {sent_at: calendar}}. Python: nbsql/learning/calendars.py. #}

{#
  Adds the parts of dates and times to the options: to derive and families, in the place of their columns. A column without a family has
  all parts of its type, whatever its rows are, as a model must not change with them. The result has for each part, by its name: column,
  type and part.
#}
{% macro derive_calendars(options, columns, relation, name) -%}
{% set families, parts, derive, present = {}, {}, dict(options.derive), columns | map(attribute='name') | map('lower') | list -%}
{% set exclude, given_features = options.exclude | list, options.features -%}
{% set named = (options.families.keys() | list + options.exclude + (given_features or [])) | map('lower') | list -%}
{% set weight = options.weight -%}
{% set taken = [options.target] + options.id + options.exclude + ([weight.at, weight.weight] if weight is mapping else [weight]) -%}
{% set taken = taken | select('string') | map('lower') | list -%}
{% set replaced, used = {}, [] -%}
{% for column in columns -%}
{% set keys = [] -%}
{% for key in options.families
  if key | string | lower == column.name | lower or (nbsql.is_pattern(key, columns) and nbsql.columns_like(key, [column])) -%}
{% do keys.append(key) %}
{% endfor -%}
{% set calendar = nbsql.calendar_of(column, keys, options.families, column.name | lower in taken, name) -%}
{% if calendar is not none -%}
{% set known, zoned = nbsql.parts_of_type(column.type), nbsql.is_zoned(column.type) -%}
{% set is_chosen = given_features is none or column.name | lower in given_features | map('lower') | list -%}
{% set made = [] -%}
{% for part in calendar.parts or known -%}
{% do nbsql.refuse_if(part not in known,
  "'" ~ column.name ~ "' of '" ~ name ~ "' is " ~ column.type ~ ', which has no ' ~ part ~ '; leave it out of parts') %}
{% set title = part ~ ' of ' ~ column.name -%}
{% set is_taken = title | lower in named or (is_chosen and (calendar.parts or part != 'minute')) -%}
{% if is_taken %}{% do used.extend(keys) %}{% endif -%}
{% if is_taken and title | lower not in present -%}
{% do made.append(title) %}
{% do parts.update({title: {'column': column.name, 'type': column.type, 'part': part}}) %}
{% set zone = calendar.zone or 'UTC' if zoned else none -%}
{% do derive.update({title: nbsql.calendar_part(column.name, part, zone) | trim}) %}
{% if title not in options.families %}{% do families.update({title: calendar.family}) %}{% endif -%}
{% endif -%}
{% endfor -%}
{% do replaced.update({column.name | lower: made}) %}
{% do exclude.append(column.name) %}
{% endif -%}
{% endfor -%}
{% for key, given in options.families.items() if key not in used or (given.family if given is mapping else given) != 'calendar' -%}
{% do families.update({key: given}) %} {# a calendar of no feature is refused with those of other families #}
{% endfor -%}
{% if given_features is not none -%}
{% set features = [] -%}
{% for feature in given_features %}{% do features.extend(replaced.get(feature | lower, [feature])) %}{% endfor -%}
{% do options.update({'features': features | unique(case_sensitive=true) | list}) %}
{% endif -%}
{% do options.update({'derive': derive, 'families': families, 'exclude': exclude}) %}
{% do return(parts) %}
{%- endmacro %}

{# The calendar of a column: its parts, none for those of its type, its zone, and the family of each part; none without a calendar. #}
{% macro calendar_of(column, keys, families, is_taken, name) -%}
{% set found = [] -%}
{% for key in keys %}{% do found.append({'family': families[key]} if families[key] is string else families[key]) %}{% endfor -%}
{% set given = found | selectattr('family', 'equalto', 'calendar') | list -%}
{% if is_taken or (not given and (found or not nbsql.parts_of_type(column.type))) %}{% do return(none) %}{% endif -%}
{% set given = given[0] if given else {'family': 'calendar'} -%}
{% do nbsql.check_family_options(given, ['parts', 'zone', 'alpha', 'nulls', 'unseen', 'estimate'], column.name) %}
{% do nbsql.refuse_if(not nbsql.parts_of_type(column.type),
  "column '" ~ column.name ~ "' is " ~ column.type ~ ", which family 'calendar' does not take (it takes temporal columns); cast it, or "
  ~ 'choose another family') %}
{% set zoned, zone = nbsql.is_zoned(column.type), given.get('zone') -%}
{% do nbsql.refuse_if(zone is not none and (zone is not string or not zone | trim),
  "zone of '" ~ column.name ~ "' must be the name of a time zone, such as Europe/Berlin, not '" ~ zone ~ "'") %}
{% if zone and not zoned -%}
{% do nbsql.refuse("'" ~ column.name ~ "' of '" ~ name ~ "' is " ~ column.type ~ ', which has no time zone; leave out zone') %}
{% elif zoned and not found and this.identifier == name -%}
{% do exceptions.warn(
  "nbsql: the parts of '" ~ column.name ~ "' of '" ~ name ~ "' are those of the time zone UTC; for another one, families: {"
  ~ column.name ~ ': {family: calendar, zone: Europe/Berlin}}') %}
{% endif -%}
{% set family = {'family': 'categorical'} -%}
{% for option in given if option not in ['family', 'parts', 'zone'] %}{% do family.update({option: given[option]}) %}{% endfor -%}
{% set parts = [given.parts] if given.parts is string else given.get('parts') -%}
{% if parts is not none %}{% do nbsql.check_list(parts, 'parts', column.name, 1) %}{% endif -%}
{% do return({'parts': parts, 'zone': zone, 'family': family}) %}
{%- endmacro %}

{# The parts that a type of dates and times has. #}
{% macro parts_of_type(type) -%}
{% set name, days, times = type | lower, ['year', 'month', 'day', 'weekday'], ['hour', 'minute'] -%}
{% if name.startswith('timestamp') or name.startswith('datetime') %}{% do return(days + times) %}{% endif -%}
{% do return(days if name.startswith('date') else times if name.startswith('time') else []) %}
{%- endmacro %}

{# Whether the times of a type have a time zone. #}
{% macro default__is_zoned(type) -%} {% do return('with time zone' in type | lower) %} {%- endmacro %}

{% macro bigquery__is_zoned(type) -%} {% do return(type | lower == 'timestamp') %} {%- endmacro %}

{% macro snowflake__is_zoned(type) -%} {% do return((type | lower).split('(')[0] in ['timestamp_tz', 'timestamp_ltz']) %} {%- endmacro %}

{# Refuses a column whose dates or times are not of the kind of those of which a model has learnt a part. #}
{% macro check_time(model, name, columns, source) -%}
{% set learnt = model.times[name] -%}
{% set column = nbsql.column_named(columns, learnt.column, "from which '" ~ model.name ~ "' derives '" ~ name ~ "'", source) -%}
{% set given, known = column.type | lower, learnt.type | lower -%}
{% set has_days = given[:4] == 'date' or given[:5] == 'times' -%}
{% set alike = nbsql.is_zoned(given) == nbsql.is_zoned(known) and has_days == (known[:4] == 'date' or known[:5] == 'times') -%}
{% do nbsql.refuse_if(column.kind != 'temporal' or not alike or learnt.part not in nbsql.parts_of_type(column.type),
  "column '" ~ column.name ~ "' of " ~ source.identifier ~ ' is ' ~ column.type ~ ", and '" ~ model.name ~ "' has learnt "
  ~ learnt.type ~ " there, of which '" ~ name ~ "' is a part; cast it") %}
{%- endmacro %}
