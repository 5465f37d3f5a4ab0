{#
  A look at the values of columns: the facts from which families are inferred (nbsql/learning/look.py), and the candidates of a choice
  among families (judging/auto.sql).
#}

{#
  One row: for each column n, distinct, least (of a text: the fewest characters), largest, broken (of a number: how many are not whole; of
  a text: how many have several words), marked (of a number: how many are 0; of a text: how many have at least five words), mean and coded
  (of a text: how many have letters and digits), and finally the number of rows.
#}
{% macro column_facts(model, source, numbers, texts, is_exact=true) -%}
SELECT
  {% for column in numbers %}
  {% set x = nbsql.word('number_' ~ loop.index) %}
  count({{ x }}) AS n_{{ loop.index }},
  {{ nbsql.distinct_count(x, is_exact) }} AS distinct_{{ loop.index }},
  min({{ x }}) AS least_{{ loop.index }},
  max({{ x }}) AS largest_{{ loop.index }},
  count(CASE WHEN {{ x }} <> {{ nbsql.floor_of(x) }} THEN 1 END) AS broken_{{ loop.index }},
  count(CASE WHEN {{ x }} = 0 THEN 1 END) AS marked_{{ loop.index }},
  avg({{ x }}) AS mean_{{ loop.index }},
  0 AS coded_{{ loop.index }},
  {% endfor %}
  {% for column in texts %}
  {% set x = nbsql.word('text_' ~ loop.index) %}
  count({{ x }}) AS n_text_{{ loop.index }},
  {{ nbsql.distinct_count(x, is_exact) }} AS distinct_text_{{ loop.index }},
  min(length({{ x }})) AS least_text_{{ loop.index }},
  0 AS largest_text_{{ loop.index }},
  count(CASE WHEN trim({{ x }}) LIKE '% %' THEN 1 END) AS broken_text_{{ loop.index }},
  count(CASE WHEN trim({{ x }}) LIKE '% % % % %' AND lower({{ x }}) <> upper({{ x }}) THEN 1 END) AS marked_text_{{ loop.index }},
  0 AS mean_text_{{ loop.index }},
  count(CASE WHEN lower({{ x }}) <> upper({{ x }}) AND translate({{ x }}, '0123456789', '') <> {{ x }} THEN 1 END)
    AS coded_text_{{ loop.index }},
  {% endfor %}
  count(*) AS rows
FROM (
  SELECT
    {% for column in numbers %}
    {{ nbsql.finite(nbsql.number_of(column)) }} AS number_{{ loop.index }},
    {% endfor %}
    {% for column in texts %}
    CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }} AS text_{{ loop.index }},
    {% endfor %}
    1 AS row
  FROM {{ source | indent(4) }} AS source
  WHERE {{ nbsql.is_counted(model) }}
) AS looked
{%- endmacro %}

{#
  One row: the second and the third moment of each number about its mean, in units of its range. centred: (column, mean, range) a number.
#}
{% macro column_moments(model, source, centred) -%}
SELECT
  {% for _ in centred %}
  {% set x = nbsql.word('place_' ~ loop.index) %}
  avg({{ x }} * {{ x }}) AS second_{{ loop.index }},
  avg({{ x }} * {{ x }} * {{ x }}) AS third_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM (
  SELECT
    {% for column, mean, range in centred %}
    {% set x %}({{ nbsql.finite(nbsql.number_of(column)) }} - {{ nbsql.number(mean) }}) / {{ nbsql.number(range) }}{% endset %}
    CASE WHEN abs({{ x }}) <= 1e-100 THEN 0 ELSE {{ x }} END AS place_{{ loop.index }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ source | indent(4) }} AS source
  WHERE {{ nbsql.is_counted(model) }}
) AS placed
{%- endmacro %}

{# The number of distinct values; unless it is to be exact, an estimate that may be a tenth off, where that is quicker. #}
{% macro default__distinct_count(x, is_exact) -%}
{% if is_exact %}count(DISTINCT {{ x }}){% else %}approx_count_distinct({{ x }}){% endif %}
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
