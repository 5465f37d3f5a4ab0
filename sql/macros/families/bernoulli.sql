{#
  A yes or no (BOOLEAN, or a column of 0 and 1):

    P(true | c) = (n_true + alpha) / (n_true + n_false + alpha + beta)

  alpha and beta are the pseudo-counts of a Beta prior. The estimate is the one of a category with the two declared levels
  true and false (families/categorical.sql); what differs is that it is counted and scored without a join. A number that is
  neither 0 nor 1 is refused by the fit, and missing to a score.
#}

{% macro bernoulli_inputs(feature, centre, careful, centred) -%}
{% set x %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if careful or feature.floating -%}
CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN TRUE WHEN 0 THEN FALSE END
{%- else -%}
CAST({{ x }} AS BOOLEAN)
{%- endif %} AS nbsql_x{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro bernoulli_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.sub(feature) -%}
{% set yes %}CASE WHEN nbsql_x{{ i }} THEN 1 END{% endset -%}
{% set no %}CASE WHEN NOT nbsql_x{{ i }} THEN 1 END{% endset -%}
{% set missing %}CASE WHEN nbsql_x{{ i }} IS NULL THEN 1 END{% endset -%}
,
  {{ nbsql.tally(model, yes) }} AS true{{ i }},
  {{ nbsql.tally(model, no) }} AS false{{ i }}
  {%- if feature.family.nulls == 'category' %},
  {{ nbsql.tally(model, missing) }} AS missing{{ i }}
  {%- endif %}
{%- endmacro %}

{% macro bernoulli_cells(feature, column) -%}
{% for level in ['true', 'false'] -%}
{% set n %}{{ nbsql.word(level) }}{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, value=nbsql.text(level)) }}
{%- if loop.first %}, {% endif %}
{%- endfor %}
{%- if feature.family.nulls == 'category' -%}
{% set n %}missing{{ nbsql.sub(feature) }}{% endset -%}
, {{ nbsql.summed_cell(feature, column, n) }}
{%- endif %}
{%- endmacro %}

{% macro bernoulli_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
CASE WHEN {{ x }} THEN parameters.true{{ i }} WHEN NOT {{ x }} THEN parameters.false{{ i }} ELSE {% if feature.family.nulls == 'category' %}coalesce(parameters.missing{{ i }}, 0){% else %}0{% endif %} END
{%- endmacro %}

{% macro bernoulli_drawn(feature, seed, position) -%}
CASE drawn.value{{ nbsql.sub(feature) }} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END
{%- endmacro %}

{% macro bernoulli_weights(feature, column, degree) -%}
{% for level in ['true', 'false'] -%}
{% set weight %}{{ nbsql.word(level) }}{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.weight_of(feature, column, weight, 'is', nbsql.text(level)) }}{% if loop.first %}, {% endif %}
{%- endfor %}
{%- if feature.family.nulls == 'category' %}
{%- set weight %}missing{{ nbsql.sub(feature) }}{% endset -%}
, {{ nbsql.weight_of(feature, column, weight, 'is') }}
{%- endif %}
{%- endmacro %}
