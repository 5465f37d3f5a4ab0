{#
  What three columns say of the class together, and no two of them (nbsql/learning/interactions.py). A row is predicted by the counts of the
  other rows, its own left out: by those of the values of one column, shrunk to the priors P by 5 rows; of two columns, shrunk to what the
  two say by themselves; and of three, shrunk to what their pairs say:

    P(c | x, y, z)  =  (n_xyzc + 5 q_c) / (n_xyz + 5)          q_c  ~  P(c) p_xy p_xz p_yz / (p_x p_y p_z)

  which is Kirkwood's superposition (Statistical mechanics of fluid mixtures, Journal of Chemical Physics 3, 1935), as posteriors. The gain
  of the three is the sum over the rows of ln P(c | x, y, z) - ln q_c: below 0 in the mean where they say nothing more.
#}

{# Coded rows (tree.sql) with the class and each value as a number from 1, by its order; NULL where it is missing. #}
{% macro ranked_values(coded, numbers) -%}
SELECT
  dense_rank() OVER (ORDER BY class ASC NULLS LAST) AS class,
  n
  {%- for number in numbers %},
  {%- set value %}value_{{ number }}{% endset %}
  CASE WHEN {{ value }} IS NOT NULL THEN dense_rank() OVER (ORDER BY {{ value }} ASC NULLS LAST) END AS {{ value }}
  {%- endfor +%}
FROM {{ coded }} AS coded
{%- endmacro %}

{# One row: the weight of all coded rows, and their number. #}
{% macro weight_and_rows(coded) -%} SELECT sum(n), count(*) FROM {{ coded }} AS coded {%- endmacro %}

{# One row per triple of columns: triple (its place in the list, from 1), gain, and error, its standard error. own: the weight of a row. #}
{% macro gains_of_triples(ranked, numbers, triples, classes, own) -%}
{% set ks = range(1, classes + 1) -%}
{% set axes = [nbsql.word('x'), nbsql.word('y'), nbsql.word('z')] -%}
{% set pairs = [nbsql.word('xy'), nbsql.word('xz'), nbsql.word('yz')] -%}
{% set values %}{% for number in numbers %}value_{{ number }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
WITH cells AS {{ nbsql.materialized() }}(
  SELECT
    triple, x, y, z
    {%- for k in ks %},
    CAST(sum(CASE WHEN class = {{ k }} THEN n ELSE 0 END) AS {{ nbsql.double() }}) AS xyz_{{ k }}
    {%- endfor +%}
  FROM (
    SELECT
      listed.class,
      listed.n,
      triples.triple,
      {% for axis in axes %}
      {{ nbsql.element(nbsql.word('listed.nbsql_values'), nbsql.word('triples.place_') ~ axis) }} AS {{ axis }}{{ nbsql.comma(loop) }}
      {% endfor %}
    FROM (SELECT class, n, {{ nbsql.array_of(values) }} AS nbsql_values FROM {{ ranked }} AS ranked) AS listed
    CROSS JOIN {% call(triple, place) nbsql.constants(triples, 'triples', ['triple', 'place_x', 'place_y', 'place_z'], 4) -%}
    {{ place }}{% for number in triple %}, {{ numbers.index(number) + 1 }}{% endfor %}
    {%- endcall +%}
  ) AS valued
  WHERE x IS NOT NULL AND y IS NOT NULL AND z IS NOT NULL
  GROUP BY triple, x, y, z
),
sums AS (
  SELECT
    cells.*
    {%- for k in ks %},
    sum(xyz_{{ k }}) OVER (PARTITION BY triple) AS all_{{ k }}
    {%- for name in axes + pairs %},
    sum(xyz_{{ k }}) OVER (PARTITION BY triple{% for axis in name %}, {{ nbsql.word(axis) }}{% endfor %}) AS {{ name }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM cells
),
-- the rows of a class in a cell, which are alike
own AS (
  SELECT
    triple,
    c,
    CASE c{% for k in ks %} WHEN {{ k }} THEN xyz_{{ k }}{% endfor %} END AS n
    {%- for k in ks %},
    (all_{{ k }} + 1) / ({{ nbsql.sum_over(ks, 'all') }} + {{ classes }}) AS prior_{{ k }}
    {%- for name in axes + pairs + [nbsql.word('xyz')] %},
    {{ name }}_{{ k }} - CASE WHEN c = {{ k }} THEN least({{ nbsql.number(own) }}, xyz_{{ k }}) ELSE 0 END AS {{ name }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM sums
  CROSS JOIN {% call(k, _) nbsql.constants(ks, 'classes', ['c'], 2) %}{{ k }}{% endcall +%}
),
of_one AS (
  SELECT
    own.*
    {%- for axis in axes %}
    {%- for k in ks %},
    ({{ axis }}_{{ k }} + 5 * prior_{{ k }}) / ({{ nbsql.sum_over(ks, axis) }} + 5) AS p_{{ axis }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM own
  WHERE n > 0
),
of_two AS (
  SELECT
    of_one.*
    {%- for pair in pairs %}
    {%- for k in ks %},
    ({{ pair }}_{{ k }} + 5 * {{ nbsql.both_alone(pair, k) }} / (
      {%- for j in ks %}{{ nbsql.both_alone(pair, j) }}{% if not loop.last %} + {% endif %}{% endfor -%}
    )) / ({{ nbsql.sum_over(ks, pair) }} + 5) AS p_{{ pair }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM of_one
),
superposed AS (
  SELECT
    of_two.*
    {%- for k in ks %},
    prior_{{ k }} * p_xy_{{ k }} * p_xz_{{ k }} * p_yz_{{ k }} / (p_x_{{ k }} * p_y_{{ k }} * p_z_{{ k }}) AS q_{{ k }}
    {%- endfor +%}
  FROM of_two
),
gains AS (
  SELECT triple, n, ln((own_n + 5 * q) / (total + 5) / q) AS gain
  FROM (
    SELECT
      triple,
      n,
      CASE c{% for k in ks %} WHEN {{ k }} THEN xyz_{{ k }}{% endfor %} END AS own_n,
      {{ nbsql.sum_over(ks, 'xyz') }} AS total,
      CASE c{% for k in ks %} WHEN {{ k }} THEN q_{{ k }}{% endfor %} END / ({{ nbsql.sum_over(ks, 'q') }}) AS q
    FROM superposed
  ) AS predicted
)
SELECT triple, sum(n * gain) AS gain, sqrt(greatest(0, sum(n * gain * gain) - sum(n * gain) * sum(n * gain) / sum(n))) AS error
FROM gains
GROUP BY triple
{%- endmacro %}

{# The sum over the classes of columns with such a name. #}
{% macro sum_over(ks, name) -%}
{% for k in ks %}{{ nbsql.word(name) }}_{{ k }}{% if not loop.last %} + {% endif %}{% endfor %}
{%- endmacro %}

{# What two columns say of class k by themselves, up to a factor. #}
{% macro both_alone(pair, k) -%} p_{{ nbsql.word(pair[0]) }}_{{ k }} * p_{{ nbsql.word(pair[1]) }}_{{ k }} / prior_{{ k }} {%- endmacro %}
