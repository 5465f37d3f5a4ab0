{#
  Bags of tokens, in lists and in maps: the wide scan counts the bags themselves, where it must be known how many there are. What is
  in them is counted by tokens.sql.
#}

{% macro tokens_inputs(feature, centre, careful, centred) -%}
{{ nbsql.text_inputs(feature, centre, careful, centred) }}
{%- endmacro %}

{% macro tokens_aggregates(model, feature, centre, careful) -%}
{{ nbsql.text_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro tokens_cells(feature, column) -%}
{{ nbsql.text_cells(feature, column) }}
{%- endmacro %}

{% macro token_counts_inputs(feature, centre, careful, centred) -%}
{{ nbsql.text_inputs(feature, centre, careful, centred) }}
{%- endmacro %}

{% macro token_counts_aggregates(model, feature, centre, careful) -%}
{{ nbsql.text_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro token_counts_cells(feature, column) -%}
{{ nbsql.text_cells(feature, column) }}
{%- endmacro %}

{% macro tokens_weights(feature, column, degree) -%}
{{ nbsql.other_weights(feature, column) }}
{%- endmacro %}

{% macro token_counts_weights(feature, column, degree) -%}
{{ nbsql.other_weights(feature, column) }}
{%- endmacro %}

{# The tokens of a row drawn at random (sample.sql). #}
{% macro tokens_drawn(feature, seed, position) -%}
coalesce(bag{{ nbsql.sub(feature) }}.bag, [])
{%- endmacro %}

{% macro token_counts_drawn(feature, seed, position) -%}
coalesce(list_aggregate(bag{{ nbsql.sub(feature) }}.bag, 'histogram'), MAP {})
{%- endmacro %}
