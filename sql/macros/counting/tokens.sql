{#
  One row per token of a bag: the columns `row_columns`, then

    value  the token
    times  its count: 1 an occurrence, or the number that a map holds

  With a condition the tokens are counted, and tokens outside a declared vocabulary are dropped; a score looks up no others.

  Fitting and scoring both read their tokens here, so they always see the same ones. Empty and NULL tokens are dropped, except that a list
  or a text may keep them, and so are tokens of a map whose count is 0, missing or not finite.
#}
{% macro tokens(feature, source, row_columns, condition=none, keeps_empty=false) -%}
{% if feature.family.over_columns -%}
{{ nbsql.pairs_tokens(feature, source, row_columns, condition) }}
{%- else -%}
SELECT *
FROM (
  SELECT
    {{ row_columns }},
    {{ nbsql.token_rows(feature) }}
  FROM {% if 'text' in feature.family.accepts %}(
    {% if feature.family.characters %}
    {{ nbsql.text_characters(feature, source) | indent(4) }}
    {% else %}
    {{ nbsql.words(feature, source) | indent(4) }}
    {% endif %}
  ){% else %}{{ source }}{% endif %} AS source{{ nbsql.joined_tokens(feature) }}
  {% if condition is not none %}
  WHERE {{ condition }}
  {% endif %}
) AS unnested
{%- if 'token counts' in feature.family.accepts +%}
WHERE value <> '' AND times > 0 AND times < {{ nbsql.infinity() }}
{%- elif not keeps_empty +%}
WHERE value <> ''
{%- endif %}
{%- if condition is not none and feature.family.vocabulary +%}
  AND value IN ({% for token in feature.family.vocabulary %}{{ nbsql.text(token) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- endif %}
{%- endif +%}
{%- endmacro %}

{# The columns value and times of each token of `source`. #}
{% macro default__token_rows(feature) -%}
{% set column %}source.{{ nbsql.ident(feature.column) }}{% endset -%}
{% if 'token counts' in feature.family.accepts -%}
CAST(unnest(map_keys({{ column }})) AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value,
  {% if feature.family.presence %}
  unnest(list_transform(map_values({{ column }}), lambda times: {{ nbsql.presence_of_token(nbsql.word('times')) }})) AS times
  {%- else %}
  CAST(unnest(map_values({{ column }})) AS {{ nbsql.double() }}) AS times
  {%- endif +%}
{%- elif 'text' in feature.family.accepts -%}
unnest({{ nbsql.token_terms(feature.family) }}){{ nbsql.binary() }} AS value, 1 AS times
{%- else -%}
{% set list %}{% if feature.family.presence %}{{ nbsql.distinct_elements(column) }}{% else %}{{ column }}{% endif %}{% endset -%}
CAST(unnest({{ list }}) AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value, 1 AS times
{%- endif %}
{%- endmacro %}

{# 1 for a positive count, else 0: where only presence matters, a token counts once however often it occurs. #}
{% macro presence_of_token(times) -%}
{% set n %}CAST({{ times }} AS {{ nbsql.double() }}){% endset -%}
CASE WHEN {{ n }} > 0 AND {{ n }} < {{ nbsql.infinity() }} THEN 1 ELSE 0 END
{%- endmacro %}

{# One row per class, slice and text of the counted rows: nbsql_class, nbsql_slice, the text, nbsql_weight. #}
{% macro grouped_texts(model, source, feature) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset -%}
SELECT
  {{ nbsql.target(model) }} AS nbsql_class,
  {% if model.facts.slice_by %}
  source.nbsql_slice AS nbsql_slice,
  {% endif %}
  {{ x }} AS {{ nbsql.ident(feature.column) }},
  CAST({{ nbsql.group_weight(model) }} AS {{ nbsql.double() }}) AS nbsql_weight
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }} AND source.{{ nbsql.ident(feature.column) }} IS NOT NULL
GROUP BY {{ nbsql.target(model) }}, {{ x }}{% if model.facts.slice_by %}, source.nbsql_slice{% endif +%}
{%- endmacro %}

{#
  The text of a feature before it is cut: in lower case if asked for, and then without accents, or with a letter and its accents as one
  character (Unicode's normal form C), so that it does not matter in which of its two spellings a text came.
#}
{% macro folded_text(feature) -%}
{% set family = feature.family -%}
{% set text %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){{ nbsql.collation_of_letters() }}{% endset -%}
{% set folded %}{% if family.lower %}{{ nbsql.lower_case(text) }}{% else %}{{ text }}{% endif %}{% endset -%}
{% if not family.accents %}{{ nbsql.without_accents(folded) }}
{%- elif family.normal_form %}{{ nbsql.composed(folded) }}
{%- else %}{{ folded }}
{%- endif %}
{%- endmacro %}

{#
  The rows of the source with `nbsql_words`: the matches of a pattern (RE2 syntax) in their text, in order, without words that are too
  short and without stop words. Where only words are counted, the list may contain an empty word.

  Words of letters, marks and digits are found by blanking the characters between them. This gives the same words two to four times as
  fast, because a text has far fewer places to blank than words to match.
#}
{% macro default__words(feature, source) -%}
{% set family = feature.family -%}
{% set found -%}
{% if family.is_of_words %}{{ nbsql.runs_of_letters(nbsql.folded_text(feature)) }}
{%- else %}{{ nbsql.matches(nbsql.folded_text(feature), nbsql.pattern_literal(family.pattern)) }}
{%- endif %}
{%- endset -%}
{% set long_enough -%}
{% if family.min_length > 1 %}length(word) >= {{ family.min_length }}
{%- elif family.is_of_words and family.ngrams != (1, 1) %}word <> ''
{%- endif %}
{%- endset -%}
{% set wanted -%}
{{ long_enough }}
{%- if long_enough and family.stop_words %} AND {% endif %}
{%- if family.stop_words %}{{ nbsql.is_none_of(nbsql.word('word'), family.stop_words) }}{% endif %}
{%- endset -%}
SELECT
  source.*,
  {% if wanted %}
  {{ nbsql.list_filtered(found, wanted) | indent(2) }} AS nbsql_words
  {% else %}
  {{ found }} AS nbsql_words
  {% endif %}
FROM {{ source }} AS source
{%- endmacro %}

{#
  The rows of the source with `nbsql_words`, the characters of their text, where a run of white space is one blank. Within words, every word
  has a blank on either side, of its own, so that only what crosses words contains two blanks; `nbsql_short_words` are the words with their
  blanks that are shorter than the shortest term, which are terms as they are. Both as in scikit-learn's analyzers char and char_wb.
#}
{% macro text_characters(feature, source) -%}
{% set family, folded = feature.family, nbsql.folded_text(feature) -%}
{% if family.within_words -%}
{% set apart %}replace(trim({{ nbsql.single_blanks(folded, 1) }}), ' ', '  '){% endset -%}
SELECT
  texts.*,
  {% if family.characters[0] > 3 %}
  {% set pattern %}' [^ ]{{ '{' }}1,{{ family.characters[0] - 3 }}{{ '}' }} '{% endset %}
  {{ nbsql.matches(nbsql.word('texts.nbsql_text'), pattern) }} AS nbsql_short_words,
  {% endif %}
  {{ nbsql.characters(nbsql.word('texts.nbsql_text')) }} AS nbsql_words
FROM (
  SELECT
    source.*,
    ' ' || nullif({{ apart | indent(4) }}, '') || ' ' AS nbsql_text
  FROM {{ source }} AS source
) AS texts
{%- else -%}
SELECT
  source.*,
  {{ nbsql.characters(nbsql.single_blanks(folded, 2)) | indent(2) }} AS nbsql_words
FROM {{ source }} AS source
{%- endif %}
{%- endmacro %}

{# The words of a list for which a condition on `word` holds. #}
{% macro default__list_filtered(list, condition) -%}
list_filter(
  {{ list }},
  lambda word: {{ condition }}
)
{%- endmacro %}

{# A list of texts, as literals. #}
{% macro text_list(values) -%} [{% for value in values %}{{ nbsql.text(value) }}{{ nbsql.comma_blank(loop) }}{% endfor %}] {%- endmacro %}

{# The terms of a row: its words, word n-grams joined by a blank, or runs of characters; each once where only presence counts. #}
{% macro token_terms(family) -%}
{% set terms, lengths = namespace(lists=[]), family.characters or family.ngrams -%}
{% for length in range(lengths[0], lengths[1] + 1) -%}
{% set run -%}
{% for k in range(length) %}source.nbsql_words[i{% if k %} + {{ k }}{% endif %}]
{%- if not loop.last %} || {% if not family.characters %}' ' || {% endif %}{% endif %}{% endfor %}
{%- endset -%}
{% set terms.lists = terms.lists + [nbsql.word('source.nbsql_words') if length == 1 else nbsql.runs_of_words(run, length)] -%}
{% endfor -%}
{% set grams = terms.lists[0] if terms.lists | length == 1 else nbsql.concatenated_lists(terms.lists) -%}
{% if family.within_words -%}
{% set within %}word NOT LIKE '%  %'{% endset -%}
{% set grams = nbsql.list_filtered(grams, within) -%}
{% if lengths[0] > 3 -%}
{% set grams = nbsql.concatenated_lists([grams, nbsql.word('source.nbsql_short_words')]) -%}
{% endif -%}
{% endif -%}
{% if family.presence %}{{ nbsql.distinct_elements(grams) }}{% else %}{{ grams }}{% endif %}
{%- endmacro %}
