{#
  One row a class of the model and knot, from a calibration in a JSON file: method, class_no, class, temperature, slope, intercept, score,
  probability.
#}
{% macro plain__calibration_of_text(model, parameters, text) -%}
SELECT
  stored.method,
  classes.class_no,
  classes.class,
  {% for column in ['temperature', 'slope', 'intercept', 'score', 'probability'] %}
  stored.{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ nbsql.stored_calibration(text) }}
LEFT JOIN (
  {{ nbsql.numbered_classes(model, parameters) | indent(2) }}
) AS classes ON CAST(classes.class AS {{ nbsql.string() }}) = stored.class
{%- endmacro %}
