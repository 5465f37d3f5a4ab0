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
    {{ nbsql.layer_column(name, expression) }}{{ nbsql.comma(loop) }}
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

{% macro layer_column(name, expression) -%}
{% if expression is none %}source.{{ nbsql.ident(name) }}{% else %}({{ expression }}) AS {{ nbsql.ident(name) }}{% endif %}
{%- endmacro %}

{# A column of another type than the expressions that read it were written for, as text. #}
{% macro column_as_text(name) -%} CAST({{ nbsql.ident(name) }} AS {{ nbsql.string() }}) {%- endmacro %}
