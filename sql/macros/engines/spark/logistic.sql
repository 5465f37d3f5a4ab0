{# Spark computes a common table expression wherever it is named. So one scan makes the sums of all levels, and one those of all pairs. #}
{% macro spark__logistic_groups(problem, curvature) -%}
{% if problem.levels -%}
{% set rows = nbsql.with_levels([problem.levels]) -%}
{{ nbsql.logistic_group(problem, curvature, rows, nbsql.word('i')) }}
{%- endif %}
{%- if curvature and problem.level_pairs -%}
{% set rows = nbsql.with_levels([problem.level_pairs | map('first'), problem.level_pairs | map('last')]) -%}
{{ nbsql.logistic_group(problem, curvature, rows, nbsql.word('i'), nbsql.word('j')) }}
{%- endif %}
{%- endmacro %}

{# The rows, once for each level, i, or for each of two levels side by side, i and j. #}
{% macro with_levels(sides) -%}
{% set lists = namespace(found=[]) -%}
{% for features in sides -%}
{% set codes %}{% for feature in features %}{{ nbsql.of_feature('code', feature) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set lists.found = lists.found + [nbsql.array_of(codes)] -%}
{% endfor -%}
(
  SELECT *, {{ nbsql.unnested(lists.found, ['i', 'j'][:sides | length]) | indent(2) }}
  FROM predicted
) AS coded
{%- endmacro %}
