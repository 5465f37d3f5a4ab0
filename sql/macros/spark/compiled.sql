{# Where the tables that scoring reads differ: elements of arrays, and arrays that become rows. #}

{% macro spark__laid_out(model, classes) -%}
{% for k in model.class_numbers -%}
{%+ if not loop.first %}  {%+ endif %}element_at({{ classes }}.labels, {{ k }}) AS class_{{ k }},
  element_at({{ classes }}.log_priors, {{ k }}) AS log_prior_{{ k }}{% if not loop.last %},
{% endif %}
{%- endfor %}
{%- for wanted in model.parameters %}
{%- set name = nbsql.parameter(wanted) %}
{%- for k in model.class_numbers if k == 1 or not wanted.parameter.common %},
  element_at(numbers, {{ (k - 1) * (model.parameters | length) + wanted.position }}) AS {{ name }}_{{ k }}
{%- endfor %}
{%- endfor %}

{%- endmacro %}

{% macro spark__parameters_by_class(model, parameters) -%}
SELECT inline(array(
  {% for k in model.class_numbers %}
  struct(
    {{ k }} AS class_no,
    class_{{ k }} AS class,
    log_prior_{{ k }} AS log_prior
    {%- for wanted in model.parameters %}
    {%- set name = nbsql.parameter(wanted) %},
    {{ name }}_{% if wanted.parameter.common %}1{% else %}{{ k }}{% endif %} AS {{ name }}
    {%- endfor %}

  ){{ nbsql.comma(loop) }}
  {% endfor %}
))
FROM {{ parameters }} AS parameters
{%- endmacro %}
