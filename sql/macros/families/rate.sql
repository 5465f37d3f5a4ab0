{# The sum of x in a class, and what the prior of a rate adds to it: the option of that name. #}
{% macro total_with_prior(of, option) -%}
(coalesce({{ of('n') }} * {{ of('mean') }}, 0) + {{ of(option) }})
{%- endmacro %}
