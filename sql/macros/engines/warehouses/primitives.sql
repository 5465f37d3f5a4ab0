{# Forms that Snowflake, BigQuery and Trino share. A macro warehouses__name takes the place of the macro `name`. #}

{# A value as text: a whole number without a fraction, whatever its type, and another number as the engine writes a double. #}
{% macro warehouses__text_as_fitted(feature, column, whole, x) -%}
{% if whole -%}
{% set number = nbsql.as_whole(x) -%}
CASE WHEN {{ x }} = {{ number }} THEN CAST({{ number }} AS {{ nbsql.string() }}) ELSE CAST({{ x }} AS {{ nbsql.string() }}) END
{%- elif column in feature.fraction_types -%}
{% set number %}CAST({{ x }} AS {{ nbsql.double() }}){% endset -%}
CAST({{ nbsql.without_negative_zero(number) }} AS {{ nbsql.string() }})
{%- else -%}
CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}
{%- endmacro %}

{# A Boolean, or a number that is 0 or 1: its text, because a Boolean is cast to no double. #}
{% macro warehouses__yes_or_no(x, yes, no) -%}
{% set text %}lower(CAST({{ x }} AS {{ nbsql.string() }})){% endset -%}
CASE WHEN {{ text }} IN ('true', '1', '1.0', '1.0e0') THEN {{ yes }} WHEN {{ text }} IN ('false', '0', '0.0', '0.0e0') THEN {{ no }} END
{%- endmacro %}

{#
  The list of an expression of the place i of the first of `length` neighbouring words, as Trino writes it. A sequence whose end is before
  its start would count down.
#}
{% macro warehouses__runs_of_words(run, length) -%}
CASE WHEN cardinality(source.nbsql_words) >= {{ length }}
  THEN transform(sequence(1, cardinality(source.nbsql_words) - {{ length - 1 }}), i -> {{ run }})
  ELSE CAST(ARRAY[] AS ARRAY(VARCHAR))
END
{%- endmacro %}
