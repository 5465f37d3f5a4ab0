{#
  Spark's forms of scoring. Small tables are sent to every worker, because Spark does not know the size of a table that is only in memory.
  Rows have no order, only an id by which the parts of a row are joined again.
#}

{#
  Joins the constants of a view (parameters.sql), which Spark writes into the terms when they come from a lateral sub-select. If they were
  joined as a row of a table, these many columns would be copied for every row. Beside a UNION that widens types Spark expands no star
  there, so that the sub-select has none. Where rows have parameters of their own, the join comes last, because Spark takes rows of more
  than a hundred columns apart and puts them together again at each join.
#}
{% macro spark__join_parameters(model, parameters, relation) -%}
{% if model.part_column -%}
{{ nbsql.default__join_parameters(model, parameters, relation) }}
{%- else %}

CROSS JOIN LATERAL (FROM {{ parameters }} AS constants) AS parameters
{%- endif %}
{%- endmacro %}

{#
  0, from a function that Spark does not compile together with others, so that the terms become small methods. From some thirty terms on,
  a single method for a whole query exceeds 8,000 bytes, and the JVM interprets such a method: it is several times slower, without any
  warning.
#}
{% macro spark__compiled_apart(model) -%}
{% set terms = (model.form.joint_features + model.form.star_categories) | length * model.form.class_numbers | length -%}
{% if terms > 20 +%}
+ size(map_filter(map(0, number.{{
  nbsql.ident((model.form.joint_features + model.form.star_categories)[0].columns[0]) }}), (place, x) -> FALSE))
{%- endif %}
{%- endmacro %}
