{# Where counting differs: a list has one type, and what overflows, or comes too near 0, is an error. #}

{#
  Labels of text are compared byte by byte, whatever the collation of their database, so that ties and the order of the classes are
  the same everywhere.
#}
{% macro postgres__as_label(x, type) -%}
{{ x }}{% if type | lower in ['text', 'character varying', 'character', 'name', 'citext'] %} COLLATE "C"{% endif %}
{%- endmacro %}

{% macro postgres__target(model) -%}
{% set label %}source.{{ nbsql.ident(model.target) }}{% endset -%}
{{ nbsql.as_label(label, model.target_type) }}
{%- endmacro %}

{# Guarded in every scan. #}
{% macro postgres__input(feature, column, j=none, centre=none, careful=false) -%}
{% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset -%}
{{ nbsql.finite(x) }}{% if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature, j) }}
{%- endmacro %}

{% macro postgres__breaks_binary(column) -%}
CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}) NOT IN (0, 1)
{%- endmacro %}

{# The user's expression as text; a double is written without a point where it is whole. #}
{% macro postgres__sliced(source, expression) -%}
(
  SELECT source.*, CAST(({{ expression }}) AS {{ nbsql.string() }}) COLLATE "C" AS nbsql_slice
  FROM {{ source }} AS source
)
{%- endmacro %}

{#
  Squares of numbers and of their distances from one of them are not below every double, as `finite` leaves nothing nearer to 0 than
  1e-140; about a mean, or weighed, they may be.
#}
{% macro postgres__gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}nbsql_x{{ i }}{% endset -%}
,
  {%+ if careful %}max(centre{{ i }}){% else %}{{ centre }}{%+ endif %} AS centre{{ i }},
  {{ nbsql.tally(model, x) }} AS n{{ i }},
  {{ nbsql.total(model, x) }} AS sum{{ i }},
  {%+ if careful or model.weight %}sum({% if model.weight %}weight * {% endif %}CASE WHEN {{ x }} IS NOT NULL THEN ({{ nbsql.square(x) }}) END){% else %}sum({{ x }} * {{ x }}){%+ endif %} AS squares{{ i }}
{%- endmacro %}

{# A whole number has the same text here, whichever type it has; a decimal has that of its type. #}
{% macro postgres__categorical_value(feature, relation) -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{{ nbsql.as_fitted(feature, feature.column, feature.whole, x) }} COLLATE "C"
{%- endmacro %}

{% macro postgres__as_fitted(feature, column, whole, x) -%}
{% set text %}CAST({{ x }} AS {{ nbsql.string() }}){% endset -%}
{% if whole %}regexp_replace({{ text }}, '\.0+$', ''){% else %}{{ text }}{% endif %}
{%- endmacro %}

{# A number or a yes or no, by its text, because PostgreSQL casts neither into the other. #}
{% macro postgres__bernoulli_inputs(feature, centre, careful, centred) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ x }} IN ('true', '1') THEN TRUE
  WHEN {{ x }} IN ('false', '0') THEN FALSE
  ELSE CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN TRUE WHEN 0 THEN FALSE END
END AS nbsql_x{{ nbsql.sub(feature) }}
{%- endmacro %}

{# The logarithm of 0 is an error; a number that has none counts as missing in the sums, and the rule above 0 refuses it. #}
{% macro postgres__lognormal_inputs(feature, centre, careful, centred) -%}
{% if centred %}{% set centre %}means.centre{{ nbsql.sub(feature) }}{% endset %}{% endif -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
CASE WHEN {{ x }} > 0 AND {{ x }} < {{ nbsql.infinity() }} THEN ln({{ x }}) WHEN {{ x }} <= 0 THEN {% if centre is none %}-{{ nbsql.infinity() }}{% else %}NULL{% endif %} END
{%- if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature) }}
{%- if centred %},
{{ centre }} AS centre{{ nbsql.sub(feature) }}
{%- endif %}
{%- endmacro %}
