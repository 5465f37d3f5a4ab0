{# Forms for PostgreSQL of what dbt does itself, in place of the default macros (engines.sql). nbsql/engines/ has the same in Python. #}

{% macro postgres__number(value) -%} float8 '{{ value }}' {%- endmacro %}

{#
  Shortens a name that is too long and appends a hash of the whole name, so that names stay distinct (as nbsql/rendering/dialect.py does).
#}
{% macro postgres__output(name) -%}
{% if nbsql.byte_length(name) <= 63 %}{% do return(nbsql.ident(name)) %}{% endif -%}
{% set kept = namespace(text='', bytes=0) -%}
{% for letter in name | string | list -%}
{% set kept.bytes = kept.bytes + nbsql.byte_length(letter) -%}
{% if kept.bytes <= 54 %}{% set kept.text = kept.text ~ letter %}{% endif -%}
{% endfor -%}
{% set digest = nbsql.query_rows("SELECT left(encode(sha256(convert_to(" ~ nbsql.text(name) ~ ", 'UTF8')), 'hex'), 8)")[0][0] -%}
{% do return(nbsql.ident(kept.text ~ '_' ~ digest)) %}
{%- endmacro %}

{# The length of a text in UTF-8 bytes. #}
{% macro byte_length(text) -%} {% do return(modules.re.sub('%..', 'x', text | string | urlencode) | length) %} {%- endmacro %}

{# The columns from PostgreSQL's own catalogue: dbt does not report the element type of an array, nor any materialized view. #}
{% macro postgres__columns_of_relation(relation) -%}
{% set name = api.Relation.create(schema=relation.schema, identifier=relation.identifier) -%} {# whatever rows it is limited to #}
{% set columns -%}
SELECT attribute.attname, format_type(attribute.atttypid, -1), type.typtype
FROM pg_attribute AS attribute
JOIN pg_type AS type ON type.oid = attribute.atttypid
WHERE attribute.attrelid = to_regclass({{ nbsql.text(name) }})
  AND attribute.attnum > 0
  AND NOT attribute.attisdropped
ORDER BY attribute.attnum ASC NULLS LAST
{%- endset -%}
{% set found = [] -%}
{% for name, type, typtype in nbsql.query_rows(columns) %}{% do found.append((name, type, nbsql.column_kind(type, typtype))) %}{% endfor -%}
{% do return(found) %}
{%- endmacro %}

{# Types in a schema of a project's own, of which an enum is a text. #}
{% macro postgres__column_kind(type, typtype='b') -%}
{% do return('text' if typtype == 'e' else nbsql.default__column_kind(type.split('.')[-1])) %}
{%- endmacro %}

{# The form is always wide here; one row holds up to some 1,000 numbers. #}
{% macro postgres__is_wide(model, class_count) -%}
{% set parameters = model.facts.parameters | length -%}
{% do nbsql.refuse_if(class_count * (5 + parameters) > 1000,
  class_count ~ " classes with " ~ parameters ~ " parameters each, of '" ~ model.name ~ "', do not fit into a row of PostgreSQL, "
  ~ "which holds some 1,000 numbers; take fewer classes or features") %}
{% do return(true) %}
{%- endmacro %}
