{# Spark's form of folds. #}

{% macro spark__drop_contributions(contributions, feature) -%}
CACHE TABLE {{ contributions }} AS
SELECT * FROM {{ contributions }} AS contributions WHERE feature IS DISTINCT FROM {{ nbsql.text(feature) }}
{%- endmacro %}
