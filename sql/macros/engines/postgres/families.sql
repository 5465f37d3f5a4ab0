{# PostgreSQL's forms of the families that look at the data before they count it. #}

{% macro postgres__json_element(list, position) -%}
(CAST({{ list }} AS JSON) ->> {{ position }})
{%- endmacro %}

{% macro postgres__cell_number(value) -%}
CAST({{ value }} AS BIGINT)
{%- endmacro %}

{# Rounds a number to twelve significant digits. #}
{% macro postgres__round_to_twelve_digits(x) -%}
CASE WHEN {{ x }} > 1e-290 THEN round(CAST({{ x }} AS NUMERIC), 11 - CAST(floor(log({{ x }})) AS INTEGER)) ELSE 0 END
{%- endmacro %}
