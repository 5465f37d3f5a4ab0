{# What dbt does for the macros and Python does elsewhere: it protects line ends in texts, reads and finishes statements, and refuses. #}

{# The characters that end a line, and their code points. #}
{% macro line_ends() -%}
{% do return([
  ('\n', 'a'), ('\r', 'd'), ('\u000b', 'b'), ('\u000c', 'c'), ('\u001c', '1c'), ('\u001d', '1d'), ('\u001e', '1e'), ('\u0085', '85'),
  ('\u2028', '2028'), ('\u2029', '2029')]) %}
{%- endmacro %}

{#
  Encodes the line ends in names and texts as NUL-delimited code points, so that indenting a statement leaves them alone.
  nbsql/rendering/dialect.py does the same.
#}
{% macro with_encoded_line_ends(text) -%}
{% if '\u0000' in text | string %}{% do nbsql.refuse('a name or text may not hold the character NUL') %}{% endif -%}
{% set kept = namespace(text=text | string) -%}
{% if modules.re.search('[\n\r\u000b\u000c\u001c\u001d\u001e\u0085\u2028\u2029]', kept.text) -%}
{% for end, code in nbsql.line_ends() -%}
{% set kept.text = kept.text | replace(end, '\u0000' ~ code ~ '\u0000') -%}
{% endfor -%}
{% endif -%}
{% do return(kept.text) %}
{%- endmacro %}

{#
  A rendered statement as the engine receives it: without the blank lines that Jinja leaves, and with the line ends of its texts restored.
#}
{% macro finished_statement(sql) -%}
{% set finished = namespace(sql=modules.re.sub('\n[ \t]*(?=\n)', '', sql) | trim) -%}
{% for end, code in nbsql.line_ends() -%}
{% set finished.sql = finished.sql | replace('\u0000' ~ code ~ '\u0000', end) -%}
{% endfor -%}
{% do return(finished.sql) %}
{%- endmacro %}

{% macro default__is_in_lake(relation) %}{% do return(false) %}{% endmacro %}

{# Whether a relation of DuckDB's is in a DuckLake. #}
{% macro duckdb__is_in_lake(relation) -%}
{% set type %}SELECT type FROM duckdb_databases() WHERE database_name = {{ nbsql.text(relation.database or '') }}{% endset -%}
{% do return(nbsql.query_rows(type) | map(attribute=0) | list == ['ducklake']) %}
{%- endmacro %}

{# The finished statement that a dbt model or test consists of, in a form that the database of its table can store. #}
{% macro default__body(sql) -%} {% do return(nbsql.finished_statement(sql)) %} {%- endmacro %}

{#
  The same of a query of many common table expressions. search: the first words of the names of those that are the steps of a search.
  takes_views: whether the query can be planned as it is, too.
#}
{% macro default__body_in_tables(sql, search=none, takes_views=false) -%} {% do return(nbsql.body(sql)) %} {%- endmacro %}

{#
  A DuckLake stores no collations: texts leave the statement without theirs, which a cast would keep, and names of ENUMs, which it does not
  store either, become texts. What reads the cells of statistics adds the collation again (exact_cells).
#}
{% macro duckdb__body(sql) -%}
{% set query, texts = nbsql.finished_statement(sql), [] -%}
{% if not nbsql.is_in_lake(this) %}{% do return(query) %}{% endif -%}
{% set columns = nbsql.query_rows('DESCRIBE FROM (\n' ~ query ~ '\n) AS answer') -%}
{% for column in columns if column[1] == 'VARCHAR' or column[1].startswith('ENUM(') -%}
{% set name = nbsql.ident(column[0]) -%}
{% do texts.append('decode(encode(CAST(' ~ name ~ ' AS VARCHAR))) AS ' ~ name) %}
{% endfor -%}
{% if not texts %}{% do return(query) %}{% endif -%}
{% do return(nbsql.finished_statement(
  'SELECT * REPLACE (\n  ' ~ texts | join(',\n  ') ~ '\n)\nFROM (\n' ~ query ~ '\n) AS answer')) %}
{%- endmacro %}

{# The rows of a small query, as tuples. #}
{% macro default__query_rows(sql) -%} {% do return(run_query(nbsql.finished_statement(sql)).rows) %} {%- endmacro %}

{# Stops with an error of one line: the fact and the cure. #}
{% macro refuse(message) -%} {% do exceptions.raise_compiler_error('nbsql: ' ~ message) %} {%- endmacro %}

{# Stops with an error if a condition holds. The message is composed in any case. #}
{% macro refuse_if(condition, message) -%} {% if condition %}{% do nbsql.refuse(message) %}{% endif -%} {%- endmacro %}

{# Refuses arguments of a macro that it does not have, which dbt 2 would ignore. called: its name; unknown: its kwargs. #}
{% macro refuse_unknown(called, unknown) -%}
{% for name in unknown if execute -%}
{% do nbsql.refuse(
  called ~ " has no argument '" ~ name ~ "'; it has " ~ nbsql.quoted_names(nbsql.arguments_of_macros()[called.split('.')[1]])) %}
{% endfor -%}
{%- endmacro %}

{# Refuses a relation, where a macro that others make queries of takes a model. public: the macro for projects; given: the arguments. #}
{% macro refuse_relation(called, public, given) -%}
{% do nbsql.refuse_if(not given or given[0].identifier is defined,
  'nbsql.' ~ called ~ ' is internal and takes no relation; call nbsql.' ~ public ~ '(...)') %}
{%- endmacro %}

{# Refuses an option that is not a number between 0 and 1. #}
{% macro check_share(value, option) -%}
{% do nbsql.refuse_if(value is not number or value <= 0 or value >= 1,
  option ~ ' must be a number between 0 and 1, such as 0.9, not ' ~ value) %}
{%- endmacro %}

{# Refuses arguments that are given and not read: a list of a name, its value, whether it is read, and what it goes with. #}
{% macro refuse_unread(arguments) -%}
{% for name, value, is_read, others in arguments if value is not none and not is_read -%}
{% do nbsql.refuse(name ~ ' goes with ' ~ others) %}
{% endfor -%}
{%- endmacro %}

{# A value that is no list as a list of it. #}
{% macro as_list(value) -%}
{% do return([value] if value is string or value is number or value is boolean or value is none else value) %}
{%- endmacro %}

{# The columns that an option names: a list of them, at least so many, or a single one. Anything else is refused. #}
{% macro given_names(given, option, least=1) -%}
{% set names = [given] if given is string else given -%}
{% do nbsql.refuse_if(names is mapping or names is not iterable or names | length < least,
  option ~ ' must be a list of columns, not ' ~ given) %}
{% do return(names) %}
{%- endmacro %}

{# The names of columns, each once: dbt 1 adds the lists of a version of a model to those of the model. #}
{% macro named_once(names) -%} {% do return(names | unique(case_sensitive=target.type == 'postgres') | list) %} {%- endmacro %}

{# Refuses a column that the keys of an option name twice. #}
{% macro check_once(names, option) -%}
{% for name in names if name not in nbsql.named_once(names) -%}
{% do nbsql.refuse(option ~ " names '" ~ name ~ "' twice; name it once") %}
{% endfor -%}
{%- endmacro %}

{# Names in quotes, separated by commas, for a message. #}
{% macro quoted_names(names) -%}
{% set quoted = [] -%}
{% for name in names %}{% do quoted.append("'" ~ name ~ "'") %}{% endfor -%}
{% do return(quoted | join(', ')) %}
{%- endmacro %}

{# A list as a tuple, because some of dbt's own macros concatenate tuples. #}
{% macro as_tuple(values) -%}
{% set pairs = [] -%}
{% for value in values %}{% do pairs.append([value]) %}{% endfor -%}
{% do return((zip(*pairs) | list)[0] if pairs else ()) %}
{%- endmacro %}
