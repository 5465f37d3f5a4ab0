{# Where tokens differ: their lists are arrays. A pattern is one of Java's, and so is what a letter is, and a capital. #}

{% macro spark__tokens(feature, source, kept, condition=none) -%}
SELECT *
FROM (
  SELECT
    {{ kept }},
    {% if feature.family.name == 'token_counts' %}
    explode(source.{{ nbsql.ident(feature.column) }}) AS (value, times)
    {%- elif feature.family.name == 'text' %}
    explode({{ nbsql.terms(feature.family) }}) AS value,
    1 AS times
    {%- else %}
    explode(source.{{ nbsql.ident(feature.column) }}) AS value,
    1 AS times
    {%- endif %}

  FROM {% if feature.family.name == 'text' %}(
    {{ nbsql.words(feature, source) | indent(4) }}
  ){% else %}{{ source }}{% endif %} AS source
  {%- if condition is not none %}

  WHERE {{ condition }}
  {%- endif %}

) AS unnested
WHERE value <> ''{% if feature.family.name == 'token_counts' %} AND times > 0 AND CAST(times AS {{ nbsql.double() }}) < {{ nbsql.infinity() }}{% endif %}

{%- endmacro %}

{% macro spark__words(feature, source) -%}
{% set family = feature.family -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
{% set folded %}{% if family.lower %}lower({{ x }}){% else %}{{ x }}{% endif %}{% endset -%}
{% set found -%}
{% if family.letters_and_digits -%}
split(regexp_replace({{ folded }}, r'[^\p{L}\p{N} ]+', ' '), ' ')
{%- else -%}
regexp_extract_all({{ folded }}, {{ nbsql.text(family.pattern) }}, 0)
{%- endif %}
{%- endset -%}
{% set measured = family.min_length > 1 or (family.letters_and_digits and family.ngrams != (1, 1)) -%}
SELECT
  source.*,
  {% if measured or family.stop_words %}
  filter(
    {{ found }},
    word -> {% if measured %}length(word) >= {{ family.min_length }}{% endif -%}
    {%+ if measured and family.stop_words %} AND {%+ endif -%}
    {%+ if family.stop_words %}word NOT IN ({% for stop in family.stop_words %}{{ nbsql.text(stop) }}{% if not loop.last %}, {% endif %}{% endfor %}){%+ endif %}

  )
  {%- else %}
  {{ found }}
  {%- endif %} AS nbsql_words
FROM {{ source }} AS source
{%- endmacro %}

{% macro spark__terms(family) -%}
{% set low, high = family.ngrams -%}
{% set grams -%}
concat({% for length in range(low, high + 1) -%}
{% if length == 1 -%}
source.nbsql_words
{%- else -%}
CASE WHEN size(source.nbsql_words) >= {{ length }} THEN transform(sequence(0, size(source.nbsql_words) - {{ length }}), i -> {% for k in range(length) -%}
source.nbsql_words[i{% if k %} + {{ k }}{% endif %}]{% if not loop.last %} || ' ' || {% endif %}
{%- endfor %}) ELSE CAST(array() AS ARRAY<{{ nbsql.string() }}>) END
{%- endif %}{% if not loop.last %}, {% endif %}
{%- endfor %})
{%- endset -%}
{% if family.presence %}array_distinct({{ grams }}){% else %}{{ grams }}{% endif %}
{%- endmacro %}
