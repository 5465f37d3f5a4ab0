{#
  Several columns as one category (estimated by dirichlet.sql), which is the list of their values: a JSON text such as
  ["sunny",null], which tells NULL from the text 'null', and a comma in a value from one between two.
#}

{# The list of the values of a row as text, NULL where one of them is missing and that is no value. #}
{% macro joint_value(feature, relation) -%}
{% if feature.family.nulls == 'category' -%}
{{ nbsql.values_as_json(feature, relation) }}
{%- else -%}
CASE WHEN {{ nbsql.has_all_columns(feature, relation) }} THEN {{ nbsql.values_as_json(feature, relation) }} END
{%- endif %}
{%- endmacro %}

{# A list with gaps is a value, where missing values are. #}
{% macro joint_given(feature, relation) -%}
{% if feature.family.nulls == 'category' %}TRUE{% else %}CASE WHEN {{ nbsql.has_all_columns(feature, relation) }} THEN TRUE END{% endif %}
{%- endmacro %}

{# The list of the values of some columns, as a text of JSON. #}
{% macro values_as_json(feature, relation) -%}
{% set values -%}
  {%- for column in feature.columns -%}
  {% set x %}{{ relation }}.{{ nbsql.ident(column) }}{% endset -%}
  {{ nbsql.text_as_fitted(feature, column, column in feature.family.integers, x) }}{% if not loop.last %}, {% endif %}
  {%- endfor -%}
{%- endset -%}
{{ nbsql.json_list(values) }}
{%- endmacro %}

{# A list of texts, as a text of JSON. #}
{% macro json_list(values) -%}
CAST(to_json({{ nbsql.array_of(values) }}) AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endmacro %}

{# An element of such a list, the first being 0; NULL where it is null, or there is none. #}
{% macro default__json_element(list, position) -%}
json_extract_string({{ list }}, '$[{{ position }}]')
{%- endmacro %}

{% macro has_all_columns(feature, relation) -%}
{% for column in feature.columns %}{{ relation }}.{{ nbsql.ident(column) }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor %}
{%- endmacro %}

{% macro joint_drawn(feature, seed, position) -%}
{% set drawn %}drawn.value{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.json_element(drawn, position) }}
{%- endmacro %}
