{# Where logistic regression differs: no table has row numbers. #}

{# One row a row of one in `share` of the design: y, weight (times `share`), z_j, code_f. #}
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
