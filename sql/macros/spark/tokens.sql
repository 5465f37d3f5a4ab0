{# Where tokens differ: their lists are arrays. A pattern is one of Java's, and so is what a letter is, and a capital. #}

{% macro spark__token_rows(feature) -%}
{% set column %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if feature.family.name == 'token_counts' -%}
explode(transform_values({{ column }}, (value, times) -> CAST(times AS {{ nbsql.double() }}))) AS (value, times)
{%- else -%}
explode({% if feature.family.name == 'text' %}{{ nbsql.terms(feature.family) }}{% else %}{{ column }}{% endif %}) AS value, 1 AS times
{%- endif %}
{%- endmacro %}

{% macro spark__runs_of_letters(x) -%} split(regexp_replace({{ x }}, r'[^\p{L}\p{N} ]+', ' '), ' ') {%- endmacro %}

{% macro spark__matches(x, pattern) -%} regexp_extract_all({{ x }}, {{ pattern }}, 0) {%- endmacro %}

{% macro spark__none_of(word, texts) -%}
{{ word }} NOT IN ({% for text in texts %}{{ nbsql.text(text) }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- endmacro %}

{% macro spark__filtered(list, wanted) -%}
filter(
  {{ list }},
  word -> {{ wanted }}
)
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
