{# The form of logistic regression for engines whose tables have no row numbers. #}

{# One row per sampled row of the design, which is one in `share`: y, weight (times `share`), z_j, code_f. #}
{% macro plain__logistic_sample(problem, design, share) -%}
SELECT
  y,
  weight * {{ share }} AS weight
  {%- for number in problem.numbers %}, z_{{ number.j }}{% endfor %}
  {%- for feature in problem.levels %}, code{{ nbsql.feature_suffix(feature) }}{% endfor %}

FROM (
  SELECT design.*, {{ nbsql.row_id() }} AS place FROM {{ design }} AS design
) AS design
WHERE place % {{ share }} = 0
{%- endmacro %}
