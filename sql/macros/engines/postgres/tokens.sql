{#
  PostgreSQL's forms for tokens: their lists are arrays, which sub-selects filter. Its own regular expressions cut the words. Letters and
  capitals are those of Unicode (ICU), whatever the locale of the database.
#}

{# One row a row of the source: its columns, and nbsql_words, the words of its text in order. #}
{% macro postgres__words(feature, source) -%}
{% set family = feature.family -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}) COLLATE "und-x-icu"{% endset -%}
{% set folded %}{% if family.lower %}lower({{ x }}){% else %}{{ x }}{% endif %}{% endset -%}
{% set pattern = nbsql.pattern_literal('(' ~ family.pattern ~ ')') -%}
{% set found -%}
{% if family.letters_and_digits -%}
regexp_split_to_table({{ folded }}, '[^{{ nbsql.letters_and_digits() }}]+') WITH ORDINALITY AS words(word, position)
{%- else -%}
(
      SELECT matches.match[1] AS word, matches.position
      FROM regexp_matches({{ folded }}, {{ pattern }}, 'g') WITH ORDINALITY AS matches(match, position)
    ) AS words
{%- endif %}
{%- endset -%}
SELECT
  source.*,
  ARRAY(
    SELECT words.word COLLATE "C"
    FROM {{ found }}
    WHERE length(words.word) >= {{ family.min_length }}
    {% if family.stop_words %}
      AND words.word COLLATE "C" NOT IN (
        {%- for word in family.stop_words %}{{ nbsql.text(word) }}{% if not loop.last %}, {% endif %}{% endfor %})
    {% endif %}
    ORDER BY words.position ASC NULLS LAST
  ) AS nbsql_words
FROM {{ source }} AS source
{%- endmacro %}

{#
  Unicode's letters and numbers, as the contents of a bracket expression. [:alnum:] contains decimal digits only, so the other numbers of
  ICU in the basic plane are listed.
#}
{% macro postgres__letters_and_digits() -%}
[:alnum:]\u00B2\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78{#- -#}
\u0F2A-\u0F33\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070\u2074-\u2079\u2080-\u2089\u2150-\u2182\u2185-\u2189{#- -#}
\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F{#- -#}
\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF\uA830-\uA835
{%- endmacro %}

{#
  A pattern as a literal. In a pattern, a bracket expression with Unicode's letters and numbers is written as in RE2 and Java:
  [\p{L}\p{N}_]+.
#}
{% macro postgres__pattern_literal(pattern) -%}
{% if '[\\p{L}\\p{N}' in pattern -%}
replace({{ nbsql.text(pattern) }}, '[\p{L}\p{N}', '[{{ nbsql.letters_and_digits() }}')
{%- else -%}
{{ nbsql.text(pattern) }}
{%- endif %}
{%- endmacro %}

{% macro postgres__runs_of_words(run, length) -%}
ARRAY(SELECT {{ run }} FROM generate_series(1, cardinality(source.nbsql_words) - {{ length - 1 }}) AS i)
{%- endmacro %}

{% macro postgres__concatenated_lists(lists) -%}
{% for list in lists %}{{ list }}{% if not loop.last %} || {% endif %}{% endfor %}
{%- endmacro %}

{% macro postgres__distinct_elements(list) -%} ARRAY(SELECT DISTINCT unnest({{ list }})) {%- endmacro %}
