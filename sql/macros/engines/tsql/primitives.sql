{# Forms of SQL Server (2016 and later) and Azure SQL. A macro tsql__name takes the place of the macro `name`. #}

{% macro tsql__double() -%} FLOAT {%- endmacro %}

{% macro tsql__string() -%} NVARCHAR(4000) {%- endmacro %}

{# SQL Server has no infinity. #}
{% macro tsql__infinity() -%} CAST(NULL AS FLOAT) {%- endmacro %}

{% macro tsql__natural_log(x) -%}
LOG({{ x }})
{%- endmacro %}

{# GREATEST came with SQL Server 2022. #}
{% macro tsql__greatest_of_few(values) -%}
{% set rows %}{% for value in values %}({{ value }}){% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
(SELECT MAX(numbers.number) FROM (VALUES {{ rows }}) AS numbers(number))
{%- endmacro %}

{# With SQL Server's default settings the case of letters does not count in a comparison. #}
{% macro tsql__exact(x, kind) -%}
{% if kind == 'text' %}{{ x }} COLLATE Latin1_General_100_BIN2{% else %}{{ x }}{% endif %}
{%- endmacro %}

{% macro tsql__exact_literal(x, kind) -%}
{{ nbsql.exact(x, kind) }}
{%- endmacro %}

{# A BIT is not a condition. #}
{% macro tsql__true_literal() -%} 1 {%- endmacro %}

{% macro tsql__false_literal() -%} 0 {%- endmacro %}

{% macro tsql__part_of_time(x, part) -%} DATEPART({{ nbsql.word(part) }}, {{ x }}) {%- endmacro %}

{# 1900-01-01 was a Monday; DATEPART depends on the session. #}
{% macro tsql__number_of_weekday(x) -%} (DATEDIFF(day, '19000101', {{ x }}) % 7 + 7) % 7 + 1 {%- endmacro %}
