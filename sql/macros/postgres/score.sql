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

{% macro postgres__added_nothing(name) -%}
CAST(NULL AS {{ nbsql.double() }}) AS {{ nbsql.word(name) }}
{%- endmacro %}

{% macro postgres__from_scored(model, scored) -%}
FROM {{ scored }} AS source
{%- if model.numbered %}

ORDER BY source.nbsql_row
{%- endif %}
{%- endmacro %}

{# What the terms of some features read of a row, once a row; in a second step what is costly to compute. #}
{% macro postgres__with_inputs(relation, features) -%}
{% if features -%}
{% set inputs -%}
SELECT
  source.*,
  {% for feature in features %}
  {%+ if feature.family.level %}{{ nbsql[feature.family.name ~ '_given'](feature, nbsql.word('source')) }} AS nbsql_x{{ nbsql.sub(feature) }}{% else %}{{ nbsql[feature.family.name ~ '_inputs'](feature, none, true, false) }}{%+ endif %}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ relation }} AS source
{%- endset -%}
(
  {{ nbsql.completed(inputs, features) | indent(2) }}
) AS number
{%- else -%}
{{ relation }} AS number
{%- endif %}
{%- endmacro %}

{# What is costly to compute, in a second step. #}
{% macro postgres__completed(inputs, features) -%}
{% set counts = features | selectattr('family.name', 'equalto', 'poisson') | list -%}
{% if counts -%}
SELECT
  counted.*
  {%- for feature in counts %},
  {% set x %}counted.nbsql_x{{ nbsql.sub(feature) }}{% endset %}
  {{ nbsql.log_factorial(x) }} AS nbsql_log_factorial{{ nbsql.sub(feature) }}
  {%- endfor %}

FROM (
  {{ inputs | indent(2) }}
  OFFSET 0
) AS counted
OFFSET 0
{%- else -%}
{{ inputs }}
OFFSET 0
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

{% macro postgres__poisson_term(feature, k, part=none) -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
{% set i %}{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}{% endset -%}
coalesce(CASE
  WHEN {{ x }} > 0 THEN {{ x }} * parameters.log_rate{{ i }} - parameters.rate{{ i }} - number.nbsql_log_factorial{{ nbsql.sub(feature) }}
  WHEN {{ x }} = 0 THEN -parameters.rate{{ i }}
  WHEN {{ x }} < 0 THEN -{{ nbsql.infinity() }}
END, 0)
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
