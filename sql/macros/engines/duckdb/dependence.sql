{# The sums over cells of pairs (evaluation/dependence.sql) by joins, which take half of the time of windows. #}
{% macro duckdb__sums_of_pairs() -%}
SELECT cells.*, classes.n AS of_class, xs.n AS of_x, ys.n AS of_y
FROM cells
{% for name, columns in [('classes', []), ('xs', ['x']), ('ys', ['y'])] %}
{% set keys %}a, b, class{% for column in columns %}, {{ nbsql.word(column) }}{% endfor %}{% endset %}
JOIN (
  SELECT {{ keys }}, sum(n) AS n FROM cells GROUP BY {{ keys }}
) AS {{ nbsql.word(name) }}
  ON {% for column in ['a', 'b', 'class'] + columns -%}
  {% set equals %}{% if loop.index > 3 %}IS NOT DISTINCT FROM{% else %}={% endif %}{% endset -%}
  {{ nbsql.word(name) }}.{{ nbsql.word(column) }} {{ equals }} cells.{{ nbsql.word(column) }}{% if not loop.last %} AND {% endif %}
  {%- endfor +%}
{% endfor %}
{%- endmacro %}
