{# PostgreSQL's forms of sampling: the hash differs, and a number beyond the range of its type is an error. #}

{# The upper 53 bits of a 64-bit hash that takes a seed. #}
{% macro postgres__uniform(seed, feature, draw, position=none) -%}
{% set hashed -%}
CAST(nbsql_row AS TEXT) || ' ' || {{ nbsql.text((4 * feature + draw) | string) }}
{%- if position is not none %} || ' ' || CAST({{ position }} AS TEXT){% endif %}
{%- endset -%}
{% set bits %}(hashtextextended({{ hashed }}, {{ seed }}) >> 11) & 9007199254740991{% endset -%}
CAST({{ bits }} AS {{ nbsql.double() }}) / {{ nbsql.number(9007199254740992) }}
{%- endmacro %}

{# The value of a category is a text, whatever type it had. #}
{% macro postgres__cast_or_null(value, type) -%}
{% set limits = {'smallint': 32767, 'integer': 2147483647, 'bigint': 9223372036854774784} -%}
{% if type | lower in limits -%}
CASE WHEN abs(CAST({{ value }} AS NUMERIC)) <= {{ limits[type | lower] }} THEN CAST(CAST({{ value }} AS NUMERIC) AS {{ type }}) END
{%- elif type | lower == 'boolean' -%}
CAST(CAST({{ value }} AS {{ nbsql.string() }}) AS BOOLEAN)
{%- else -%}
CAST({{ value }} AS {{ type }})
{%- endif %}
{%- endmacro %}
