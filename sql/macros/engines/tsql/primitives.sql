{# Where SQL Server (2016 and later) and Azure SQL write otherwise. A macro tsql__name takes the place of the macro `name`. #}

{% macro tsql__double() -%} FLOAT {%- endmacro %}

{% macro tsql__string() -%} NVARCHAR(4000) {%- endmacro %}

{# There is none. #}
{% macro tsql__infinity() -%} CAST(NULL AS FLOAT) {%- endmacro %}

{% macro tsql__natural_log(x) -%}
LOG({{ x }})
{%- endmacro %}

{# GREATEST came with 2022. #}
{% macro tsql__greatest_of_few(values) -%}
{% set rows %}{% for value in values %}({{ value }}){% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
(SELECT MAX(numbers.number) FROM (VALUES {{ rows }}) AS numbers(number))
{%- endmacro %}

{# As it is set up, the case of a letter counts for nothing. #}
{% macro tsql__exact(x, kind) -%}
{% if kind == 'text' %}{{ x }} COLLATE Latin1_General_100_BIN2{% else %}{{ x }}{% endif %}
{%- endmacro %}

{% macro tsql__exact_literal(x, kind) -%}
{{ nbsql.exact(x, kind) }}
{%- endmacro %}

{# A BIT is no condition. #}
{% macro tsql__true_literal() -%} 1 {%- endmacro %}

{% macro tsql__false_literal() -%} 0 {%- endmacro %}
