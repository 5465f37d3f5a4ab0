{# PostgreSQL's form of bins by minimum description length. #}

{% macro postgres__round_to_ten_places(x) -%}
CAST(round(CAST({{ x }} AS NUMERIC), 10) AS {{ nbsql.double() }})
{%- endmacro %}
