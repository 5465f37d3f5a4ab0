{#
  A look at the values of columns: the facts from which families are inferred (nbsql/learning/look.py), and the candidates of a choice
  among families (evaluation/auto.sql).
#}

{#
  One row per feature, if there are rows: feature (its index), rows, n (the number of values), distinct_values, least, largest, mean,
  irregular (the number of fractions) and marked (the number of zeros).
#}
{% macro number_facts(model, source, features, is_exact) -%}
{{ nbsql.facts_of_numbers(nbsql.numbers_of_features(model, source, features), is_exact) }}
{%- endmacro %}

{# The same of rows of feature and x, a number. #}
{% macro facts_of_numbers(values, is_exact) -%}
SELECT
  feature,
  {{ nbsql.number_of_rows() }},
  count(x) AS n,
  {{ nbsql.distinct_count(nbsql.word('x'), is_exact) }} AS distinct_values,
  min(x) AS least,
  max(x) AS largest,
  avg(x) AS mean,
  count(CASE WHEN x <> {{ nbsql.floor_of(nbsql.word('x')) }} THEN 1 END) AS irregular,
  count(CASE WHEN x = 0 THEN 1 END) AS marked
FROM {{ nbsql.subquery(values) }} AS looked
GROUP BY feature
{%- endmacro %}

{#
  One row per feature, if there are rows: feature (its index), rows, n (the number of values), distinct_values, least (the fewest
  characters), largest, mean, irregular (the number of values with several words), marked (with at least five words) and coded (with letters
  and digits).
#}
{% macro text_facts(model, source, features) -%}
{% set values -%}
{% call(feature) nbsql.values_of_features(model, source, features) -%}
CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endcall %}
{%- endset -%}
{{ nbsql.facts_of_texts(values) }}
{%- endmacro %}

{# The same of rows of feature and x, a text. Each text is looked at once, however often it occurs. #}
{% macro facts_of_texts(values) -%}
SELECT
  feature,
  CAST(sum(times) AS BIGINT) AS row_count,
  CAST(sum(CASE WHEN x IS NOT NULL THEN times ELSE 0 END) AS BIGINT) AS n,
  count(x) AS distinct_values,
  min(length(x)) AS least,
  0 AS largest,
  0 AS mean,
  CAST(sum(CASE WHEN trim(x) LIKE '% %' THEN times ELSE 0 END) AS BIGINT) AS irregular,
  CAST(sum(CASE WHEN trim(x) LIKE '% % % % %' AND lower(x) <> upper(x) THEN times ELSE 0 END) AS BIGINT) AS marked,
  CAST(sum(CASE WHEN lower(x) <> upper(x) AND {{ nbsql.has_digit(nbsql.word('x')) }} THEN times ELSE 0 END) AS BIGINT) AS coded
FROM (
  SELECT feature, x, count(*) AS times
  FROM {{ nbsql.subquery(values) | indent(2) }} AS looked
  GROUP BY feature, x
) AS texts
GROUP BY feature
{%- endmacro %}

{# One row per number, if there are rows: its index, and its second and third moment about its mean, in units of its range. #}
{% macro column_moments(model, source, centred) -%}
SELECT feature, avg(place * place) AS second, avg(place * place * place) AS third
FROM (
  SELECT feature, CASE WHEN abs(x) <= 1e-100 THEN 0 ELSE x END AS place
  FROM (
    {% call(each) nbsql.values_of_features(model, source, centred) -%}
    ({{ nbsql.finite(nbsql.number_of(each.column)) }} - {{ nbsql.number(each.mean) }}) / {{ nbsql.number(each.range) }}
    {%- endcall +%}
  ) AS numbers
) AS placed
GROUP BY feature
{%- endmacro %}

{#
  A sample of `share` in a million rows, always the same ones, chosen by a hash of their columns. A table whose rows have numbers may be
  sampled by blocks of a hundred rows, which is quicker. kinds: the kind of each column, by name.
#}
{% macro sampled_share(source, columns, kinds, share, has_row_numbers=false) -%}
{% set values %}{% if has_row_numbers %}source.rowid // 100{% else %}{{ nbsql.values_to_hash(columns, kinds) }}{% endif %}{% endset -%}
SELECT source.* FROM {{ source }} AS source WHERE {{ nbsql.mixed_hash(values) }} % 1000000 < {{ share }}
{%- endmacro %}

{# One row: how many rows break each of some rules (counting/rules.sql). #}
{% macro rows_that_break(source, checks) -%}
SELECT
  {% for check in checks %}
  count(CASE WHEN {{ nbsql['breaks_' ~ check.rule](check.column) }} THEN 1 END) AS broken_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}


{#
  One row: the number of rows and, for each group of columns, the rows in which all of them are 0 or 1, the fewest and the most ones of a
  row, and how often two ones would meet in a row by chance (nbsql/learning/one_hot.py).
#}
{% macro facts_of_flags(source, groups) -%}
SELECT
  count(*) AS row_count
  {%- for group in groups %}
  {%- set ones = nbsql.word('nbsql_ones_' ~ loop.index) %},
  count({{ ones }}), min({{ ones }}), max({{ ones }}),
  (power(sum({{ ones }}), 2) - ({% call(column) nbsql.sum_in_blocks(group) -%}
  power(sum({{ nbsql.ident(column.name) }}), 2)
  {%- endcall %})) / 2.0 / nullif(count(*), 0)
  {%- endfor +%}
FROM (
  SELECT
    *
    {%- for group in groups %},
    {% call(column) nbsql.sum_in_blocks(group) %}{{ nbsql.ident(column.name) }}{% endcall %} AS nbsql_ones_{{ loop.index }}
    {%- endfor +%}
  FROM (
    SELECT
      {% for column in groups | sum(start=[]) | unique(attribute='name') %}
      CASE WHEN {{ nbsql.flag_is(column, 1) }} THEN 1 WHEN {{ nbsql.flag_is(column, 0) }} THEN 0 END AS {{ nbsql.ident(column.name) }}
      {{- nbsql.comma(loop) }}
      {% endfor %}
    FROM {{ source }} AS source
  ) AS flags
) AS counted
{%- endmacro %}

{# The name of the one of some columns of 0 and 1 that is 1. rest: the value where all are 0, if there is one. #}
{% macro category_of_flags(columns, rest) -%}
CASE
{%- for column in columns %} WHEN {{ nbsql.flag_is(column, 1) }} THEN {{ nbsql.text(column.name) }}{% endfor %}
{%- if rest %} WHEN {% for column in columns %}{{ nbsql.flag_is(column, 0) }}{% if not loop.last %} AND {% endif %}{% endfor %} THEN
{{- ' ' }}{{ nbsql.text(rest) }}{% endif %} END
{%- endmacro %}

{# Whether a column of 0 and 1, or of booleans, has one of the two. #}
{% macro flag_is(column, value) -%}
{% if column.kind != 'boolean' %}{{ nbsql.ident(column.name) }} = {{ value }}
{%- else %}{% if not value %}NOT {% endif %}{{ nbsql.ident(column.name) }}{% endif %}
{%- endmacro %}
