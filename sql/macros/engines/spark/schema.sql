{#
  Spark has no temporary tables and cannot delete rows from a Parquet table. A temporary relation is a cached query under a name of the
  session. The engine cuts such a table of a model off from its inputs, so that it can be replaced by a query on itself
  (nbsql/engines/spark/engine.py).
#}

{% macro spark__create_table_as(relation, query, temporary=false) -%}
{% if temporary %}CACHE TABLE {{ relation }} AS{% else %}CREATE TABLE {{ relation }} USING PARQUET AS{% endif +%}
{{ query }}
{%- endmacro %}

{% macro spark__create_view_as(relation, query, temporary=false, comment=none) -%}
CREATE OR REPLACE {% if temporary %}TEMPORARY {% endif %}VIEW {{ relation }}{% if comment %} COMMENT {{ nbsql.text(comment) }}{% endif %} AS
{{ query }}
{%- endmacro %}

{# Creates the view by which other queries read a part of a model, with the number of the table it stands for. #}
{% macro spark__create_part_view(relation, part, number, comment) -%}
CREATE OR REPLACE VIEW {{ relation }} COMMENT {{ nbsql.text(comment) }} TBLPROPERTIES ('nbsql.number' = '{{ number }}') AS
SELECT * FROM {{ part }} AS part
{%- endmacro %}

{% macro spark__set_updated_at(spec) -%}
CACHE TABLE {{ spec }} AS
SELECT spec, nbsql_version, created_at, greatest({{ nbsql.utc_now() }}, updated_at + INTERVAL '0.000001' SECOND) AS updated_at
FROM {{ spec }} AS spec
{%- endmacro %}

{# Keeps the rows of the other side. #}
{% macro spark__delete_batches(relation, batches, number, after) -%}
{% set side_to_keep %}{% if after %}<={% else %}>{% endif %}{% endset -%}
CACHE TABLE {{ relation }} AS
SELECT * FROM {{ relation }} AS relation
WHERE batch IN (SELECT batch FROM {{ batches }} AS batches WHERE number {{ side_to_keep }} {{ number }})
{%- endmacro %}

{# The cells without those of features other than these, as a table. #}
{% macro spark__keep_features(statistics, features) -%}
CACHE TABLE {{ statistics }} AS
SELECT * FROM {{ statistics }} AS statistics
WHERE feature IS NULL{% if features %} OR feature IN ({{ nbsql.feature_names(features) }}){% endif +%}
{%- endmacro %}
