{#
  What makes and drops the schema of a model and the relations in it. dbt does that itself, by macros of the same names that these
  would stand in for, and so does not read this file (sql/.dbtignore).
#}

{% macro create_schema(schema) -%}
CREATE SCHEMA {{ schema }}
{%- endmacro %}

{% macro create_table_as(relation, query, temporary=false) -%}
CREATE {% if temporary %}TEMP {% endif %}TABLE {{ relation }} AS
{{ query }}
{%- endmacro %}

{% macro create_view_as(relation, query, temporary=false) -%}
CREATE {% if temporary %}TEMP {% endif %}VIEW {{ relation }} AS
{{ query }}
{%- endmacro %}

{% macro drop_relation(kind, relation, if_exists=false) -%}
DROP {% if kind == 'macro' %}MACRO TABLE{% elif kind == 'view' %}VIEW{% else %}TABLE{% endif %} {% if if_exists %}IF EXISTS {% endif %}{{ relation }}
{%- endmacro %}

{% macro drop_schema(schema) -%}
DROP SCHEMA {{ schema }}
{%- endmacro %}
