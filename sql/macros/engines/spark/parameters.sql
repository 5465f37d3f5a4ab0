{# Spark's forms of the tables that scoring reads: arrays that become rows. #}

{# One row per class (and segment): nbsql_segment, class_no, of_class, class, log_prior, and the parameters of its features. #}
{% macro spark__parameters_by_class(model, parameters) -%}
SELECT {% if model.facts.has_segments %}nbsql_segment, {% endif %}inline(array(
  {% for k in model.form.class_numbers %}
  struct(
    {{ k }} AS class_no,
    {% if model.facts.has_components %}
    {{ model.form.class_of_component[k - 1] }} AS of_class,
    {% endif %}
    class_{{ k }} AS class,
    log_prior_{{ k }} AS log_prior
    {%- for item in model.facts.parameters %}
    {%- set name = nbsql.parameter_name(item) %},
    {{ name }}_{% if item.parameter.common %}1{% else %}{{ k }}{% endif %} AS {{ name }}
    {%- endfor +%}
  ){{ nbsql.comma(loop) }}
  {% endfor %}
))
FROM {{ parameters }} AS parameters
{%- endmacro %}

{#
  One row of constants, which Spark compiles into the queries that read them. columns: for each column its name, its type, its value (none
  for NULL), and whether it is a number with digits.
#}
{% macro spark__constant_row(columns) -%}
SELECT
  {% for name, type, value, has_digits in columns %}
  {% set literal %}
  {%- if value is none %}NULL{% elif has_digits %}{{ nbsql.number(value) }}{% else %}{{ nbsql.text(value) }}{% endif -%}
  {% endset %}
  CAST({{ literal }} AS {{ nbsql.word(type) }}) AS {{ nbsql.word(name) }}{{ nbsql.comma(loop) }}
  {% endfor %}
{%- endmacro %}
