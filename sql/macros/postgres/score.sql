{#
  Where scoring differs. PostgreSQL has no word for all columns but some, so that those of the source are written out; and it puts
  a sub-select's expressions in the place of their names, again and again where one is named often: OFFSET 0 keeps it from that.
#}

{% macro postgres__passed(model) -%}
{% for column in model.columns %}{% if not loop.first %}  {% endif %}source.{{ nbsql.ident(column) }}{% if not loop.last %},
{% endif %}{% endfor %}
{%- endmacro %}

{% macro postgres__added(name, more='') -%}
source.nbsql_{{ nbsql.word(name) }}{% if more %}{{ more }}{% endif %} AS {{ nbsql.word(name) }}
{%- endmacro %}

{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}

{# What is costly to compute, once a row. #}
{% macro postgres__completed(inputs, features) -%}
{{ nbsql.with_log_factorials(inputs, features) }}
{%- endmacro %}

{% macro postgres__log_factorial_of(feature) -%}
{{ nbsql.log_factorial_once(feature) }}
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

{# The posteriors of a row of `scored`, a list by class_no; 0 where no class can explain the row. #}
{% macro postgres__posteriors(model) -%}
{% if model.class_numbers -%}
ARRAY[
  {% for k in model.class_numbers %}
  {% set difference %}source.nbsql_joint_{{ k }} - source.nbsql_log_evidence{% endset %}
  CASE WHEN source.nbsql_log_evidence > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(difference) }} ELSE 0 END{{ nbsql.comma(loop) }}
  {% endfor %}
]
{%- else -%}
{% set difference %}joint - source.nbsql_log_evidence{% endset -%}
{% set joints %}source.nbsql_joints{% endset -%}
{% set posterior %}CASE WHEN source.nbsql_log_evidence > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(difference) }} ELSE 0 END{% endset -%}
{{ nbsql.list_mapped(joints, posterior, 'joint') }}
{%- endif %}
{%- endmacro %}

{% macro postgres__lognormal_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
CASE WHEN {{ x }} > -{{ nbsql.infinity() }} THEN {{ nbsql.gaussian_term(feature, k) }} - CASE WHEN parameters.peak{{ nbsql.sub(feature) }}{{ nbsql.of(k) }} IS NULL THEN 0 ELSE {{ x }} END ELSE coalesce({{ x }}, 0) END
{%- endmacro %}
