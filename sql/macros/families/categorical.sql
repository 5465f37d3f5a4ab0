{#
  Categories, estimated by dirichlet.sql. A family of categories has two macros: its value as text, and an expression that is NULL where
  the value is missing.
#}

{% macro categorical_value(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{{ nbsql.text_as_fitted(feature, feature.column, feature.whole, x) }}
{%- endmacro %}

{#
  A value as text, in the form of the type that the model was fitted on. Equal values of other types are the same: 1, 1.0 and 1.00, a FLOAT
  or DOUBLE and the decimal as which it is written, a date and its midnight. A value that the type does not have keeps its own form, in
  which it is none of those that the model has learnt. The type of a column is known when a query is planned, so that no row tests it.
#}
{% macro default__text_as_fitted(feature, column, whole, x) -%}
{% if column in feature.time_types %}{{ nbsql.time_as_text(x, feature.time_types[column]) }}
{%- elif column in feature.fraction_types -%}
{{ nbsql.fraction_as_text(x, feature.fraction_types[column]) }}
{%- elif whole %}{{ nbsql.whole_as_text(x) }}
{%- elif column in feature.untyped %}{{ nbsql.untyped_as_text(x) }}
{%- else %}CAST({{ x }} AS {{ nbsql.string() }})
{%- endif %}{{ nbsql.binary() }}
{%- endmacro %}

{#
  A number as text in the form of a type of fractions, or of whole numbers that are beyond the longest signed ones. It is read from its
  text, because a FLOAT or DOUBLE 0.1 has other digits as a DECIMAL(18, 18). A DOUBLE that was made of a FLOAT has the text of the FLOAT.
#}
{% macro default__fraction_as_text(x, type) -%}
{% set is_float, is_single = type | lower in ['double', 'float', 'real'], type | lower in ['float', 'real'] -%}
{% set given %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% set as_it_is %}TRY_CAST({{ x }} AS {{ nbsql.fraction(type) }}){% endset -%}
{% set as_read %}TRY_CAST({{ given }} AS {{ nbsql.fraction(type) }}){% endset -%}
{% set own_form %}CAST({{ nbsql.without_negative_zero(as_it_is) }} AS {{ nbsql.string() }}){% endset -%}
{% set form %}CAST({{ nbsql.without_negative_zero(as_read) if is_float else as_read }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ nbsql.is_of_type(x, [type]) }} THEN {% if is_float %}{{ own_form }}
  {%- else %}{{ given }}{% endif +%}
  {% if is_single -%}
  WHEN {{ nbsql.is_of_type(x, ['DOUBLE']) }} AND {{ as_it_is }} = {{ x }} THEN {{ own_form }}
  {% endif -%}
  WHEN {{ nbsql.same_number(given, form) }} THEN {{ form }}
  ELSE {{ nbsql.shortest_number(given) }}
END
{%- endmacro %}

{# Whether an expression has one of some types. #}
{% macro is_of_type(x, types) -%}
lower(typeof({{ x }})) IN ({% for type in types %}lower({{ nbsql.text(type) }}){{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{#
  Whether two texts are the same number as it is written: 1.50 and 1.5, 0.5 and .5, 1e+16 and 10000000000000000. Beside a power of ten
  the numbers are compared as doubles.
#}
{% macro same_number(a, b) -%}
CASE
  WHEN lower({{ a }}) LIKE '%e%' OR lower({{ b }}) LIKE '%e%'
    THEN TRY_CAST({{ a }} AS {{ nbsql.double() }}) = TRY_CAST({{ b }} AS {{ nbsql.double() }})
  ELSE {{ nbsql.shortest_number(nbsql.with_zero_before_point(a)) }} = {{ nbsql.shortest_number(nbsql.with_zero_before_point(b)) }}
END
{%- endmacro %}

{# A number as text, with 0.5 for .5, as DuckDB writes a DECIMAL(2,2); it is marked at its beginning. #}
{% macro with_zero_before_point(text) -%} replace(replace(concat('=', {{ text }}), '=.', '=0.'), '=-.', '=-0.') {%- endmacro %}

{# A number as text, without zeros at the end of its fraction. text: of a number. #}
{% macro shortest_number(text) -%}
CASE
  WHEN {{ text }} LIKE '%.%' AND lower({{ text }}) NOT LIKE '%e%'
    THEN trim(TRAILING '.' FROM trim(TRAILING '0' FROM {{ text }}))
  ELSE {{ text }}
END
{%- endmacro %}

{# A value as text of a model that knows no type for it: a number in its shortest form. #}
{% macro default__untyped_as_text(x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ nbsql.is_of_type(x, ['FLOAT', 'DOUBLE']) }} OR lower(typeof({{ x }})) LIKE 'decimal%' THEN {{ nbsql.shortest_number(text) }}
  ELSE {{ text }}
END
{%- endmacro %}

{# A floating-point number, with 0 for -0, which equals it and has another text; the type stays. #}
{% macro without_negative_zero(x) -%} CASE WHEN {{ x }} = 0 THEN abs({{ x }}) ELSE {{ x }} END {%- endmacro %}

{# A date, a time or an interval as text, whatever the session: a time with a time zone is that of UTC. type: in lower case. #}
{% macro default__time_as_text(x, type) -%}
{% set given %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% if type == 'timestamp with time zone' %}
{% set read %}TRY_CAST({{ x }} AS TIMESTAMPTZ){% endset -%}
(CAST({{ read }} AT TIME ZONE 'UTC' AS {{ nbsql.string() }}) || CASE WHEN isfinite({{ read }}) THEN '+00' ELSE '' END)
{%- elif type == 'date' or type.startswith('timestamp') -%}
{% set read %}TRY_CAST({{ x }} AS {{ nbsql.word(type) }}){% endset -%}
CASE
  WHEN {{ nbsql.is_of_type(x, [type]) }} THEN {{ given }}
  WHEN {{ nbsql.is_same_time(x, read) }} THEN CAST({{ read }} AS {{ nbsql.string() }})
  ELSE {{ given }}
END
{%- else %}{{ given }}
{%- endif %}
{%- endmacro %}

{# Whether a date or time is that as which it was read: 00:00:00 of a day is the day. Nanoseconds have a smaller range. #}
{% macro is_same_time(x, read) -%}
CASE
  WHEN {{ nbsql.is_of_type(x, ['timestamp_ns']) }} THEN TRY_CAST({{ x }} AS TIMESTAMP_NS) = TRY_CAST({{ read }} AS TIMESTAMP_NS)
  ELSE TRY_CAST({{ x }} AS TIMESTAMP) = TRY_CAST({{ read }} AS TIMESTAMP)
END
{%- endmacro %}

{# A number as text, a whole one without a point. The type of a column is known when a query is planned, so that no row tests it. #}
{% macro default__whole_as_text(x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN lower(typeof({{ x }})) LIKE 'decimal%' THEN {{ nbsql.shortest_number(text) }}
  WHEN lower(typeof({{ x }})) LIKE '%int%' OR abs(TRY_CAST({{ x }} AS {{ nbsql.double() }}) % 1) BETWEEN 1e-300 AND 1
    THEN CAST({{ x }} AS {{ nbsql.string() }})
  ELSE CAST(TRY_CAST({{ x }} AS {{ nbsql.longest_whole() }}) AS {{ nbsql.string() }})
END
{%- endmacro %}

{# An expression that is NULL where a row lacks the feature: the family's own, or its value. #}
{% macro given(feature, relation) -%}
{% set macros = feature.family.macros -%}
{{ nbsql[macros.given if 'given' in macros else macros.value](feature, relation) }}
{%- endmacro %}

{% macro categorical_given(feature, relation) -%} {{ relation }}.{{ nbsql.ident(feature.column) }} {%- endmacro %}

{# A value drawn at random (sample.sql). #}
{% macro categorical_drawn(feature, seed, position) -%} drawn.value{{ nbsql.feature_suffix(feature) }} {%- endmacro %}
