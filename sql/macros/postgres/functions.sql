{#
  A model in SQL alone. PostgreSQL has no macros over a table; a function of one row, given as JSON, it has:

    SELECT inbox.*, said.* FROM inbox, spam.predict(to_jsonb(inbox)) AS said
#}

{# columns: what the function returns, as pairs of a name and a type. A text, and no body of SQL, so that tables can be made anew. #}
{% macro postgres__create_function(relation, body, columns) -%}
CREATE FUNCTION {{ relation }}(source JSONB) RETURNS TABLE (
  {%- for name, type in columns %}{{ name }} {{ type }}{% if not loop.last %}, {% endif %}{% endfor %}) LANGUAGE SQL STABLE AS {{ body }}
{%- endmacro %}

{# The row that a function is given, of the columns that the model reads: pairs of a name and a type. #}
{% macro postgres__given_row(columns) -%}
(
  SELECT * FROM jsonb_to_record($1) AS source({% for name, type in columns %}{{ nbsql.ident(name) }} {{ type }}{% if not loop.last %}, {% endif %}{% endfor %})
)
{%- endmacro %}

{# What a verb adds to a row, alone. #}
{% macro postgres__added_alone(query, columns) -%}
SELECT {% for name, type in columns %}said.{{ name }}{% if not loop.last %}, {% endif %}{% endfor %}

FROM (
  {{ query | indent(2) }}
) AS said
{%- endmacro %}

{% macro postgres__drop_relation(kind, relation, if_exists=false) -%}
DROP {% if kind == 'macro' %}FUNCTION{% elif kind == 'view' %}VIEW{% else %}TABLE{% endif %} {% if if_exists %}IF EXISTS {% endif %}{{ relation }}
{%- endmacro %}

{% macro postgres__used_in_sql(schema, asked) -%}
SELECT {{ asked }}.*, said.* FROM {{ asked }}, {{ schema }}.predict(to_jsonb({{ asked }})) AS said
{%- endmacro %}
