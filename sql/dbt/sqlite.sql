{# Forms for SQLite of what dbt does itself, in place of the default macros. #}

{% macro sqlite__check_engine() -%}
{% set version = nbsql.query_rows('SELECT sqlite_version()')[0][0].split('.') -%}
{% do nbsql.refuse_if((version[0] | int, version[1] | int) < (3, 39),
  'this is SQLite ' ~ version | join('.') ~ '; nbsql needs 3.39 or later') %}
{%- endmacro %}

{% macro sqlite__most_numbers() -%} {% do return(2000) %} {%- endmacro %}

{# What this engine lacks, by what needs it, and what a refusal says of it. #}
{% macro sqlite__lacking() -%}
{% do return({
  'lists': 'which has no lists', 'words': 'which has no function that cuts a text into words', 'bags': 'which has no lists',
  'long queries': 'which has a parser that reads no query of that depth',
  'patterns': 'which has no regular expressions', 'times': 'which has no types of times'}) %}
{%- endmacro %}

{#
  The columns of a table or view. SQLite knows no types of expressions, and a column takes values of any: where none is declared, the type
  is that of the values, of which there may be two for numbers.
#}
{% macro sqlite__columns_of_relation(relation) -%}
{% set found, declared, names = [], [], [] -%}
{% set own = api.Relation.create(schema=relation.schema, identifier=relation.identifier) -%} {# whatever rows it is limited to #}
{% set columns -%}
SELECT name, lower(type) FROM pragma_table_info({{ nbsql.text(own.identifier) }}, {{ nbsql.text(own.schema) }})
{%- endset -%}
{% for name, type in nbsql.query_rows(columns) -%}
{% do declared.append((name, type)) %}
{% if nbsql.column_kind(type) == 'other' %}{% do names.append(name) %}{% endif -%}
{% endfor -%}
{% set types = nbsql.query_rows(nbsql.types_of_rows(own, names))[0] if names else [] -%}
{% for name, type in declared -%}
{% set type = types[names.index(name)] if name in names else type -%}
{% do found.append((name, type, nbsql.column_kind(type))) %}
{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# One row: the types of the values of some columns; that of one without any value is text. #}
{% macro sqlite__types_of_rows(rows, names) -%}
SELECT
  {% for name in names %}
  {% set type %}nullif(typeof({{ nbsql.ident(name) }}), 'null'){% endset %}
  CASE
    WHEN min({{ type }}) = max({{ type }}) THEN min({{ type }})
    WHEN min({{ type }}) = 'integer' AND max({{ type }}) = 'real' THEN 'real'
    ELSE coalesce(min({{ type }}) || ' and ' || max({{ type }}), 'text')
  END AS type_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ rows }} AS source
{%- endmacro %}
