{# Spark's forms of sampling: the hash, and the assembly of a bag. #}

{# The upper 53 bits of a 64-bit hash. #}
{% macro spark__uniform(seed, feature, draw, position=none) -%}
{% set hashed -%}
CAST({{ seed }} AS BIGINT), CAST(nbsql_row AS BIGINT), CAST({{ 4 * feature + draw }} AS BIGINT)
{%- if position is not none %}, CAST({{ position }} AS BIGINT){% endif %}
{%- endset -%}
CAST(shiftrightunsigned(xxhash64({{ hashed }}), 11) AS {{ nbsql.double() }}) / {{ nbsql.number(9007199254740992) }}
{%- endmacro %}

{# Spark would truncate a double where other engines round it. #}
{% macro spark__cast_or_null(value, type) -%}
{% set is_whole = type | lower in ['tinyint', 'smallint', 'int', 'bigint'] -%}
TRY_CAST({% if is_whole %}TRY_CAST({{ value }} AS DECIMAL(38, 0)){% else %}{{ value }}{% endif %} AS {{ type }})
{%- endmacro %}

{# The map of the tokens of a drawn row to their counts. #}
{% macro spark__token_counts_drawn(feature, seed, position) -%}
{% set bag %}bag{{ nbsql.feature_suffix(feature) }}.bag{% endset -%}
coalesce(
    map_from_entries(transform(array_distinct({{ bag }}), token -> struct(token, size(filter({{ bag }}, other -> other = token))))),
    CAST(map() AS MAP<{{ nbsql.string() }}, INT>)
  )
{%- endmacro %}
