{# The pairs of a row as an array. With a branch a pair, Spark would plan the rows again for each, which takes longer than all else. #}
{% macro spark__cells_of_pairs(coded, pairs, n, keys=['class'], gaps=(), few=false, numbered=false) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT pair.a, pair.b, {{ by }}, pair.x, pair.y, {{ n }} AS n
FROM (
  SELECT
    coded.*,
    explode(array(
      {% for a, b in pairs %}
      CASE WHEN {{ nbsql.has_both_values(a, b, gaps) }} THEN named_struct(
        'a', {{ a }}, 'b', {{ b }}, 'x', {{ nbsql.value_as_text(a) }}, 'y', {{ nbsql.value_as_text(b) }}) END{{ nbsql.comma(loop) }}
      {% endfor %}
    )) AS pair
  FROM {{ coded }} AS coded
) AS pairs
WHERE pair IS NOT NULL
GROUP BY pair.a, pair.b, {{ by }}, pair.x, pair.y
{%- endmacro %}
