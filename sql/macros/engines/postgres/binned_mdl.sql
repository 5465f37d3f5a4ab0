{# Where bins by the minimum description length differ. #}

{% macro postgres__round_to_ten_places(x) -%}
CAST(round(CAST({{ x }} AS NUMERIC), 10) AS {{ nbsql.double() }})
{%- endmacro %}
