{#
  Several columns as one category (estimated by dirichlet.sql). Its value is the JSON text of the list of their values, such as
  ["sunny",null], which distinguishes NULL from the text 'null', and a comma within a value from one between two.
#}

{# The list of a row's values as text; NULL where one of them is missing and missing is not a value. #}
{% macro joint_value(feature, relation) -%}
{% if feature.family.nulls == 'category' -%}
{{ nbsql.values_as_json(feature, relation) }}
{%- else -%}
CASE WHEN {{ nbsql.has_all_columns(feature, relation) }} THEN {{ nbsql.values_as_json(feature, relation) }} END
{%- endif %}
{%- endmacro %}

{# An expression that is NULL where the value is missing. A list with gaps is a value where missing values are. #}
{% macro joint_given(feature, relation) -%}
{% if feature.family.nulls == 'category' %}TRUE{% else %}CASE WHEN {{ nbsql.has_all_columns(feature, relation) }} THEN TRUE END{% endif %}
{%- endmacro %}

{# The list of the values of some columns, as a JSON text. #}
{% macro values_as_json(feature, relation) -%}
{% set values -%}
  {%- for column in feature.columns -%}
  {% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
  {{ nbsql.text_as_fitted(feature, column, column in feature.family.integers, x) }}{{ nbsql.comma_blank(loop) }}
  {%- endfor -%}
{%- endset -%}
{{ nbsql.json_list(values) }}
{%- endmacro %}

{# A list of texts, as a JSON text. #}
{% macro json_list(values) -%} CAST(to_json({{ nbsql.array_of(values) }}) AS {{ nbsql.string() }}){{ nbsql.binary() }} {%- endmacro %}

{# The condition that no column of the feature is NULL. #}
{% macro has_all_columns(feature, relation) -%}
{% for column in feature.columns %}{{ relation }}.{{ nbsql.ident(column) }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor %}
{%- endmacro %}

{% macro joint_drawn(feature, seed, position) -%}
{{ nbsql.json_element(nbsql.of_feature('drawn.value', feature), position) }}
{%- endmacro %}
