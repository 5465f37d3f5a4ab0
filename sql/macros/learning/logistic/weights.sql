{#
  The relation of learnt weights: class, feature, value, weight, mean. The score of a class is the sum over the features of
  weight (x - mean) for a number, which has a mean, of the weight of its value for a category, and of weight x for a count column. The bias
  is the row without a feature. With two classes, the score is that of the larger label against the smaller one. Those of the features of
  a weighted model are in estimating/weighted.sql.

  rows: the number of the class, and the other columns. classes: class_no, class.
#}
{% macro learnt_weights(classes, rows) -%}
SELECT classes.class, weights.feature, weights.value, weights.weight, weights.mean
FROM {% call(row, place) nbsql.constants(rows, 'weights', ['place', 'class_no', 'feature', 'value', 'weight', 'mean']) -%}
{{ place }}, {{ row[0] }}, {{ nbsql.nullable_text(row[1]) }}, {{ nbsql.nullable_text(row[2]) }}, {{ nbsql.number(row[3]) }}, {# -#}
{{ nbsql.nullable_double(row[4]) }}
{%- endcall +%}
JOIN {{ classes }} AS classes ON classes.class_no = weights.class_no
ORDER BY weights.place ASC NULLS LAST
{%- endmacro %}
