{# Forms for Spark of what dbt does itself, in place of the default macros. nbsql/engines/ and nbsql/rendering/ have the same in Python. #}

{# An adapter that derives from Spark's, such as that of Databricks, is dispatched here, too. #}
{% macro spark__check_engine() -%}
{% set version = nbsql.query_rows('SELECT version()')[0][0] -%}
{% if version.split('.')[0] | int < 4 %}{% do nbsql.refuse('this is Spark ' ~ version ~ '; nbsql needs 4.0 or later') %}{% endif -%}
{%- endmacro %}

{% macro spark__ident(name) -%}
{% do nbsql.refuse_if('${' in name, "the name '" ~ name ~ "' holds '${', which this engine replaces by a variable; rename it") %}
`{{ nbsql.with_encoded_line_ends(name) | replace('`', '``') }}`
{%- endmacro %}

{% macro spark__text(value) -%}
{% set escaped = nbsql.with_encoded_line_ends(value) | replace('\\', '\\\\') | replace("'", "\\'") -%}
'{{ escaped | replace('${', '\\u0024{') }}'
{%- endmacro %}

{% macro spark__number(value) -%} {{ value }}D {%- endmacro %}

{# With --empty or --sample a relation is a subquery, which cannot be described. #}
{% macro spark__columns_of_relation(relation) -%}
{% do return(nbsql.default__columns_of_relation(api.Relation.create(schema=relation.schema, identifier=relation.identifier))) %}
{%- endmacro %}

{# The elements of an array and a map are in angle brackets; a text with a collation is no text, as the engine would compare by it. #}
{% macro spark__column_kind(type, typtype=none) -%}
{% set name, inner = type.split('<')[0], type[type.find('<') + 1:-1] -%}
{% if name == 'array' -%}
{% do return('tokens' if nbsql.column_kind(inner) == 'text' else 'other') %}
{% elif name == 'map' -%}
{% do return(nbsql.default__column_kind('map(' ~ inner ~ ')')) %}
{% endif -%}
{% do return(nbsql.default__column_kind(type)) %}
{%- endmacro %}

{# The form is always wide here. #}
{% macro spark__is_wide(model, class_count) -%} {% do return(true) %} {%- endmacro %}

{% macro spark__is_zoned(type) -%} {% do return(type | lower == 'timestamp') %} {%- endmacro %}

{# dbt ignores unique_key there but for merge, which adds and updates cells, and leaves those of a slice that are gone. #}
{% macro spark__replaces_slices(name) -%}
{% set strategy, by_slice = config.get('incremental_strategy') or 'append', config.get('partition_by') in ['slice', ['slice']] -%}
{% if strategy == 'insert_overwrite' and not by_slice -%}
{% do nbsql.refuse("'" ~ name ~ "' would lose its older slices: incremental_strategy 'insert_overwrite' needs partition_by: slice") %}
{% elif strategy != 'insert_overwrite' and config.get('unique_key') -%}
{% do nbsql.refuse(
  "'" ~ name ~ "' replaces slices, which incremental_strategy '" ~ strategy ~ "' does not; use 'insert_overwrite' with "
  ~ 'partition_by: slice') %}
{% endif -%}
{% do return(strategy == 'insert_overwrite') %}
{%- endmacro %}
