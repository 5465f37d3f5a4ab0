{# The columns that a model derives, from meta.nbsql: {derive: {per_page: price / pages}}. Python: nbsql/learning/derived_columns.py. #}

{# Refuses a derive that does not map names to expressions. #}
{% macro check_derive(derive, name) -%}
{% do nbsql.refuse_if(derive is not mapping,
  "derive of '" ~ name ~ "' must be a mapping such as {per_page: price / pages}, not " ~ derive) %}
{% do nbsql.check_once(derive, "derive of '" ~ name ~ "'") %}
{% for column, expression in derive.items()
  if not (column and expression is string and expression | trim) or column.lower().startswith('nbsql_') -%}
{% do nbsql.refuse(
  "derive of '" ~ name ~ "' has " ~ column ~ ': ' ~ expression ~ ', which is no expression, or a name that nbsql keeps for itself') %}
{% endfor -%}
{%- endmacro %}

{# The columns that an expression reads: its words among those of the relation to learn from and those derived before. #}
{% macro columns_of_expression(expression, names) -%}
{% set words, read = modules.re.findall('\\w+', expression | lower), [] -%}
{% for name in names if name | lower in words %}{% do read.append(name) %}{% endfor -%}
{% do return(read) %}
{%- endmacro %}

{# The derived columns that some columns need, as a mapping of names to expressions. reads: the columns that each expression reads. #}
{% macro needed_columns(derive, reads, names) -%}
{% set wanted, kept, found = names | map('lower') | list, [], {} -%}
{% for name in derive.keys() | list | reverse -%}
{% if name | lower in wanted %}{% do kept.append(name) %}{% do wanted.extend(reads[name] | map('lower') | list) %}{% endif -%}
{% endfor -%}
{% for name, expression in derive.items() if name in kept %}{% do found.update({name: expression}) %}{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# Rows with derived columns, each in a layer of its own, because it may read those before. names: the columns of the rows. #}
{% macro derived_rows(rows, derive, names) -%}
{% set layers, known = [], namespace(names=names) -%}
{% for name, expression in derive.items() -%}
{% set columns = [] -%}
{% if name | lower not in known.names | map('lower') | list %}{% set known.names = known.names + [name] %}{% endif -%}
{% for other in known.names -%}
{% do columns.append((other, expression if other | lower == name | lower else none)) %}
{% endfor -%}
{% do layers.append({'columns': columns, 'without': none, 'passes_all': false}) %}
{% endfor -%}
{% do return(nbsql.derived_source(rows | string, layers)) %}
{%- endmacro %}

{# The columns of a relation, as of columns_of, with those derived from it. #}
{% macro columns_with_derived(columns, relation, derive) -%}
{% if not derive %}{% do return(columns) %}{% endif -%}
{% set rows = nbsql.derived_rows(relation, derive, columns | map(attribute='name') | list) -%}
{% set found, others = [], {} -%}
{% for column in columns %}{% do others.update({column.name | lower: column.name}) %}{% endfor -%}
{% set types = nbsql.query_rows(nbsql.types_of_rows(rows, derive.keys() | list))[0] -%}
{% set made = {} -%}
{% for name in derive -%}
{% set type = types[loop.index0] -%}
{% do made.update({name | lower: {'name': others.get(name | lower, name), 'type': type, 'kind': nbsql.column_kind(type)}}) %}
{% endfor -%}
{% for column in columns %}{% do found.append(made.get(column.name | lower, column)) %}{% endfor -%}
{% for name, column in made.items() if name not in others %}{% do found.append(column) %}{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# One row: the types of some columns, of rows of which there may be none. #}
{% macro default__types_of_rows(rows, names) -%}
SELECT {% for name in names %}{{ nbsql.type_of(nbsql.ident(name)) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
FROM (SELECT 1) AS one
LEFT JOIN (SELECT * FROM {{ rows }} AS source LIMIT 0) AS source ON TRUE
{%- endmacro %}

{% macro default__type_of(x) -%} typeof({{ x }}) {%- endmacro %}

{# The type is followed by how it is stored, in brackets. #}
{% macro snowflake__type_of(x) -%} split_part(SYSTEM$TYPEOF({{ x }}), '[', 1) {%- endmacro %}

{% macro postgres__type_of(x) -%} CAST(pg_typeof({{ x }}) AS TEXT) {%- endmacro %}

{#
  The derived columns of a model, those of its texts without the words of `missing` first, as a mapping of names to expressions. A column of
  which these words are all that is no number is one of numbers, unless it is the class or has a family in `families`.
#}
{% macro derived_without_words(options, columns, training, name) -%}
{% set texts, derive, words = [], {}, [] -%}
{% for word in options.missing %}{% do words.append((word | string).strip()) %}{% endfor -%}
{% for column in columns if words and column.kind == 'text' and column.name | lower not in options.id | map('lower') | list -%}
{% do nbsql.refuse_if(column.name in options.derive,
  "'" ~ column.name ~ "' of '" ~ name ~ "' has missing and derive; say in its expression what is missing: nullif") %}
{% do texts.append(column.name) %}
{% endfor -%}
{% if not texts %}{% do return(options.derive) %}{% endif -%}
{% do nbsql.check_has('patterns', "missing of '" ~ name ~ "'") %}
{% set counts = nbsql.query_rows(nbsql.texts_as_numbers(nbsql.rows_where(training), texts, words))[0] -%}
{% for text in texts -%}
{% set with_words, others, no_numbers = counts[3 * loop.index0], counts[3 * loop.index0 + 1], counts[3 * loop.index0 + 2] -%}
{% set is_kept = text in options.families or text | lower == options.target | lower -%}
{% set is_number = with_words > 0 and others > 0 and no_numbers == 0 and not is_kept -%}
{% do derive.update({text: nbsql.without_words(text, words, is_number)}) %}
{% endfor -%}
{% do derive.update(options.derive) %}
{% do return(derive) %}
{%- endmacro %}
