{#
  k-means within each class: which component of its class a row belongs to (Ordonez and Pitchaimalai, Bayesian classifiers
  programmed in SQL, IEEE Transactions on Knowledge and Data Engineering 22, 2010).

  The distance of a row x from a centre c of its class is the sum of (x_f - c_f)^2 / s_f^2 over the numbers f that the row has, s_f
  the standard deviation of f in the class. How many numbers a row lacks is the same for all centres, so it decides nothing.

  The centres come as a row a class, so that every reading of the rows is one scan and one small join. In all of these:

    splits    the classes that are split: their labels, the weights 1 / s_f^2 of the numbers, and their centres
    numbers   the columns
#}

{#
  One row a class: label, weight_1, weight_2, ..., centre_1_1 (of component 1, number 1), ... A class of fewer components has its first
  again, which is never nearer.
#}
{% macro centres_by_class(splits, numbers, most) -%}
(
  VALUES
    {% for split in splits %}
    ({{ nbsql.text(split.label) }}
    {%- for weight in split.weights %}, {{ nbsql.number(weight) }}{% endfor %}
    {%- for j in range(most) %}
    {%- for x in split.centres[j if j < split.centres | length else 0] %}, {{ nbsql.number(x) }}{% endfor %}
    {%- endfor %}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS centres(label
  {%- for f in range(1, numbers | length + 1) %}, weight_{{ f }}{% endfor %}
  {%- for j in range(1, most + 1) %}
  {%- for f in range(1, numbers | length + 1) %}, centre_{{ j }}_{{ f }}{% endfor %}
  {%- endfor %})
{%- endmacro %}

{# The rows that count: label, weight, nbsql_x_1, nbsql_x_2, ... #}
{% macro numbers_of_rows(model, source, numbers) -%}
SELECT
  CAST({{ nbsql.target(model) }} AS {{ nbsql.string() }}){{ nbsql.binary() }} AS label,
  {%+ if model.weight %}{{ nbsql.weight(model) }}{% else %}1{%+ endif %} AS weight
  {%- for column in numbers %},
  {{ nbsql.number_of_row(column) }} AS nbsql_x_{{ loop.index }}
  {%- endfor %}

FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{% macro number_of_row(column) -%}
{% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset -%}
{{ nbsql.finite(x) }}
{%- endmacro %}

{# The squared distance of the row `rows` from its component j; what it lacks adds nothing. #}
{% macro squared_distance(count, j) -%}
{% for block in range(1, count + 1) | batch(50) -%}
(
{%- for f in block -%}
{% set difference %}(rows.nbsql_x_{{ f }} - centres.centre_{{ j }}_{{ f }}){% endset -%}
{% set weight %}centres.weight_{{ f }}{% endset -%}
coalesce({{ nbsql.weighted_squared_difference(difference, weight) }}, 0){% if not loop.last %} + {% endif %}
{%- endfor %})
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{% macro weighted_squared_difference(difference, weight) -%}
{{ difference }} * {{ difference }} * {{ weight }}
{%- endmacro %}

{# The number of the nearest centre; of equally near ones the first. #}
{% macro nearest_centre(most) -%}
CASE least({% for j in range(1, most + 1) %}nbsql_distance_{{ j }}{% if not loop.last %}, {% endif %}{% endfor %})
{%- for j in range(1, most + 1) %} WHEN nbsql_distance_{{ j }} THEN {{ j }}{% endfor %} END
{%- endmacro %}

{#
  A source with the component of each row, nbsql_slice: the statistics are then counted by it, as they are by slices. Component 1,
  the largest, has the rows of a class that is not split, or was never met, and those without any of the numbers.
#}
{% macro with_components(source, components, target) -%}
{% set numbers, most = components.numbers, components.max_count -%}
{% if most == 1 -%}
(SELECT source.*, '1' AS nbsql_slice FROM {{ source }} AS source)
{%- else -%}
(
  SELECT rows.*, CAST(coalesce({{ nbsql.nearest_centre(most) }}, 1) AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_slice
  FROM (
    SELECT
      rows.*
      {%- for j in range(1, most + 1) %},
      {{ nbsql.squared_distance(numbers | length, j) }} AS nbsql_distance_{{ j }}
      {%- endfor %}

    FROM (
      SELECT
        source.*
        {%- for column in numbers %},
        {{ nbsql.number_of_row(column) }} AS nbsql_x_{{ loop.index }}
        {%- endfor %}

      FROM {{ source }} AS source
    ) AS rows
    LEFT JOIN {{ nbsql.centres_by_class(components.splits, numbers, most) | indent(4) }}
      ON centres.label = CAST(rows.{{ nbsql.ident(target) }} AS {{ nbsql.string() }}){{ nbsql.binary() }}
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS rows
)
{%- endif %}
{%- endmacro %}

{#
  One row a class and component that has rows, after one of Lloyd's iterations: label, component, n, and how far the mean of its rows is
  from the first centre, a list by number.
#}
{% macro moved_centres(model, source, numbers, splits, most) -%}
{% set moves -%}
{% for column in numbers -%}
{% set x %}nbsql_x_{{ loop.index }}{% endset -%}
{% if model.weight %}{{ nbsql.class_total(model, x) }} / nullif({{ nbsql.weighted_count(model, x) }}, 0){% else %}avg({{ x }}){% endif %}
{%- if not loop.last %}, {% endif %}
{%- endfor %}
{%- endset -%}
SELECT
  label,
  {{ nbsql.nearest_centre(most) }} AS component,
  sum(weight) AS n,
  {{ nbsql.list_of(moves, nbsql.double()) }} AS moves
FROM (
  SELECT
    rows.label,
    rows.weight
    {%- for column in numbers %},
    rows.nbsql_x_{{ loop.index }} - centres.centre_1_{{ loop.index }} AS nbsql_x_{{ loop.index }}
    {%- endfor %}
    {%- for j in range(1, most + 1) %},
    {{ nbsql.squared_distance(numbers | length, j) }} AS nbsql_distance_{{ j }}
    {%- endfor %}

  FROM (
    {{ nbsql.numbers_of_rows(model, source, numbers) | indent(4) }}
  ) AS rows
  JOIN {{ nbsql.centres_by_class(splits, numbers, most) | indent(2) }} ON centres.label = rows.label
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS distances
GROUP BY label, component
{%- endmacro %}

{# One of so many of the rows that count, by a hash of their numbers, with what k-means reads of them. #}
{% macro sampled_rows(model, source, numbers, every) -%}
SELECT
  source.{{ nbsql.ident(model.target) }}
  {%- if model.weight %}, source.{{ nbsql.ident(model.weight) }}{% endif %}
  {%- for column in numbers %}, source.{{ nbsql.ident(column) }}{% endfor %}

FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }} AND {{ nbsql.hash_of_numbers(numbers) }} % {{ every }} = 0
{%- endmacro %}

{% macro hash_of_numbers(numbers) -%}
{% set values %}{% for column in numbers %}{{ nbsql.number_of_row(column) }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
{{ nbsql.mixed_hash(values) }}
{%- endmacro %}

{# A whole number of at least 0, of which the remainders tell nothing of the values. #}
{% macro mixed_hash(values) -%}
hash(hash({{ values }}))
{%- endmacro %}

{# Of a group: the greatest of its so many smallest, each counted once. #}
{% macro greatest_of_smallest(x, count) -%}
list_max(min(DISTINCT {{ x }}, {{ count }}))
{%- endmacro %}

{% macro distinct_rows(source, numbers) -%}
SELECT count(DISTINCT {{ nbsql.hash_of_numbers(numbers) }}) AS rows FROM {{ source }} AS source
{%- endmacro %}

{# The mean and the standard deviation of each number in each class: label, feature, mean, deviation. #}
{% macro deviations(cells) -%}
SELECT CAST(class AS {{ nbsql.string() }}){{ nbsql.binary() }} AS label, feature, mean, sqrt(m2 / n) AS deviation
FROM {{ cells }} AS cells
WHERE m2 IS NOT NULL
{%- endmacro %}


{#
  Where k-means begins: among some points of each class, the one that makes the sum of the squared distances to it least, then
  one by one that which makes the sum of those to the nearest least, given the ones before (BUILD: Kaufman and Rousseeuw,
  Finding Groups in Data, 1990, section 2.4). No chance is in it, and points far out are not preferred.

  The points are those of the class, equal ones once, with the `size` smallest hashes: label, point, weight, nbsql_x_1, ...
#}
{% macro candidates(model, source, numbers, labels, size) -%}
{% set values %}{% for column in numbers %}nbsql_x_{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
WITH nbsql_points AS {{ nbsql.not_materialized() }}(
  SELECT *, {{ nbsql.mixed_hash(values) }} AS hashed
  FROM (
    {{ nbsql.numbers_of_rows(model, source, numbers) | indent(4) }}
  ) AS rows
  WHERE label IN ({% for label in labels %}{{ nbsql.text(label) }}{% if not loop.last %}, {% endif %}{% endfor %})
    AND coalesce({% for column in numbers %}nbsql_x_{{ loop.index }}, {% endfor %}NULL) IS NOT NULL
)
SELECT
  points.label,
  row_number() OVER (
    PARTITION BY points.label
    ORDER BY points.hashed ASC NULLS LAST{% for _ in numbers %}, nbsql_x_{{ loop.index }} ASC NULLS LAST{% endfor %}

  ) AS point,
  sum(weight) AS weight
  {%- for column in numbers %},
  nbsql_x_{{ loop.index }}
  {%- endfor %}

FROM {{ nbsql.points_of_smallest_hashes(nbsql.word('nbsql_points'), size) }}
GROUP BY points.label, points.hashed{% for column in numbers %}, nbsql_x_{{ loop.index }}{% endfor %}

{%- endmacro %}

{# The points of each class that have one of so many smallest hashes. #}
{% macro points_of_smallest_hashes(points, size) -%}
{{ points }} AS points
JOIN (
  SELECT label, {{ nbsql.greatest_of_smallest(nbsql.word('hashed'), size) }} AS hashed FROM {{ points }} GROUP BY label
) AS last ON last.label = points.label AND points.hashed <= last.hashed
{%- endmacro %}

{#
  The distances of the candidates from the points of their class, over the numbers that both have, as of all; of none, as if they were
  strangers.
#}
{% macro distances_of_candidates(candidates, numbers, splits) -%}
{% set count = numbers | length -%}
SELECT
  candidates.label,
  candidates.point AS candidate,
  rows.point,
  rows.weight,
  coalesce(
    {{ count }} * ({{ nbsql.between_points(count) }}) / nullif({{ nbsql.shared_number_count(count) }}, 0),
    {{ 2 * count }}
  ) AS distance
FROM {{ candidates }} AS candidates
JOIN {{ candidates }} AS rows ON rows.label = candidates.label
JOIN {{ nbsql.centres_by_class(splits, numbers, 0) }} ON centres.label = candidates.label
{%- endmacro %}

{# The squared distance of two points over the numbers that both have; in blocks, because an expression may not nest as deep. #}
{% macro between_points(count) -%}
{% for block in range(1, count + 1) | batch(50) -%}
(
{%- for f in block -%}
{% set difference %}(rows.nbsql_x_{{ f }} - candidates.nbsql_x_{{ f }}){% endset -%}
{% set weight %}centres.weight_{{ f }}{% endset -%}
coalesce({{ nbsql.weighted_squared_difference(difference, weight) }}, 0){% if not loop.last %} + {% endif %}
{%- endfor %})
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# How many numbers both points have. #}
{% macro shared_number_count(count) -%}
{% for block in range(1, count + 1) | batch(50) -%}
(
{%- for f in block -%}
CASE WHEN rows.nbsql_x_{{ f }} - candidates.nbsql_x_{{ f }} IS NULL THEN 0 ELSE 1 END{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{#
  One row a class that has another point: label, component, candidate, its next centre. Sums count as equal to seven digits, and the
  smaller hash then decides.
#}
{% macro next_centres(distances, chosen, component) -%}
{% set distance %}sum(distances.weight * least(distances.distance, nearest.distance)) / sum(distances.weight){% endset -%}
WITH nearest AS (
  SELECT distances.label, distances.point, min(distances.distance) AS distance
  FROM {{ distances }} AS distances
  JOIN {{ chosen }} AS chosen ON chosen.label = distances.label AND chosen.candidate = distances.candidate
  GROUP BY distances.label, distances.point
)
SELECT label, {{ component }} AS component, candidate
FROM (
  SELECT
    distances.label,
    distances.candidate,
    row_number() OVER (
      PARTITION BY distances.label
      ORDER BY {{ nbsql.round_to_seven_digits(distance) }} ASC NULLS LAST, distances.candidate ASC NULLS LAST
    ) AS place
  FROM {{ distances }} AS distances
  LEFT JOIN nearest ON nearest.label = distances.label AND nearest.point = distances.point
  LEFT JOIN nearest AS of_candidate ON of_candidate.label = distances.label AND of_candidate.point = distances.candidate
  WHERE of_candidate.distance IS NULL OR of_candidate.distance > 0
  GROUP BY distances.label, distances.candidate
) AS sums
WHERE place = 1
{%- endmacro %}

{% macro round_to_seven_digits(x) -%}
CAST({{ x }} AS REAL)
{%- endmacro %}

{% macro no_centres(distances) -%}
SELECT label, 0 AS component, candidate FROM {{ distances }} AS distances WHERE FALSE
{%- endmacro %}

{# The points chosen: label, component, and their numbers, a list. #}
{% macro first_centres(chosen, candidates, numbers) -%}
{% set values %}{% for column in numbers %}candidates.nbsql_x_{{ loop.index }}{% if not loop.last %}, {% endif %}{% endfor %}{% endset -%}
SELECT chosen.label, chosen.component, {{ nbsql.list_of(values, nbsql.double()) }} AS numbers
FROM {{ chosen }} AS chosen
JOIN {{ candidates }} AS candidates ON candidates.label = chosen.label AND candidates.point = chosen.candidate
ORDER BY chosen.label ASC NULLS LAST, chosen.component ASC NULLS LAST
{%- endmacro %}
