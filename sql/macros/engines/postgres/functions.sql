{#
  A model in SQL alone. PostgreSQL has no table macros, but it has functions of one row, which is given as JSON:

    SELECT inbox.*, answer.* FROM inbox, spam.predict(to_jsonb(inbox)) AS answer

  A function looks up names on a path of its own, because the caller's may have functions of other roles.
#}

{# The columns of a relation with their types. columns: pairs of a name and a type. quoted: whether the names are still to be quoted. #}
{% macro typed_columns(columns, quoted=false) -%}
{% for name, type in columns -%}
{% if quoted %}{{ nbsql.ident(name) }}{% else %}{{ name }}{% endif %} {{ type }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endmacro %}

{#
  Creates a function that returns a table. columns: the columns it returns, pairs of a name and a type. A body that is parsed here has its
  names resolved for good, and becomes part of the query that calls it; but the tables that it reads cannot be dropped before it. literal:
  the body as a text, for one that reads tables that are not the model's; none for a body to parse. promises: whether it takes the share of
  the predictions that are to be right, and whether this holds for each class.
#}
{% macro postgres__create_function(relation, body, columns, literal=none, promises=false) -%}
{% set arguments %}source JSONB{% if promises %}, certain {{ nbsql.double() }}, by_class BOOLEAN DEFAULT FALSE{% endif %}{% endset -%}
CREATE FUNCTION {{ relation }}({{ arguments }}) RETURNS TABLE ({{ nbsql.typed_columns(columns) }}) LANGUAGE SQL STABLE
{% if literal is not none -%}
SET {{ nbsql.own_path() }} AS {{ literal }}
{%- else -%}
BEGIN ATOMIC
{{ body }};
END
{%- endif %}
{%- endmacro %}

{# The relation of a calibration, with those of its promises that the arguments of a function ask for. #}
{% macro promised_calibration(calibration) -%}
{% set message = 'certain must be a number between 0 and 1, such as 0.9' -%}
(
  SELECT *
  FROM {{ calibration }} AS calibration
  WHERE method <> 'certain' OR CASE
    WHEN $2 > 0 AND $2 < 1 THEN probability >= $2 AND (class_no IS NULL) <> $3
    ELSE {{ nbsql.raise_error(message, nbsql.word('method')) }}
  END
)
{%- endmacro %}

{#
  The row that a function receives, with the columns that the model reads. columns: pairs of a name and a type. learnt: those of a kind that
  the model has learnt, as in `has_learnt_types`.
#}
{% macro postgres__given_row(columns, learnt) -%}
(
  SELECT typed.*
  FROM jsonb_to_record($1) AS typed({{ nbsql.typed_columns(columns, true) }})
  {% if learnt %}
  JOIN jsonb_to_record($1) AS source(
    {%- for name, _, _ in learnt %}{{ nbsql.ident(name) }} JSONB{{ nbsql.comma_blank(loop) }}{% endfor -%}
  ) ON {{ nbsql.has_learnt_types(learnt) | indent(2) }}
  {% endif %}
)
{%- endmacro %}

{# Whether a value of a row, given as JSON, is of a kind. #}
{% macro postgres__is_of_kind(x, kind) -%}
{% set day, time, zone = '[0-9]{4,}-[0-9]{2}-[0-9]{2}', '[0-9]{2}:[0-9:.]+', ' ?([+-][0-9:]+|Z)' -%}
{% set end = '( BC)?|-?infinity)$' -%}
{% set text %}({{ x }} #>> '{}'){% endset -%}
{% if kind == 'number' -%}
jsonb_typeof({{ x }}) = 'number' OR {{ text }} IN ('NaN', 'Infinity', '-Infinity')
{%- elif kind == 'boolean' %}jsonb_typeof({{ x }}) = 'boolean'
{%- elif kind == 'date' %}{{ text }} ~ {{ nbsql.text('^(' ~ day ~ '([T ]' ~ time ~ ')?' ~ end) }}
{%- elif kind == 'timestamp' %}{{ text }} ~ {{ nbsql.text('^(' ~ day ~ '[T ]' ~ time ~ end) }}
{%- elif kind == 'timestamp with time zone' %}{{ text }} ~ {{ nbsql.text('^(' ~ day ~ '[T ]' ~ time ~ zone ~ end) }}
{%- elif kind == 'time without time zone' %}{{ text }} ~ {{ nbsql.text('^' ~ time ~ '$') }}
{%- elif kind == 'time with time zone' %}{{ text }} ~ {{ nbsql.text('^' ~ time ~ zone ~ '$') }}
{%- else %}jsonb_typeof({{ x }}) = 'string'
{%- endif %}
{%- endmacro %}

{% macro postgres__error_of_types(name, learnt, x) -%}
{% set fact = 'column ' ~ name ~ ' has another type than ' ~ learnt ~ ', which the model has learnt there; cast it' -%}
{% set text %}{{ x }} #>> '{}'{% endset -%}
{{ nbsql.raise_error(fact, text) }}
{%- endmacro %}

{# Some columns of a query, cast to the types that its function returns if they have others. columns: pairs of a name and a type. #}
{% macro postgres__columns_of_answer(query, columns, cast=false) -%}
SELECT {% for name, type in columns -%}
{% if cast %}CAST(answer.{{ name }} AS {{ type }}){% else %}answer.{{ name }}{% endif %}{{ nbsql.comma_blank(loop) }}
{%- endfor +%}
FROM {{ nbsql.subquery(query) }} AS answer
{%- endmacro %}

{#
  Creates a function of a relation that is given by name: SELECT * FROM spam.evaluate('holdout'). A name of type REGCLASS is an existing
  relation, quoted as necessary. body: PL/pgSQL, as a text.
#}
{% macro postgres__create_function_of_relation(relation, body, columns) -%}
CREATE FUNCTION {{ relation }}(source REGCLASS) RETURNS TABLE ({{ nbsql.typed_columns(columns) }}) LANGUAGE plpgsql STABLE
SET {{ nbsql.own_path() }} AS {{ body }}
{%- endmacro %}

{#
  The body of such a function. query: a text in which `placeholder`, also a text, stands for the relation. learnt: its columns of a kind
  that the model has learnt, as in `has_learnt_types`. An error of the relation's columns or values is raised again, because PostgreSQL
  would print the query with it, which is of hundreds of lines.
#}
{% macro postgres__run_on_relation(query, placeholder, learnt) -%}
{% if learnt -%}
DECLARE
  wrong TEXT := (
    {{ nbsql.column_of_another_type(learnt) | indent(4) }}
  );
{% endif -%}
BEGIN
  {% if learnt %}
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = 'datatype_mismatch', MESSAGE = wrong;
  END IF;
  {% endif %}
  RETURN QUERY EXECUTE replace({{ query }}, {{ placeholder }}, CAST(source AS TEXT));
EXCEPTION WHEN syntax_error_or_access_rule_violation OR data_exception THEN
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = 'in ' || source || ': ' || replace(SQLERRM, ' source.', ' ');
END
{%- endmacro %}

{# The message about the first column of `source`, a REGCLASS, that is not of a kind that the model has learnt; no row if all are. #}
{% macro column_of_another_type(learnt) -%}
SELECT format('column %s is %s, and the model has learnt %s there; cast it', attribute.attname, type.name, learnt.said)
FROM pg_attribute AS attribute
JOIN (
  VALUES
  {% for name, kinds, said in learnt %}
    {% set listed %}{% for kind in kinds %}{{ nbsql.text(kind) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset %}
    ({{ nbsql.text(name) }}, ARRAY[{{ listed }}], {{ nbsql.text(said) }}){{ nbsql.comma(loop) }}
  {% endfor %}
) AS learnt(name, kinds, said) ON learnt.name = attribute.attname
JOIN (
  SELECT own.oid, own.typcategory AS category, format_type(CASE own.typtype WHEN 'd' THEN own.typbasetype ELSE own.oid END, -1) AS name
  FROM pg_type AS own
) AS type ON type.oid = attribute.atttypid
WHERE attribute.attrelid = source
  AND NOT attribute.attisdropped
  AND NOT ARRAY[
    type.name,
    CASE
      WHEN type.category IN ('S', 'E', 'Z') OR type.name = 'uuid' THEN 'text'
      WHEN type.category = 'N' THEN 'number'
      WHEN type.name IN ('date', 'timestamp without time zone') THEN 'date'
    END,
    CASE WHEN type.name = 'timestamp without time zone' THEN 'timestamp' END
  ] && learnt.kinds
ORDER BY attribute.attnum ASC NULLS LAST
LIMIT 1
{%- endmacro %}

{#
  Creates a function of two classes, SELECT * FROM spam.likelihood_ratios('spam', 'ham'), whose arguments have the type of the target.
  body: a text.
#}
{% macro postgres__create_function_of_classes(relation, body, type) -%}
CREATE FUNCTION {{ relation }}(class {{ type }}, other_class {{ type }}) RETURNS TABLE (
  feature {{ nbsql.string() }}, value {{ nbsql.string() }}
  {%- for column in ['likelihood', 'other_likelihood', 'ratio', 'log_ratio'] %}, {{ nbsql.word(column) }} {{ nbsql.double() }}{% endfor -%}
  ) LANGUAGE SQL STABLE SET {{ nbsql.own_path() }} AS {{ body }}
{%- endmacro %}
