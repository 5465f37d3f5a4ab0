{# The sum of x in a class, plus the prior's contribution to it: the option of that name. #}
{% macro total_with_prior(get, option) -%} (coalesce({{ get('n') }} * {{ get('mean') }}, 0) + {{ get(option) }}) {%- endmacro %}
