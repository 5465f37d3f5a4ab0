{# Table macros: the verbs of a model, to be called from SQL on any relation, wherever the file of the model is attached. #}

{#
  Creates a table macro over any relation, FROM spam.predict('inbox'), where inbox is a table, a view or a CTE. Its query is a text, so that
  DuckDB parses it when the macro is called, and not in every fit. query: a literal, whose text reads the source as nbsql_source, and the
  relations of the model by further names. condition and of_scores: literals, the conditions of the rows of the source and of its scores.
  reads: pairs of such a name and an expression, the text that follows the database in the FROM. probe, single and usual: literals
  of `database_probe`, `is_only_model_of_name` and `has_usual_meaning`. The text of the query has the character 1, repeated as often as
  `marks`, where the database goes.
  promises: whether it takes the share of the predictions that are to be right, as FROM spam.predict_certain('inbox', 0.95).
#}
{% macro create_table_macro(relation, query, condition, of_scores, reads, probe, single, usual, marks, promises=false) -%}
CREATE OR REPLACE MACRO {{ relation }}(source, {% if promises %}certain, by_class := FALSE, {% endif %}database := '') AS TABLE
FROM query(concat('FROM query(CASE WHEN ', {{ usual }}, ' THEN replace(''', replace(concat(
  'WITH '
  {%- for name, read in reads %}, '{{ nbsql.word(name) }} AS NOT MATERIALIZED (FROM ', {{ nbsql.mark(marks) }}, {{ read }}
  {%- if name == 'nbsql_scores' %}, ' AS source WHERE ', {{ of_scores }}{% endif %}, '), '
  {%- endfor %}, 'nbsql_source AS NOT MATERIALIZED (FROM query_table(''', {{ nbsql.quoted('source') }}, ''') AS source WHERE ',
  {{ nbsql.start_of_condition(single) }}, {{ condition }},
  ') FROM (',
  {{ query }},
  ')'
), '''', ''''''), ''', {{ nbsql.mark(marks) }}, ', {{ nbsql.database_of_macro(probe) | indent(2) }}, ') END)'))
{%- endmacro %}

{# A literal, the name of a calibration, as the text of its rows with the promise that the arguments of such a macro ask for. #}
{% macro promised_calibration_as_text(relation) -%}
{{ relation }} || ' WHERE method <> ''certain'' OR (probability >= ' || CASE
    WHEN certain > 0 AND certain < 1 THEN CAST(certain AS VARCHAR)
    ELSE {{ nbsql.raise_error('certain must be a number between 0 and 1, such as 0.9') }}
  END || ' AND (class_no IS NULL) <> ' || CAST(by_class AS VARCHAR) || ')'
{%- endmacro %}

{# The mark of the place of the database, which no name has. #}
{% macro mark(marks) -%} {% if marks == 1 %}chr(1){% else %}repeat(chr(1), {{ marks }}){% endif %} {%- endmacro %}

{#
  Creates a table macro over two classes, FROM spam.likelihood_ratios('spam', 'ham'). likelihoods: the view that its query reads, an
  expression as in `create_table_macro`.
#}
{% macro create_table_macro_of_classes(relation, query, likelihoods, probe, single, usual) -%}
CREATE OR REPLACE MACRO {{ relation }}({{ nbsql.parameter_of_classes(1) }}, {{ nbsql.parameter_of_classes(2) }}, database := '') AS TABLE
WITH nbsql_likelihoods AS NOT MATERIALIZED (
  FROM query(concat('FROM query(CASE WHEN ', {{ usual }}, ' THEN concat(''FROM '', ', {{ nbsql.database_of_macro(probe) | indent(2) }},
  ', ''', replace({{ likelihoods }} || ' WHERE ' || {{ nbsql.start_of_condition(single) }} || 'TRUE', '''', ''''''), ''') END)'))
)
{{ query }}
{%- endmacro %}

{#
  The condition that the columns of the rows have the types that a model has learnt, which DuckDB knows when it plans a query, so that it
  is TRUE there. Else a value is an error. columns: (name, kinds, learnt) a column, with the kinds of values (nbsql/spec/column.py) that
  it may have and the word for what the model has learnt.
#}
{% macro has_learnt_types(columns) -%}
{% for name, kinds, learnt in columns -%}
{% set x %}source.{{ nbsql.ident(name) }}{% endset -%}
CASE
  WHEN {% for kind in kinds %}{{ nbsql.is_of_kind(x, kind) }} OR {% endfor %}{{ x }} IS NULL THEN TRUE
  ELSE {{ nbsql.error_of_types(name, learnt, x) }}
END
{%- if not loop.last %} AND {% endif -%}
{% else %}TRUE{% endfor %}
{%- endmacro %}

{# Whether a column has a type whose values are of a kind. #}
{% macro is_of_kind(x, kind) -%}
{% if kind == 'number' %}regexp_full_match(typeof({{ x }}), 'U?(TINY|SMALL|BIG|HUGE)?INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL.*|BIGNUM')
{%- elif kind == 'text' %}typeof({{ x }}) = 'VARCHAR' OR regexp_full_match(typeof({{ x }}), '(?s:ENUM.*)|UUID|JSON')
{%- elif kind == 'date' %}regexp_full_match(typeof({{ x }}), 'DATE|TIMESTAMP(_S|_MS|_NS)?')
{%- elif kind == 'timestamp' %}regexp_full_match(typeof({{ x }}), 'TIMESTAMP(_S|_MS|_NS)?')
{%- else %}{{ nbsql.is_of_type(x, [kind]) }}
{%- endif %}
{%- endmacro %}

{% macro error_of_types(name, learnt, x) -%}
error(printf({{ nbsql.text('column %s is %s, and the model has learnt %s there; read it as that, or cast it') }}, {{ nbsql.text(name) -}}
, typeof({{ x }}), {{ nbsql.text(learnt) }}))
{%- endmacro %}

{# An argument of a macro as it stands in a literal, between quotes. #}
{% macro quoted(name) -%} replace({{ nbsql.word(name) }}, '''', '''''') {%- endmacro %}

{# A call of a macro of the model by another on the same source, as the text that follows the database. relation: a literal. #}
{% macro call_on_source(relation) -%}
concat({{ relation }}, '(''', {{ nbsql.quoted('source') }}, '''', ', database := ''' || {{ nbsql.quoted('database') }} || '''', ')')
{%- endmacro %}

{#
  The database of a macro, followed by a point, as the text of an expression: the one given to the macro, or else what the probe finds. The
  probe needs the extension json. It is a text, which DuckDB parses only where it is used: DuckDB-Wasm would fetch the extension, and wait
  forever without a network. There the search path must find the model, and `is_only_model_of_name` checks that no other can be meant.
#}
{% macro database_of_macro(probe) -%}
CASE
  WHEN database <> '' THEN '''' || replace(database, '''', '''''') || '.'''
  WHEN {{ nbsql.is_wasm() }} THEN ''''''
  ELSE {{ probe }}
END
{%- endmacro %}

{# The start of a condition, as a text. single: a literal, the condition of `is_only_model_of_name`. #}
{% macro start_of_condition(single) -%}
CASE WHEN coalesce(database, '') = '' AND {{ nbsql.is_wasm() }} THEN {{ single }} || ' AND ' ELSE '' END
{%- endmacro %}

{% macro is_wasm() %}current_setting('duckdb_api') = 'wasm'{% endmacro %}

{#
  The single attached database with a model of this name, followed by a point. A macro does not know its own database, and no subquery may
  stand where the name of a relation is computed. But DuckDB reports the schemas in which it has found candidates for an unqualified name,
  up to a hundred of them, without the database if it is the one in use. That is named here all the same, as a view of another database
  looks up names in its own. The result is empty if the search path finds the model. The probe passes no argument, so that it calls none of
  the macros that it finds. It uses no lambda, because files of an old storage version write lambdas out in a form that DuckDB 2 does not
  read. Every macro of a model has this expression, so it is short: the patterns are whole texts, in which \Q and \E enclose a name.
#}
{% macro database_probe(schema) -%}
{% set schemas_found -%} json_serialize_plan('FROM class_scores()') ->> 'candidates' {%- endset -%}
{% set spec = nbsql.text('FROM "' ~ schema | replace('"', '""') ~ '".spec') -%}
{% set name = '\\Q' ~ schema | replace('\\E', '\\E\\\\E\\Q') ~ '\\E[.]class_scores(?:,| or |$)' -%}
{% set candidates = nbsql.text('(?:^|[ .])' ~ name) -%}
{% set database = nbsql.text('(?:^|, or |, | or )([^.,]+|[^ ,]+)[.]' ~ name) -%}
CASE coalesce(len(regexp_extract_all({{ schemas_found }}, {{ candidates }})), 0)
  WHEN 0 THEN ''
  WHEN 1 THEN CASE
    WHEN NOT regexp_matches({{ schemas_found }}, {{ database }}) THEN '"' || replace(current_database(), '"', '""') || '".'
    WHEN json_serialize_plan({{ spec }}) ->> 'error' = 'false' THEN {{ nbsql.error_of_namesakes(schema) }}
    ELSE '"' || replace(regexp_extract({{ schemas_found }}, {{ database }}, 1), '"', '""') || '".'
  END
  ELSE {{ nbsql.error_of_namesakes(schema) }}
END
{%- endmacro %}

{# The condition that no two databases have a model of this name, unless the search path says which. #}
{% macro is_only_model_of_name(schema) -%}
(
  SELECT
    CASE
      WHEN count(*) <= 1 OR list_contains(current_schemas(FALSE), {{ nbsql.text(schema) }}) THEN TRUE
      ELSE {{ nbsql.error_of_namesakes(schema) }}
    END
  FROM duckdb_tables()
  WHERE schema_name = {{ nbsql.text(schema) }} AND table_name = 'statistics'
)
{%- endmacro %}

{% macro error_of_namesakes(schema) -%}
{{ nbsql.raise_error("several databases have a model " ~ schema ~ ": say which, database := 'its name'") }}
{%- endmacro %}
