{#
  Bags of tokens in lists and in maps. The wide scan counts the bags themselves where their number is needed; tokens.sql counts the tokens
  in them.
#}

{# The tokens of a row drawn at random (sample.sql). #}
{% macro default__tokens_drawn(feature, seed, position) -%}
coalesce(bag{{ nbsql.feature_suffix(feature) }}.bag, [])
{%- endmacro %}

{% macro default__token_counts_drawn(feature, seed, position) -%}
coalesce(list_aggregate(bag{{ nbsql.feature_suffix(feature) }}.bag, 'histogram'), MAP {})
{%- endmacro %}
