{# Spark's forms for tokens: their lists are arrays. Patterns, letters and capitals are those of Java. #}

{# To stand in a SELECT: one row per token of the row: value, times. #}
{% macro spark__token_rows(feature) -%}
{% set column %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if 'token counts' in feature.family.accepts -%}
{% set counted -%}
{% if feature.family.presence %}{{ nbsql.presence_of_token(nbsql.word('times')) }}{% else %}CAST(times AS {{ nbsql.double() }}){% endif %}
{%- endset -%}
explode(transform_values({{ column }}, (value, times) -> {{ counted }})) AS (value, times)
{%- else -%}
{% set list -%}
{% if 'text' in feature.family.accepts %}{{ nbsql.token_terms(feature.family) }}
{%- elif feature.family.presence %}{{ nbsql.distinct_elements(column) }}
{%- else %}{{ column }}
{%- endif %}
{%- endset -%}
explode({{ list }}) AS value, 1 AS times
{%- endif %}
{%- endmacro %}

{# A text without its marks, which normal form D has as characters of their own. #}
{% macro spark__without_accents(x) -%}
CASE
  WHEN {{ x }} RLIKE r'[^\x00-\x7F]' THEN reflect(
    'com.ibm.icu.text.Normalizer',
    'compose',
    regexp_replace(reflect('com.ibm.icu.text.Normalizer', 'decompose', {{ x }}, FALSE), r'\p{M}+', ''),
    FALSE
  )
  ELSE {{ x }}
END
{%- endmacro %}

{# The words of a list for which a condition on `word` holds. #}
{% macro spark__list_filtered(list, condition) -%}
filter(
  {{ list }},
  word -> {{ condition }}
)
{%- endmacro %}

{# The list of an expression of the place i, from 0, of the first of `length` neighbouring words. #}
{% macro spark__runs_of_words(run, length) -%}
CASE WHEN size(source.nbsql_words) >= {{ length }}
  THEN transform(sequence(0, size(source.nbsql_words) - {{ length }}), i -> {{ run }})
  ELSE CAST(array() AS ARRAY<{{ nbsql.string() }}>)
END
{%- endmacro %}
