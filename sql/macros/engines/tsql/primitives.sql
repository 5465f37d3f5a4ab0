{# Forms of SQL Server (2016 and later) and Azure SQL. A macro tsql__name takes the place of the macro `name`. #}

{# GREATEST came with SQL Server 2022. #}
{% macro tsql__greatest_of_few(values) -%}
{% set rows %}{% for value in values %}({{ value }}){{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
(SELECT MAX(numbers.number) FROM (VALUES {{ rows }}) AS numbers(number))
{%- endmacro %}
