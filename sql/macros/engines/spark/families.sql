{# Where families differ that look at the data before they count them. #}

{% macro spark__as_whole(x) -%}
TRY_CAST({{ x }} AS DECIMAL(38, 0))
{%- endmacro %}

{# To twelve digits: round takes no number of digits that depends on the row. #}
{% macro spark__round_to_twelve_digits(x) -%}
CAST(format_string('%.11e', {{ x }}) AS {{ nbsql.double() }})
{%- endmacro %}
