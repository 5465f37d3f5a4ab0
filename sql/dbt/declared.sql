{#
  What a configuration declares as texts (classes, priors, levels) is what the type of its column writes: 1.0 is the whole number 1, and 0.5
  the DECIMAL(4, 2) 0.50. In Python nbsql/learning/declared.py does this.
#}

{# A value as text. #}
{% macro label_of(value) -%} {% do return((value | string | lower) if value is boolean else value | string) %} {%- endmacro %}

{# What equal labels have in common: a NUMERIC of PostgreSQL may be written 0.5 or 0.50. #}
{% macro key_of_label(model, label) -%}
{% do return(label | float if model.target_kind == 'decimal' else nbsql.label_of(label)) %}
{%- endmacro %}

{# The classes and priors that options declare, as the target's type writes them. #}
{% macro declare_labels(options, target, name) -%}
{% set rule = " of '" ~ name ~ "' must be labels of '" ~ target.name ~ "', which is " ~ target.type -%}
{% if options.classes is not none -%}
{% set texts = nbsql.texts_of_type(options.classes, target, 'classes' ~ rule) -%}
{% do options.update({'classes': texts.values() | list | unique(case_sensitive=true) | list}) %}
{% endif -%}
{% if options.prior is mapping -%}
{% set texts, priors = nbsql.texts_of_type(options.prior, target, 'priors' ~ rule), {} -%}
{% for label, probability in options.prior.items() -%}
{% set text = texts[nbsql.label_of(label)] -%}
{% if text in priors %}{% do nbsql.refuse("prior of '" ~ name ~ "' names '" ~ text ~ "' twice; name it once") %}{% endif -%}
{% do priors.update({text: probability}) %}
{% endfor -%}
{% do options.update({'prior': priors}) %}
{% endif -%}
{%- endmacro %}

{# The declared values of a category with their pseudo-counts, as the fit counts the values of its column. #}
{% macro levels_as_written(feature, column) -%}
{% set rule = "levels of '" ~ feature.name ~ "' must be values of '" ~ column.name ~ "', which is " ~ column.type -%}
{% set texts = nbsql.texts_of_type(feature.family.declared | map(attribute=0), column, rule, feature) -%}
{% set counts = {} -%}
{% for level, count in feature.family.declared -%}
{% do nbsql.refuse_if(counts.get(texts[level], count) != count,
  "alpha of '" ~ feature.name ~ "' names '" ~ texts[level] ~ "' twice; name it once") %}
{% do counts.update({texts[level]: count}) %}
{% endfor -%}
{% do return(counts.items() | list) %}
{%- endmacro %}

{#
  The texts of values as a column's type writes them, by the texts that were given. A value that the type does not have is refused, and
  nothing is rounded. rule: the message's first words. feature: that of the column, which writes values as it counts them; none for labels.
#}
{% macro texts_of_type(values, column, rule, feature=none) -%}
{% set given, foreign = {}, [] -%}
{% for value in values -%}
{% set text = nbsql.label_of(value) -%}
{% do given.update({text: nbsql.plain_text(text, column.kind)}) %}
{% endfor -%}
{% if column.kind not in ['boolean', 'integer', 'float', 'decimal', 'temporal'] or not given %}{% do return(given) %}{% endif -%}
{% set written = {} -%}
{% if none not in given.values() -%}
{% if feature is none %}{% set x = nbsql.label_text(column.type) -%}
{% else %}{% set x = nbsql.text_as_fitted(feature, column.name, column.kind == 'integer', nbsql.cast_text(column.type)) -%}
{% endif -%}
{% set has_zone = 'with time zone' in column.type | lower -%}
{% if column.kind == 'temporal' and column.type | lower != 'time' and not has_zone -%}
{% set x = nbsql.written_time(column.type, x) -%}
{% endif -%}
{% for row in nbsql.query_rows(nbsql.texts_as_written(given.values() | list | unique, x)) -%}
{% do written.update({row[0]: row[1]}) %}
{% endfor -%}
{% endif -%}
{% for text, plain in given.items() if written or plain is none -%}
{% set found = written.get(plain) -%}
{% set is_number = column.kind in ['integer', 'float', 'decimal'] -%}
{% if found is none or (is_number and found | float != plain | float) %}{% do foreign.append(text) %}{% endif -%}
{% do given.update({text: found}) %}
{% endfor -%}
{% do nbsql.refuse_if(foreign, rule ~ ': ' ~ nbsql.quoted_names(foreign) ~ (' is none' if foreign | length == 1 else ' are none')) %}
{% do return(given) %}
{%- endmacro %}

{# A text that every engine can read as a value of a kind of column; none if there is none. #}
{% macro plain_text(text, kind) -%}
{% if kind == 'boolean' %}{% do return(text | lower if text | lower in ['true', 'false'] else none) %}{% endif -%}
{% if kind not in ['integer', 'float', 'decimal'] %}{% do return(text) %}{% endif -%}
{% if not modules.re.match('[-+]?(\\d+\\.?\\d*|\\.\\d+)([eE][-+]?\\d+)?$', text) %}{% do return(none) %}{% endif -%}
{% if kind != 'integer' or modules.re.match('[-+]?\\d+$', text) %}{% do return(text) %}{% endif -%}
{% do return(text | float | int | string if text | float == text | float | int else none) %}
{%- endmacro %}
