{# What a file of JSON says of a calibration, of the classes that the model has. #}
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
