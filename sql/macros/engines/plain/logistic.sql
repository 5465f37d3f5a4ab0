{# The form of logistic regression for engines whose tables have no row numbers. #}

{# One row per sampled row of the design, which is one in `share`: weight (times `share`), and the other columns. #}
{% macro plain__logistic_sample(others, design, share) -%}
SELECT
  {% for name in others %}{{ nbsql.ident(name) }}, {% endfor %}
  weight * {{ share }} AS weight

FROM (
  SELECT design.*, {{ nbsql.row_id() }} AS place FROM {{ design }} AS design
) AS design
WHERE place % {{ share }} = 0
{%- endmacro %}
