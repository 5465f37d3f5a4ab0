{#
  Where scoring differs. PostgreSQL puts a sub-select's expressions in the place of their names, again and again where one is named
  often: OFFSET 0 keeps it from that.
#}

{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}

{#
  A square beyond every double, or below, is an error: no deviation counts for more than 1e150 standard deviations, nor for less than
  1e-150, of which nothing is left in any other. least passes over a NULL, so that a missing number must be looked for.
#}
{% macro postgres__gaussian_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set c %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE WHEN {{ x }} IS NOT NULL THEN parameters.peak{{ c }} - power(least(abs(({{ x }} - parameters.mean{{ c }}) * sqrt(parameters.precision{{ c }})), 1e150) + 1e-150, 2) END, 0)
{%- endmacro %}

{% macro postgres__lognormal_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
CASE WHEN {{ x }} > -{{ nbsql.infinity() }} THEN {{ nbsql.gaussian_term(feature, k) }} - CASE WHEN parameters.peak{{ nbsql.sub(feature) }}{{ nbsql.of(k) }} IS NULL THEN 0 ELSE {{ x }} END ELSE coalesce({{ x }}, 0) END
{%- endmacro %}
