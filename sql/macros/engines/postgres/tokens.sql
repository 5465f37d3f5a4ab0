{#
  PostgreSQL's forms for tokens: their lists are arrays, which sub-selects filter. Its own regular expressions cut the words. Letters and
  capitals are those of Unicode (ICU), whatever the locale of the database.
#}

{% macro postgres__runs_of_letters(x) -%}
{% set letters, with_marks = nbsql.letters_and_digits(), nbsql.letters_marks_and_digits() -%}
regexp_split_to_array({{ x }}, '[^{{ with_marks }}][^{{ letters }}]*|^[^{{ letters }}]+') COLLATE "C"
{%- endmacro %}

{% macro postgres__collation_of_letters() %} COLLATE "und-x-icu"{% endmacro %}

{% macro postgres__without_accents(x) -%}
normalize(regexp_replace(
      normalize({{ x }}, NFD), '(?![{{ nbsql.letters_and_digits() }}])[{{ nbsql.letters_marks_and_digits() }}]', '', 'g'
    ), NFC)
{%- endmacro %}

{% macro postgres__single_blanks(x, least) -%}
regexp_replace({{ x }},
      '[\u0009-\u000D\u001C-\u0020\u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000]{{ '{' }}{{ least }},{{ '}' }}', ' ', 'g'
    )
{%- endmacro %}

{#
  Unicode's letters and numbers, as the contents of a bracket expression. [:alnum:] contains letters and decimal
  digits only. A range that is listed begins and ends with another number or mark, and all that is assigned between them belongs here.
#}
{% macro postgres__letters_and_digits() -%}
[:alnum:]{#- -#}
\u00B2-\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78\u0F2A-\u0F33{#- -#}
\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070-\u2079\u2080-\u2089\u2150-\u2189\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD{#- -#}
\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF{#- -#}
\uA830-\uA835\U00010107-\U00010133\U00010140-\U00010178\U0001018A-\U0001018B\U000102E1-\U0001034A\U000103D1-\U000103D5{#- -#}
\U00010858-\U0001085F\U00010879-\U0001091B\U000109BC-\U000109FF\U00010A40-\U00010A48\U00010A7D-\U00010A7E\U00010A9D-\U00010A9F{#- -#}
\U00010AEB-\U00010AEF\U00010B58-\U00010B7F\U00010BA9-\U00010CFF\U00010E60-\U00010E7E\U00010F1D-\U00010F26\U00010F51-\U00010F54{#- -#}
\U00010FC5-\U00010FCB\U00011052-\U00011065\U000111E1-\U000111F4\U0001173A-\U0001173B\U000118EA-\U000118F2\U00011C5A-\U00011C6C{#- -#}
\U00011FC0-\U00011FD4\U00012400-\U0001246E\U00016B5B-\U00016E96\U0001D2E0-\U0001D2F3\U0001D360-\U0001D378\U0001E8C7-\U0001E8CF{#- -#}
\U0001EC71-\U0001ECAB\U0001ECAD-\U0001ECAF\U0001ECB1-\U0001ED2D\U0001ED2F-\U0001ED3D\U0001F100-\U0001F10C
{%- endmacro %}

{# The same with marks. #}
{% macro postgres__letters_marks_and_digits() -%}
{{ nbsql.letters_and_digits() }}{#- -#}
\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC{#- -#}
\u06DF-\u06E8\u06EA-\u06ED\u0711-\u07F3\u07FD\u0816-\u082D\u0859-\u085B\u0898-\u08E1\u08E3-\u0963\u0981-\u09E3\u09FE-\u0A75{#- -#}
\u0A81-\u0AE3\u0AFA-\u0B63\u0B72-\u0BF2\u0C00-\u0C63\u0C81-\u0C83\u0CBC-\u0D4D\u0D57-\u0D78\u0D81-\u0DF3\u0E31-\u0E3A{#- -#}
\u0E47-\u0E4E\u0EB1-\u0ECD\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F3E-\u0F84\u0F86-\u0FBC\u0FC6\u102B-\u103E\u1056-\u109D\u135D-\u135F{#- -#}
\u16EE-\u1734\u1752-\u17D3\u17DD-\u17F9\u180B-\u180D\u180F-\u193B\u1A17-\u1A1B\u1A55-\u1A7F\u1AB0-\u1B44\u1B6B-\u1B73{#- -#}
\u1B80-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2\u1CD4-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F-\u2DFF\u3021-\u302F\u3099-\u309A{#- -#}
\uA66F-\uA672\uA674-\uA67D\uA69E-\uA6F1\uA802-\uA827\uA82C-\uA835\uA880-\uA8C5\uA8E0-\uA8F1\uA8FF-\uA92D\uA947-\uA953{#- -#}
\uA980-\uA9C0\uA9E5-\uAA4D\uAA7B-\uAAC1\uAAEB-\uAAEF\uAAF5-\uAAF6\uABE3-\uABEA\uABEC-\uABED\uFB1E\uFE00-\uFE0F\uFE20-\uFE2F{#- -#}
\U000101FD-\U0001037A\U000109BC-\U00010A48\U00010AE5-\U00010AEF\U00010BA9-\U00010EAC\U00010F1D-\U00010F54\U00010F82-\U00010F85{#- -#}
\U00010FC5-\U00011046\U00011052-\U000110BA\U000110C2\U00011100-\U00011134\U00011145-\U00011173\U00011180-\U000111C0{#- -#}
\U000111C9-\U000111CC\U000111CE-\U000111CF\U000111E1-\U00011237\U0001123E\U000112DF-\U00011446\U0001145E-\U000114C3{#- -#}
\U000115AF-\U000115C0\U000115DC-\U00011640\U000116AB-\U000116B7\U0001171D-\U0001173B\U0001182C-\U0001183A\U000118EA-\U00011943{#- -#}
\U000119D1-\U000119E0\U000119E4-\U00011A3E\U00011A47-\U00011A99\U00011C2F-\U00011C3F\U00011C92-\U00011EF6\U00016AF0-\U00016AF4{#- -#}
\U00016B30-\U00016B36\U00016F4F-\U00016F92\U00016FE4-\U00016FF1\U0001BC9D-\U0001BC9E\U0001CF00-\U0001CF46\U0001D165-\U0001D169{#- -#}
\U0001D16D-\U0001D172\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD\U0001D242-\U0001D244\U0001DA00-\U0001DA36{#- -#}
\U0001DA3B-\U0001DA6C\U0001DA75\U0001DA84\U0001DA9B-\U0001E136\U0001E2AE-\U0001E2EF\U0001E8C7-\U0001E94A\U000E0100-\U000E01EF
{%- endmacro %}

{#
  A pattern as a literal. In a pattern, a bracket expression that begins with Unicode's letters and numbers, or with its letters, marks and
  numbers, is written as in RE2 and Java: [\p{L}\p{N}_]+.
#}
{% macro postgres__pattern_literal(pattern) -%}
{% set written = nbsql.text(pattern) -%}
{% set with_letters -%}
{% if '[\\p{L}\\p{N}' in pattern -%}
replace({{ written }}, '[\p{L}\p{N}', '[{{ nbsql.letters_and_digits() }}')
{%- else -%}
{{ written }}
{%- endif %}
{%- endset -%}
{% if '[\\p{L}\\p{M}\\p{N}' in pattern -%}
replace({{ with_letters }}, '[\p{L}\p{M}\p{N}', '[{{ nbsql.letters_marks_and_digits() }}')
{%- else -%}
{{ with_letters }}
{%- endif %}
{%- endmacro %}
