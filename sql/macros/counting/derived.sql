{# Columns that a model computes from those of a source (nbsql/spec/derived.py). #}

{#
  A source with derived columns. Each layer reads the one before it, and has:

    columns     pairs of a column and its expression, none for a column that is passed on; the columns are listed in their order
    passes_all  whether all columns of the source come first, whatever they are
    without     or all but those whose names match a pattern, because they are replaced
#}
{% macro derived_source(source, layers) -%}
{% set made = namespace(source=source) -%}
{% for layer in layers -%}
{% set made.source = nbsql.derived_layer(made.source, layer) -%}
{% endfor -%}
{{ made.source }}
{%- endmacro %}

{# One layer, as a relation. #}
{% macro derived_layer(source, layer) -%}
(
  SELECT
    {% if layer.without %}
    source.* NOT SIMILAR TO {{ nbsql.text(layer.without) }},
    {% elif layer.passes_all %}
    source.*,
    {% endif %}
    {% for name, expression in layer.columns %}
    {%+ if expression is none %}source.{% else %}({{ expression }}) AS {%+ endif %}{{ nbsql.ident(name) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  {% if layer.without %}
  FROM (
    SELECT 1 AS nbsql_one, source.* FROM {{ source | indent(4) }} AS source
  ) AS source
  {% else %}
  FROM {{ source | indent(2) }} AS source
  {% endif %}
)
{%- endmacro %}

{# A column of another type than the expressions that read it were written for, as text. #}
{% macro column_as_text(name) -%} CAST({{ nbsql.ident(name) }} AS {{ nbsql.string() }}) {%- endmacro %}

{# A column without blanks at its ends, as text. #}
{% macro trimmed_text(x) -%} trim(CAST({{ x }} AS {{ nbsql.string() }})) {%- endmacro %}

{# Whether a value is one of some words that stand for a missing value. #}
{% macro is_word(x, words, negated=false) -%}
{{ nbsql.trimmed_text(x) }} {% if negated %}NOT {% endif %}IN ({% for word in words %}{{ nbsql.text(word) }}
{{- nbsql.comma_blank(loop) }}{% endfor %})
{%- endmacro %}

{#
  The expression of a column with NULL for some words, and of a number where all other values are numbers. What is neither is an error
  of the cast; with names_column, the text that it cannot cast names the column, which other dialects cannot.
#}
{% macro without_words(name, words, is_number, names_column=false) -%}
{% set x = nbsql.ident(name) -%}
CASE WHEN {{ nbsql.is_word(x, words, true) }} THEN
{%- if names_column %} {{ nbsql.number_in_column(nbsql.trimmed_text(x), name, words) }}
{%- elif is_number %} CAST({{ nbsql.trimmed_text(x) }} AS {{ nbsql.double() }}){% else %} {{ x }}{% endif %} END
{%- endmacro %}

{# The number in a text. An error says what is neither a number nor a word for a missing value, in which column, and what to do. #}
{% macro number_in_column(text, name, words) -%}
{% set fact = "' in column '" ~ name ~ "' is no number, and none of missing=['" ~ words | join("', '") ~ "']" -%}
{% set cure = "; fit anew with it among them, or make it NULL" -%}
coalesce(
  {{ nbsql.as_number(text) }},
  CAST(concat({{ nbsql.text("the text '") }}, {{ text }}, {{ nbsql.text(fact ~ cure) }}) AS {{ nbsql.double() }})
)
{%- endmacro %}

{# One row, how many values of each of some columns of numbers are one of some numbers. #}
{% macro counts_of_numbers(source, columns, numbers) -%}
SELECT
  {% for column in columns %}
  count(CASE WHEN source.{{ nbsql.ident(column) }} IN (
    {%- for number in numbers %}{{ nbsql.number(number) }}{{ nbsql.comma_blank(loop) }}{% endfor -%}
  ) THEN 1 END) AS numbers_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{#
  One row, three numbers a column: how many of its values are one of some words, how many are others, and how many of these are no number.
  A number that begins with a zero, such as 007, is a code.
#}
{% macro texts_as_numbers(source, columns, words) -%}
{% set digits = '(0|[1-9][0-9]*)' -%}
{% set number = '^[+-]?(' ~ digits ~ '([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9][0-9]?)?$' -%}
SELECT
  {% for column in columns %}
  {% set x %}source.{{ nbsql.ident(column) }}{% endset %}
  {% set text = nbsql.trimmed_text(x) %}
  {% set no_number %}({{ text }} = '' OR regexp_replace({{ text }}, {{ nbsql.text(number) }}, '') <> ''){% endset %}
  count(CASE WHEN {{ nbsql.is_word(x, words) }} THEN 1 END) AS words_{{ loop.index }},
  count(CASE WHEN {{ nbsql.is_word(x, words, true) }} THEN 1 END) AS others_{{ loop.index }},
  count(CASE WHEN {{ nbsql.is_word(x, words, true) }} AND {{ no_number }} THEN 1 END) AS texts_{{ loop.index }}
  {{- nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{# Columns of texts as cells, one a row and column: feature, value, n. #}
{% macro texts_as_cells(source, columns) -%}
(
  {% for column in columns %}
  SELECT {{ nbsql.text(column) }} AS feature, CAST({{ nbsql.ident(column) }} AS {{ nbsql.string() }}) AS value, 1 AS n
  FROM {{ source | indent(2) }} AS source
  {%- if not loop.last %} UNION ALL{% endif +%}
  {% endfor %}
)
{%- endmacro %}
