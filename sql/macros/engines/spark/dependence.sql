{# The pairs of a row as an array: a branch a pair would have the rows planned anew for each, which takes longer than all else. #}
{% macro spark__cells_of_pairs(pairs) -%}
SELECT pair.a, pair.b, class, pair.x, pair.y, CAST(count(*) AS {{ nbsql.double() }}) AS n
FROM (
  SELECT
    class,
    explode(array(
      {% for a, b in pairs %}
      named_struct('a', {{ a[1] }}, 'b', {{ b[1] }}, 'x', value_{{ a[1] }}, 'y', value_{{ b[1] }}){{ nbsql.comma(loop) }}
      {% endfor %}
    )) AS pair
  FROM coded
) AS pairs
WHERE pair.x IS NOT NULL AND pair.y IS NOT NULL
GROUP BY pair.a, pair.b, class, pair.x, pair.y
{%- endmacro %}
