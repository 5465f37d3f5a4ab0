{#
  Where the independence assumption fails: how much two features tell about each other within the classes. One row per pair, the most
  dependent first:

    feature, other
    n                   rows with a class that have both, by weight
    mutual_information  I(X; Y | C) = sum of p(x, y, c) ln(p(x, y, c) p(c) / (p(x, c) p(y, c))), in nats; 0 if they are independent
    by_chance           its expected value for independent features: sum over classes of (values of X - 1) (values of Y - 1) / 2n
                        (Miller, Note on the bias of information estimates, 1955)
    gain                the difference: the increase in the mean log-likelihood of a row if the two are modelled as one
    family              a family that does so, in Python; NULL if there is no gain, and for a number with a category

  The values of a number are eight equally probable bins of a normal distribution with its mean and standard deviation.

  features: triples of a column, its number, and whether it is numeric; pairs: of their numbers; families: of each pair; gaps: the numbers
  of the columns in which a missing value is a value.
#}
{% macro dependence(model, source, features, pairs, families, gaps) -%}
{% set numbers = features | selectattr(2) | list -%}
WITH {% if numbers %}{{ nbsql.moments_of_columns(model, source, numbers) }},
{% endif -%}
coded AS {{ nbsql.materialized() }}(
  SELECT
    {{ nbsql.target(model) }} AS class
    {%- if model.spec.weight %},
    {{ nbsql.weight(model) }} AS n
    {%- endif %}
    {%- for column, place, is_number in features %},
    {% set text %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endset %}
    {%+ if is_number %}{{ nbsql.normal_bin(column, place) }}{% else %}{{ text }}{%+ endif %} AS value_{{ place }}
    {%- endfor +%}
  FROM {{ source }} AS source
  {% if numbers %}
  JOIN moments ON TRUE
  {% endif %}
  WHERE source.{{ nbsql.ident(model.spec.target) }} IS NOT NULL{% if model.spec.weight %} AND {{ nbsql.counts_by_weight(model) }}{% endif %}

),
{{ nbsql.counted_pairs(nbsql.word('coded'), pairs, nbsql.word('n') if model.spec.weight else none, gaps) }},
names AS (
  SELECT * FROM {% call(feature, _) nbsql.constants(features, 'names', ['place', 'name'], 2) -%}
{{ feature[1] }}, {{ nbsql.text(feature[0]) }}
{%- endcall +%}
),
families AS (
  SELECT * FROM {% call(pair, place) nbsql.constants(pairs, 'families', ['a', 'b', 'family'], 2) -%}
{{ pair[0] }}, {{ pair[1] }}, {{ nbsql.nullable_text(families[place - 1]) }}
{%- endcall +%}
),
told AS (
  SELECT
    a,
    b,
    sum(n) AS n,
    greatest(sum(information) / sum(n), 0) AS mutual_information,
    sum(freedom) / (2 * sum(n)) AS by_chance
  FROM by_class
  GROUP BY a, b
)
SELECT
  names.name AS feature,
  others.name AS other,
  told.n,
  told.mutual_information,
  told.by_chance,
  greatest(told.mutual_information - told.by_chance, 0) AS gain,
  CASE WHEN told.mutual_information > told.by_chance THEN families.family END AS family
FROM told
JOIN names ON names.place = told.a
JOIN names AS others ON others.place = told.b
JOIN families ON families.a = told.a AND families.b = told.b
ORDER BY mutual_information DESC NULLS LAST, feature ASC NULLS LAST, other ASC NULLS LAST
{%- endmacro %}

{#
  Common table expressions that count pairs of columns. The last is by_class, one row per pair and class: a, b, n (the rows that have both),
  information (the sum of n ln(n(x, y) n / (n(x) n(y)))), freedom.

  coded: a relation of class and value_1, value_2, ...; size: a weight of its rows; none: each counts 1. gaps: the numbers of the columns
  in which a missing value is a value. few: whether there are few rows. numbered: whether all values are numbers.
#}
{% macro counted_pairs(coded, pairs, size=none, gaps=(), few=false, numbered=false) -%}
{% set n %}{% if size is none %}CAST(count(*) AS {{ nbsql.double() }}){% else %}sum({{ size }}){% endif %}{% endset -%}
cells AS {{ nbsql.subquery(nbsql.cells_of_pairs(coded, pairs, n, gaps=gaps, few=few, numbered=numbered)) }},
sums AS {{ nbsql.subquery(nbsql.sums_of_pairs()) }},
by_class AS (
  SELECT
    a,
    b,
    sum(n) AS n,
    sum(n * ln(n * of_class / (of_x * of_y))) AS information,
    CAST(({{ nbsql.count_of_values(nbsql.word('x'), gaps) }} - 1) * ({{ nbsql.count_of_values(nbsql.word('y'), gaps) }} - 1)
      AS {{ nbsql.double() }}) AS freedom
  FROM sums
  GROUP BY a, b, class
)
{%- endmacro %}

{# Each of `cells` with the sums over its pair and class, and its value of either column. #}
{% macro default__sums_of_pairs() -%}
SELECT
  a,
  b,
  class,
  x,
  y,
  n,
  sum(n) OVER (PARTITION BY a, b, class) AS of_class,
  sum(n) OVER (PARTITION BY a, b, class, x) AS of_x,
  sum(n) OVER (PARTITION BY a, b, class, y) AS of_y
FROM cells
{%- endmacro %}

{# An aggregate: the number of values of an expression, with a missing one if there are gaps. #}
{% macro count_of_values(x, gaps=()) -%}
count(DISTINCT {{ x }}){% if gaps %} + max(CASE WHEN {{ x }} IS NULL THEN 1 ELSE 0 END){% endif %}
{%- endmacro %}

{# To stand in a WHERE: whether a row has a weight above 0. #}
{% macro counts_by_weight(model) -%} NOT {{ nbsql.breaks_weight(model.spec.weight) }} AND {{ nbsql.weight(model) }} > 0 {%- endmacro %}

{#
  Common table expressions. The last is moments, one row: mean_1, deviation_1, ... of the number columns, triples of a column and its
  number, by weight.
#}
{% macro moments_of_columns(model, source, numbers) -%}
{% if not model.spec.weight -%}
moments AS (
  SELECT
    {% for column, place, _ in numbers %}
    {% set x = nbsql.number_of(column) %}
    avg({{ nbsql.finite(x) }}) AS mean_{{ place }},
    stddev_samp({{ nbsql.finite(x) }}) AS deviation_{{ place }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM {{ source }} AS source
)
{%- else -%}
weighed AS (
  SELECT
    {{ nbsql.weight(model) }} AS n
    {%- for column, place, _ in numbers %},
    {{ nbsql.finite(nbsql.number_of(column)) }} AS x_{{ place }}
    {%- endfor +%}
  FROM {{ source }} AS source
  WHERE {{ nbsql.counts_by_weight(model) }}
),
means AS (
  SELECT
    {% for _, place, _ in numbers %}
    sum(n * x_{{ place }}) / sum(CASE WHEN x_{{ place }} IS NOT NULL THEN n END) AS mean_{{ place }},
    sum(CASE WHEN x_{{ place }} IS NOT NULL THEN n END) - 1 AS freedom_{{ place }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM weighed
),
moments AS (
  SELECT
    {% for _, place, _ in numbers %}
    {% set mean %}means.mean_{{ place }}{% endset %}
    max({{ mean }}) AS mean_{{ place }},
    sqrt(sum(n * (x_{{ place }} - {{ mean }}) * (x_{{ place }} - {{ mean }}) / nullif(greatest(means.freedom_{{ place }}, 0), 0)))
      AS deviation_{{ place }}{{ nbsql.comma(loop) }}
    {% endfor %}
  FROM weighed
  JOIN means ON TRUE
)
{%- endif %}
{%- endmacro %}

{# The octile of a normal distribution that contains a number, from 0 to 7; NULL if the number is missing. #}
{% macro normal_bin(column, place) -%}
{% set x = nbsql.number_of(column) -%}
{% set upper = [0.3186393639643752, 0.6744897501960817, 1.1503493803760079] -%}
{% set edges = [-upper[2], -upper[1], -upper[0], 0.0, upper[0], upper[1], upper[2]] -%}
CASE
  WHEN {{ nbsql.finite(x) }} IS NULL THEN NULL
  {% for edge in edges %}
  WHEN {{ x }} < moments.mean_{{ place }} + {{ nbsql.number(edge) }} * moments.deviation_{{ place }}
  THEN {{ loop.index0 }}
  {% endfor %}
  ELSE 7 END
{%- endmacro %}

{# The value of a coded column, a text or the number of a bin, as text. Rows are grouped by the number, which takes half of the time. #}
{% macro value_as_text(place, numbered=false) -%}
{% if numbered %}value_{{ place }}{% else %}CAST(value_{{ place }} AS {{ nbsql.string() }}){{ nbsql.binary() }}{% endif %}
{%- endmacro %}

{#
  Counts of the rows `coded`, one row per pair of columns, class and two values: a and b (the places of the columns), class, x, y, n, which
  is summed by the expression `n`. keys: the class, and other columns by which rows are counted. gaps: the places of the columns in which a
  missing value is a value; a row that lacks another is not counted. few: whether there are few rows, which then meet all pairs in one
  join, as a GROUP BY for each pair costs some milliseconds however few they are.
#}
{% macro default__cells_of_pairs(coded, pairs, n, keys=['class'], gaps=(), few=false, numbered=false) -%}
{% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% if few -%}
{% set places = namespace(all=[]) -%}
{% for pair in pairs -%}
{% for place in pair if place not in places.all %}{% set places.all = places.all + [place] %}{% endfor -%}
{% endfor -%}
{% set positions = namespace(of={}) -%}
{% for place in places.all %}{% set positions.of = dict(positions.of, **{'_' ~ place: loop.index}) %}{% endfor -%}
{% set values %}{% for place in places.all %}{{ nbsql.value_as_text(place) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{% set missing %}{% for gap in gaps %}{{ gap }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT a, b, {{ by }}, x, y, {{ n }} AS n
FROM (
  SELECT
    listed.*,
    pairs.a,
    pairs.b,
    {{ nbsql.element(nbsql.word('listed.nbsql_values'), nbsql.word('pairs.place_a')) }} AS x,
    {{ nbsql.element(nbsql.word('listed.nbsql_values'), nbsql.word('pairs.place_b')) }} AS y
  FROM (SELECT coded.*, {{ nbsql.array_of(values) }} AS nbsql_values FROM {{ coded }} AS coded) AS listed
  CROSS JOIN {% call(pair, _) nbsql.constants(pairs, 'pairs', ['a', 'b', 'place_a', 'place_b'], 2) -%}
{{ pair[0] }}, {{ pair[1] }}, {{ positions.of['_' ~ pair[0]] }}, {{ positions.of['_' ~ pair[1]] }}
{%- endcall +%}
) AS pairs
WHERE
  (x IS NOT NULL{% if gaps %} OR a IN ({{ missing }}){% endif %})
  AND (y IS NOT NULL{% if gaps %} OR b IN ({{ missing }}){% endif %})
GROUP BY a, b, {{ by }}, x, y
{%- else -%}
{% for a, b in pairs -%}
SELECT
  {{ a }} AS a, {{ b }} AS b, {{ by }},
  {{ nbsql.value_as_text(a, numbered) }} AS x, {{ nbsql.value_as_text(b, numbered) }} AS y, {{ n }} AS n
FROM {{ coded }} AS coded
WHERE {{ nbsql.has_both_values(a, b, gaps) }}
GROUP BY {{ by }}, value_{{ a }}, value_{{ b }}
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endif %}
{%- endmacro %}

{# The condition that a coded row has a value of both columns. #}
{% macro has_both_values(a, b, gaps) -%}
{% set needed = [a, b] | reject('in', gaps) | list -%}
{% for place in needed %}value_{{ place }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% else %}TRUE{% endfor %}
{%- endmacro %}
