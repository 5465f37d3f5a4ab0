{# What dbt does for the macros that Python does elsewhere: keeps texts whole, reads and lays out statements, refuses. #}

{#
  Line ends in names and texts travel as NUL-delimited code points, so that indenting a statement does not touch them
  (nbsql/dialect.py does the same).
#}
{% macro kept(text) -%}
{% if '\x00' in text | string %}{% do nbsql.refuse('a name or text may not hold the character NUL') %}{% endif -%}
{% set kept = namespace(text=text | string) -%}
{% if kept.text.splitlines() | length > 1 or kept.text != kept.text.strip('\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029') -%}
{% for end, code in [
  ('\n', 'a'), ('\r', 'd'), ('\x0b', 'b'), ('\x0c', 'c'), ('\x1c', '1c'), ('\x1d', '1d'), ('\x1e', '1e'), ('\x85', '85'),
  ('\u2028', '2028'), ('\u2029', '2029')] -%}
{% set kept.text = kept.text | replace(end, '\x00' ~ code ~ '\x00') -%}
{% endfor -%}
{% endif -%}
{% do return(kept.text) %}
{%- endmacro %}

{# A rendered statement as the engine gets it: without the blank lines that Jinja leaves, its texts whole again. #}
{% macro finished(sql) -%}
{% set finished = namespace(sql=modules.re.sub('\n[ \t]*(?=\n)', '', sql) | trim) -%}
{% for end, code in [
  ('\n', 'a'), ('\r', 'd'), ('\x0b', 'b'), ('\x0c', 'c'), ('\x1c', '1c'), ('\x1d', '1d'), ('\x1e', '1e'), ('\x85', '85'),
  ('\u2028', '2028'), ('\u2029', '2029')] -%}
{% set finished.sql = finished.sql | replace('\x00' ~ code ~ '\x00', end) -%}
{% endfor -%}
{% do return(finished.sql) %}
{%- endmacro %}

{# The rows of a small query, as tuples. #}
{% macro answers(sql) -%}
{% do return(run_query(nbsql.finished(sql)).rows) %}
{%- endmacro %}

{# Stop with one line: the fact and the cure. #}
{% macro refuse(message) -%}
{% do exceptions.raise_compiler_error('nbsql: ' ~ message) %}
{%- endmacro %}

{# Some names in a message. #}
{% macro listed(names) -%}
{% set quoted = [] -%}
{% for name in names %}{% do quoted.append("'" ~ name ~ "'") %}{% endfor -%}
{% do return(quoted | join(', ')) %}
{%- endmacro %}

{# A list as a tuple, which some core macros add up. #}
{% macro as_tuple(values) -%}
{% set pairs = [] -%}
{% for value in values %}{% do pairs.append([value]) %}{% endfor -%}
{% do return((zip(*pairs) | list)[0] if pairs else ()) %}
{%- endmacro %}
