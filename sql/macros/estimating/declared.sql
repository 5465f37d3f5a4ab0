{# Labels and values that are declared as texts, written as the type of their column writes them. #}

{# A value from a list of texts, in a given type. #}
{% macro cast_text(type) -%} CAST(texts.value AS {{ type }}) {%- endmacro %}

{# The same value as the text of a label. #}
{% macro label_text(type) -%} CAST({{ nbsql.as_label(nbsql.cast_text(type), type) }} AS {{ nbsql.string() }}) {%- endmacro %}

{# The text of a date or time, `written`, if its type has the time that was given (see texts_as_written): a day has no time of day. #}
{% macro written_time(type, written) -%}
CASE WHEN CAST(texts.value AS TIMESTAMP) = CAST({{ nbsql.cast_text(type) }} AS TIMESTAMP) THEN {{ written }} END
{%- endmacro %}

{# One row per text: value, and written, the text as the engine writes its value. #}
{% macro texts_as_written(texts, expression) -%}
SELECT texts.value AS value, {{ expression }} AS written
FROM {% call(text, _) nbsql.constants(texts, 'texts', ['value']) %}{{ nbsql.text(text) }}{% endcall %}
{%- endmacro %}

{# The class whose label is a text, which is compared as a value of its type: a NUMERIC of PostgreSQL may be written 0.5 or 0.50. #}
{% macro class_of_text(text, type) -%}
{% set class %}CAST({{ text }} AS {{ type }}){% endset -%}
{{ nbsql.as_label(class, type) }}
{%- endmacro %}

{# One row per declared label: class. #}
{% macro declared_classes(labels, type) -%}
SELECT {{ nbsql.class_of_text(nbsql.word('label'), type) }} AS class
FROM {% call(label, _) nbsql.constants(labels, 'given', ['label']) %}{{ nbsql.text(label) }}{% endcall %}
{%- endmacro %}

{# The same labels as the engine writes them, in the order of their type: label, class. #}
{% macro declared_labels(labels, type) -%}
SELECT DISTINCT {{ nbsql.text_of(nbsql.word('class')) }} AS label, class
FROM {{ nbsql.subquery(nbsql.declared_classes(labels, type)) }} AS declared
ORDER BY class ASC NULLS LAST
{%- endmacro %}
