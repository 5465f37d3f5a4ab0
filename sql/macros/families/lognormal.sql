{#
  A positive number whose logarithm has a normal density in every class:

    ln p(x | c) = -ln x - ln(2 pi v_c) / 2 - (ln x - m_c)^2 / (2 v_c)

  It is counted and estimated as ln x by gaussian.sql, or with a prior by normal_inverse_gamma.sql. A number of 0 or less is refused
  by the fit, and outside the distribution to a score: no class explains it.
#}

{% macro lognormal_inputs(feature, centre, careful, centred) -%}
{% if centred %}{% set centre %}means.centre{{ nbsql.sub(feature) }}{% endset %}{% endif -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
{% set ln_x %}ln({{ x }}){% endset -%}
CASE WHEN {{ x }} > 0 THEN {% if careful %}{{ nbsql.finite(ln_x) }}{% else %}{{ ln_x }}{% endif %} WHEN {{ x }} <= 0 THEN -{{ nbsql.infinity() }} END
{%- if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature) }}
{%- if centred %},
{{ centre }} AS centre{{ nbsql.sub(feature) }}
{%- endif %}
{%- endmacro %}

{% macro lognormal_aggregates(model, feature, centre, careful) -%}
{{ nbsql.gaussian_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro lognormal_cells(feature, column) -%}
{{ nbsql.gaussian_cells(feature, column) }}
{%- endmacro %}

{% macro lognormal_term(feature, k, part=none) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}number.nbsql_x{{ i }}{% endset -%}
{% set c %}{{ i }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE
  WHEN {{ x }} > -{{ nbsql.infinity() }} THEN parameters.peak{{ c }} - parameters.precision{{ c }} * ({{ x }} - parameters.mean{{ c }}) * ({{ x }} - parameters.mean{{ c }}) - {{ x }}
  ELSE {{ x }}
END, 0)
{%- endmacro %}

{% macro lognormal_drawn(feature, seed, position) -%}
exp({{ nbsql.gaussian_drawn(feature, seed, position) }})
{%- endmacro %}
