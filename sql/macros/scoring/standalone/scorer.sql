{#
  A standalone scorer: one SELECT over the source that contains the numbers of the model, for engines in which no model lives. It is the
  query of a verb (predict.sql) and the scorer of score.sql, in which engines/standalone/ puts numbers in place of parameters, and in which
  each feature is a term (terms.sql). Common table expressions hold what these read:

    nbsql_inputs    for each feature the number or the value that its term reads, NULL if it is missing or not finite
    nbsql_coded     the same, and the codes of categories that are scored in pairs or lists, if a model has any
    nbsql_level_3   of a category with many values, or of pairs of categories, the term in every class, from nbsql_ratios_3
    nbsql_scored    the scores, if they are not in the query itself: by more steps, those of a calibration or of points follow

  Minus infinity of the engine itself occurs only in an answer; it is NULL on engines without it.
#}
{% macro standalone_scorer(scorer, source) -%}
{% set made = namespace(tables=[(nbsql.word('nbsql_inputs'), nbsql.standalone_inputs(scorer, source))]) -%}
{% set codes = namespace(columns=[]) -%}
{% for part in scorer.coded -%}
{% set codes.columns = codes.columns + [(nbsql.standalone_code(part), nbsql[part.macro](part, 1))] -%}
{% endfor -%}
{% if scorer.coded %}{{ nbsql.standalone_step(made, 'nbsql_coded', codes.columns) }}{% endif -%}
{% set rows = made.tables[-1][0] -%}
{% for term in scorer.form.star_categories -%}
{% set literals, level = nbsql.literal_rows(term.kind, term.keys, term.scores), nbsql.of_feature('nbsql_level', term) -%}
{% if term.shape == 'pairs' -%}
{% set ratios = [(nbsql.of_feature('nbsql_ratios', term), literals), (level, nbsql.standalone_means(scorer, term))] -%}
{% endif -%}
{% set made.tables = made.tables + (ratios if term.shape == 'pairs' else [(level, literals)]) -%}
{% endfor -%}
{% set scores = nbsql['scored_wide' if scorer.has_evidence else 'joint_scores'](scorer, rows, none, none) -%}
{% if scorer.has_shares or not scorer.has_evidence -%}
{% set made.tables = made.tables + [(nbsql.word('nbsql_scored'), scores)] -%}
{{ nbsql['standalone_shares' if scorer.has_shares else 'standalone_reasons'](scorer, made) }}
{%- set scored = made.tables[-1][0] -%}
{% else %}{% set scored = nbsql.subquery(scores) %}{% endif -%}
WITH {% for name, query in made.tables -%}
{% set is_part = name in ['nbsql_inputs', 'nbsql_ranked', 'nbsql_rested'] or name.startswith('nbsql_before') -%} {# of the next one #}
{% set is_fenced = name == 'nbsql_scored' and scorer.has_evidence -%}
{{ name }} AS {% if scorer.traits.materializes and not is_part and not is_fenced %}MATERIALIZED {% endif %}{{ nbsql.subquery(query) }}
{{- nbsql.comma_line(loop) }}
{%- endfor %}

{% set scorer = scorer.with_helpers(made.tables | map(attribute=1) | list + [scores]) -%}
{{ nbsql['standalone_points' if scorer.verb == 'points' else scorer.verb](scorer, scored) }}
{%- endmacro %}

{# The columns of the source that are passed on, and those that the terms read. #}
{% macro standalone_inputs(scorer, source) -%}
{% set star %}source.*{% endset -%}
{% set passed = scorer.options.passed_columns -%}
{% set items = namespace(list=[star] if passed is none else []) -%}
{% for column in passed or [] -%}
{% set item %}source.{{ nbsql.ident(column) }}{% endset -%}
{% set items.list = items.list + [item] -%}
{% endfor -%}
{% for term in scorer.read_terms -%}
{% set items.list = items.list + [nbsql.inputs(term, none, true, false)] -%}
{% endfor -%}
SELECT
  {% for item in items.list %}
  {{ item | indent(2) }}{{ nbsql.comma(loop) }}
  {% else %}
  1 AS nbsql_row
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}

{# Adds a step of a name to `made.tables`: the rows of the last one with more columns, pairs of a name and an expression. #}
{% macro standalone_step(made, name, columns) -%}
{% set before = made.tables[-1][0] -%}
{% set query -%}
SELECT
  {{ before }}.*
  {%- for name, x in columns %},
  {{ x | indent(2) }} AS {{ nbsql.word(name) }}
  {%- endfor +%}
FROM {{ before }}
{%- endset -%}
{% set made.tables = made.tables + [(nbsql.word(name), query)] -%}
{%- endmacro %}

{# A score, or a code, which is a whole number; NULL for the code of a missing value. #}
{% macro standalone_number(value) -%}
{% if value is none %}NULL{% elif value is integer %}{{ value }}{% elif value == 0 %}0{% else %}{{ nbsql.number(value) }}{% endif %}
{%- endmacro %}

{# Rows of literals: value (of a category, or a pair of codes), and class_1, class_2, ..., its term in each class, as numbers. #}
{% macro literal_rows(kind, keys, scores) -%}
{% set columns = namespace(names=['value']) -%}
{% for _ in scores[0] %}{% set columns.names = columns.names + ['class_' ~ loop.index] %}{% endfor -%}
{% set rows -%}
{% for key in keys -%}
{% set numbers %}{% for score in scores[loop.index0] %}, {{ nbsql.number(score) }}{% endfor %}{% endset -%}
{{ nbsql.row_keyword() }}({{ key }}{{ numbers }}){{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endset -%}
SELECT {{ nbsql.literal_value(kind) }} AS value{% for _ in scores[0] %}, class_{{ loop.index }}{% endfor +%}
FROM {{ nbsql.named_values(rows, 'literals', columns.names) }}
{%- endmacro %}

{# The same as a union, for engines that cannot select from VALUES. #}
{% macro literal_union(kind, keys, scores) -%}
{% for key in keys -%}
{% set first = loop.first -%}
{% set value %}{% if first and kind == 'text' %}CAST({{ key }} AS {{ nbsql.string() }}){% else %}{{ key }}{% endif %}{% endset -%}
SELECT {{ value }}{% if first %} AS value{% endif %}
{%- for score in scores[loop.index0] -%}
, {{ nbsql.number(score) }}{% if first %} AS class_{{ loop.index }}{% endif %}
{%- endfor %}
{%- if not loop.last %} UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}
