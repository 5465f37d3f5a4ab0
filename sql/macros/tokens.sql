{#
  Bags of tokens, long: the columns `kept`, then

    value  the token
    times  how often it counts: 1 an occurrence, or the number that a map holds

  Fitting and scoring read their tokens here, so that both always see the same ones. Empty and NULL tokens are dropped, and
  tokens of a map whose count is 0, missing or not finite.
#}
{% macro tokens(feature, source, kept, condition=none) -%}
SELECT *
FROM (
  SELECT
    {{ kept }},
    {% if feature.family.name == 'token_counts' %}
    unnest(map_keys(source.{{ nbsql.ident(feature.column) }})) AS value,
    CAST(unnest(map_values(source.{{ nbsql.ident(feature.column) }})) AS {{ nbsql.double() }}) AS times
    {%- elif feature.family.name == 'text' %}
    unnest({{ nbsql.terms(feature.family) }}) AS value,
    1 AS times
    {%- else %}
    unnest(source.{{ nbsql.ident(feature.column) }}) AS value,
    1 AS times
    {%- endif %}

  FROM {% if feature.family.name == 'text' %}(
    {{ nbsql.words(feature, source) | indent(4) }}
  ){% else %}{{ source }}{% endif %} AS source
  {%- if condition is not none %}

  WHERE {{ condition }}
  {%- endif %}

) AS unnested
WHERE value <> ''{% if feature.family.name == 'token_counts' %} AND times > 0 AND times < {{ nbsql.infinity() }}{% endif %}

{%- endmacro %}


{#
  The rows of the source with `nbsql_words`: their text cut into the matches of a pattern (RE2 syntax), in order, lower-cased if
  asked, without words that are too short and without stop words; where words alone count, an empty word may be among them.

  Runs of letters and digits are found by blanking what lies between them: the same words, two to four times as fast, because a
  text has far fewer places to blank than words to match.
#}
{% macro words(feature, source) -%}
{% set family = feature.family -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
{% set folded %}{% if family.lower %}lower({{ x }}){% else %}{{ x }}{% endif %}{% endset -%}
{% set found -%}
{% if family.letters_and_digits -%}
string_split(regexp_replace({{ folded }}, '[^\p{L}\p{N} ]+', ' ', 'g'), ' ')
{%- else -%}
regexp_extract_all({{ folded }}, {{ nbsql.text(family.pattern) }})
{%- endif %}
{%- endset -%}
{% set measured = family.min_length > 1 or (family.letters_and_digits and family.ngrams != (1, 1)) -%}
SELECT
  source.*,
  {% if measured or family.stop_words %}
  list_filter(
    {{ found }},
    lambda word: {% if measured %}length(word) >= {{ family.min_length }}{% endif -%}
    {%+ if measured and family.stop_words %} AND {%+ endif -%}
    {%+ if family.stop_words %}NOT list_contains({{ nbsql.texts(family.stop_words) }}, word){%+ endif %}

  )
  {%- else %}
  {{ found }}
  {%- endif %} AS nbsql_words
FROM {{ source }} AS source
{%- endmacro %}

{% macro texts(values) -%}
[{% for value in values %}{{ nbsql.text(value) }}{% if not loop.last %}, {% endif %}{% endfor %}]
{%- endmacro %}


{# The terms of a row: its words, or runs of them joined by a blank; each one once where only presence counts. #}
{% macro terms(family) -%}
{% set low, high = family.ngrams -%}
{% set grams -%}
{% if high == 1 -%}
source.nbsql_words
{%- else -%}
list_concat({% for length in range(low, high + 1) -%}
{% if length == 1 -%}
source.nbsql_words
{%- else -%}
list_transform(range(1, len(source.nbsql_words) - {{ length - 2 }}), lambda i: {% for k in range(length) -%}
source.nbsql_words[i{% if k %} + {{ k }}{% endif %}]{% if not loop.last %} || ' ' || {% endif %}
{%- endfor %})
{%- endif %}{% if not loop.last %}, {% endif %}
{%- endfor %})
{%- endif %}
{%- endset -%}
{% if family.presence %}list_distinct({{ grams }}){% else %}{{ grams }}{% endif %}
{%- endmacro %}
