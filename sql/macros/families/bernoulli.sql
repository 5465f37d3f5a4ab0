{#
  A Boolean, or a column of 0 and 1:

    P(true | c) = (n_true + alpha) / (n_true + n_false + alpha + beta)

  alpha and beta are the pseudo-counts of a Beta prior. The estimate is that of a category with the two declared levels true and false
  (families/categorical.sql), but it is counted and scored without a join. The fit refuses a number that is neither 0 nor 1; a score
  treats it as missing.
#}

{# The column of a scan: the Boolean, NULL if it is missing. #}
{% macro default__bernoulli_inputs(feature, centre, careful, centred) -%}
{% set x %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if careful or feature.floating -%}
{{ nbsql.yes_or_no(x, nbsql.word('true'), nbsql.word('false')) }}
{%- else -%}
{{ nbsql.boolean_of(x) }}
{%- endif %} AS nbsql_x{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{# The aggregates of a scan: how often a class has true and false, and where missing is a value, how often it is missing. #}
{% macro bernoulli_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set yes %}CASE WHEN nbsql_x{{ i }} THEN 1 END{% endset -%}
{% set no %}CASE WHEN NOT nbsql_x{{ i }} THEN 1 END{% endset -%}
{% set missing %}CASE WHEN nbsql_x{{ i }} IS NULL THEN 1 END{% endset -%}
,
  {{ nbsql.weighted_count(model, yes) }} AS true{{ i }},
  {{ nbsql.weighted_count(model, no) }} AS false{{ i }}
  {%- if feature.family.nulls == 'category' %},
  {{ nbsql.weighted_count(model, missing) }} AS missing{{ i }}
  {%- endif %}
{%- endmacro %}

{# One column of its cells, as list elements: those of true, of false, and where missing is a value, of missing. #}
{% macro bernoulli_cells(feature, column) -%}
{% for level in ['true', 'false'] -%}
{% set n %}{{ nbsql.word(level) }}{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, value=nbsql.text(level)) }}
{{- nbsql.comma_blank(loop) }}
{%- endfor %}
{%- if feature.family.nulls == 'category' -%}
, {{ nbsql.summed_cell(feature, column, nbsql.of_feature('missing', feature)) }}
{%- endif %}
{%- endmacro %}

{#
  The log-likelihood in class k of a row's Boolean, or of its being missing if missing is a value, else 0. If no row of the fit lacked it,
  missing counts as a value never seen.
#}
{% macro bernoulli_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% set if_true, if_false = nbsql.parameter_column(feature, 'true', k), nbsql.parameter_column(feature, 'false', k) -%}
{% set unseen %}{% if feature.family.unseen == 'smooth' %}{{ nbsql.parameter_column(feature, 'unseen', k) }}, {% endif %}{% endset -%}
{% set known = nbsql.parameter_column(feature, 'missing', k) -%}
{% set missing %}{% if feature.family.nulls == 'category' %}coalesce({{ known }}, {{ unseen }}0){% else %}0{% endif %}{% endset -%}
CASE WHEN {{ x }} THEN {{ if_true }} WHEN NOT {{ x }} THEN {{ if_false }} ELSE {{ missing }} END
{%- endmacro %}

{% macro bernoulli_drawn(feature, seed, position) -%}
CASE drawn.value{{ nbsql.feature_suffix(feature) }} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END
{%- endmacro %}

{# Its weights in a linear form: those of true and false, and where missing is a value, those of missing and of a value never seen. #}
{% macro bernoulli_weights(feature, column, degree) -%}
{% for level in ['true', 'false'] -%}
{% set weight %}{{ nbsql.word(level) }}{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, weight, 'is', nbsql.text(level)) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- if feature.family.nulls == 'category' %}
{%- set weight %}missing{{ nbsql.feature_suffix(feature) }}{% endset -%}
, {{ nbsql.linear_weight(feature, column, weight, 'is') }}
{%- if feature.family.unseen == 'smooth' %}
{%- set unseen %}unseen{{ nbsql.feature_suffix(feature) }}{% endset -%}
, {{ nbsql.linear_weight(feature, column, unseen, 'unseen') }}
{%- endif %}
{%- endif %}
{%- endmacro %}
