{# Spark's forms of the families that look at the data before they count it. #}

{% macro spark__as_whole(x) -%}
TRY_CAST({{ x }} AS DECIMAL(38, 0))
{%- endmacro %}

{# Rounds a number to twelve significant digits. Spark's round does not accept a number of digits that depends on the row. #}
{% macro spark__round_to_twelve_digits(x) -%}
CAST(format_string('%.11e', {{ x }}) AS {{ nbsql.double() }})
{%- endmacro %}
