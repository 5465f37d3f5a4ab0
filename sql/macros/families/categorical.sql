{#
  Categories, estimated by dirichlet.sql. A family of categories has two macros: its value as text, and an expression that is NULL where
  the value is missing.
#}

{% macro default__categorical_value(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{{ nbsql.text_as_fitted(feature, feature.column, feature.whole, x) }}
{%- endmacro %}

{#
  A value as text. A number is read in the type of the column that the model was fitted on: a frame with a gap in a column of whole
  numbers holds doubles, and 1.0 must find the value 1, and 1 the value 1.00 of a decimal. A fraction among whole numbers is none of them.
#}
{% macro default__text_as_fitted(feature, column, whole, x) -%}
{% if column in feature.time_types %}{{ nbsql.time_as_text(x, feature.time_types[column]) }}
{%- elif column in feature.fraction_types -%}
{% set kind = feature.fraction_types[column] -%}
{% set read %}TRY_CAST({{ x }} AS {{ nbsql.fraction(kind) }}){% endset -%}
CAST({{ nbsql.without_negative_zero(read) if kind | lower in ['double', 'float', 'real'] else read }} AS {{ nbsql.string() }})
{%- elif whole %}{{ nbsql.whole_as_text(x) }}
{%- else %}CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}{{ nbsql.binary() }}
{%- endmacro %}

{# A floating-point number, with 0 for -0, which equals it and has another text; the type stays. #}
{% macro without_negative_zero(x) -%}
CASE WHEN {{ x }} = 0 THEN abs({{ x }}) ELSE {{ x }} END
{%- endmacro %}

{# A date, a time or an interval as text, whatever the session: a time with a time zone is that of UTC. type: in lower case. #}
{% macro default__time_as_text(x, type) -%}
{% if type == 'timestamp with time zone' %}(CAST(TRY_CAST({{ x }} AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS {{ nbsql.string() }}) || '+00')
{%- else %}CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}
{%- endmacro %}

{# A number as text, a whole one without a point. The type of a column is known when a query is planned, so that no row tests it. #}
{% macro whole_as_text(x) -%}
CASE
  WHEN lower(typeof({{ x }})) LIKE '%int%' OR abs(TRY_CAST({{ x }} AS {{ nbsql.double() }}) % 1) BETWEEN 1e-300 AND 1
    THEN CAST({{ x }} AS {{ nbsql.string() }})
  ELSE CAST(TRY_CAST({{ x }} AS {{ nbsql.longest_whole() }}) AS {{ nbsql.string() }})
END
{%- endmacro %}

{# The type of the longest whole numbers. #}
{% macro default__longest_whole() -%}
HUGEINT
{%- endmacro %}

{# An expression that is NULL where a row lacks the feature: the family's own, or its value. #}
{% macro given(feature, relation) -%}
{% set own = nbsql[feature.family.name ~ '_given'] -%}
{% if own is defined and own is not none %}{{ own(feature, relation) }}
{%- else %}{{ nbsql[feature.family.name ~ '_value'](feature, relation) }}
{%- endif %}
{%- endmacro %}

{% macro categorical_given(feature, relation) -%}
{{ relation }}.{{ nbsql.ident(feature.column) }}
{%- endmacro %}

{# A value drawn at random (sample.sql). #}
{% macro categorical_drawn(feature, seed, position) -%}
drawn.value{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}
