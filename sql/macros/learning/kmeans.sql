{#
  k-means within each class, which assigns each row to a component of its class (Ordonez and Pitchaimalai, Bayesian classifiers programmed
  in SQL, IEEE Transactions on Knowledge and Data Engineering 22, 2010).

  The distance of a row x from a centre c of its class is the sum of (x_f - c_f)^2 / s_f^2 over the numbers f that the row has, where s_f
  is the standard deviation of f in the class. A missing number is missing for all centres, so it does not affect which one is nearest.

  The centres are one row per class, so each reading of the rows is one scan and one small join. Parameters of these macros:

    splits    the classes that are split: their labels, the weights 1 / s_f^2 of the numbers, and their centres
    numbers   the columns
#}

{#
  One row per class: label, weight_1, weight_2, ..., centre_1_1 (of component 1, number 1), ... A class with fewer components repeats its
  first one, which is never nearer than itself.
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

{# The counted rows: label, weight, nbsql_x_1, nbsql_x_2, ... #}
{% macro numbers_of_rows(model, source, numbers) -%}
SELECT
  {{ nbsql.text_of(nbsql.target(model)) }} AS label,
  {%+ if model.spec.weight %}{{ nbsql.weight(model) }}{% else %}1{%+ endif %} AS weight
  {%- for column in numbers %},
  {{ nbsql.finite(nbsql.number_of(column)) }} AS nbsql_x_{{ loop.index }}
  {%- endfor +%}
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }}
{%- endmacro %}

{#
  The squared distance of the row `rows` from a point, whose numbers are the columns with these names up to their number; a missing number
  adds nothing.
#}
{% macro squared_distance(count, point) -%}
{% call(f) nbsql.sum_in_blocks(range(1, count + 1)) -%}
{% set difference %}(rows.nbsql_x_{{ f }} - {{ nbsql.word(point) }}_{{ f }}){% endset -%}
coalesce({{ nbsql.weighted_squared_difference(difference, nbsql.word('centres.weight_' ~ f)) }}, 0)
{%- endcall %}
{%- endmacro %}

{# The number of the nearest centre; of equally near ones the first. #}
{% macro nearest_centre(most) -%}
CASE least({% for j in range(1, most + 1) %}nbsql_distance_{{ j }}{{ nbsql.comma_blank(loop) }}{% endfor %})
{%- for j in range(1, most + 1) %} WHEN nbsql_distance_{{ j }} THEN {{ j }}{% endfor %} END
{%- endmacro %}

{#
  A source with the component of each row, nbsql_slice, by which the statistics are counted as by slices. Component 1, the largest, also
  takes the rows of a class that is not split or that k-means has not seen, and rows without any of the numbers.
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
      {{ nbsql.squared_distance(numbers | length, 'centres.centre_' ~ j) }} AS nbsql_distance_{{ j }}
      {%- endfor +%}
    FROM (
      SELECT
        source.*
        {%- for column in numbers %},
        {{ nbsql.finite(nbsql.number_of(column)) }} AS nbsql_x_{{ loop.index }}
        {%- endfor +%}
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
  One row per class and component with rows, after one of Lloyd's iterations: label, component, n, and the distance of the mean of its rows
  from the first centre, a list by number.
#}
{% macro updated_centres(model, source, numbers, splits, most) -%}
{% set moves -%}
{% for column in numbers -%}
{% set x %}nbsql_x_{{ loop.index }}{% endset -%}
{% if model.spec.weight %}{{ nbsql.class_total(model, x) }} / nullif({{
  nbsql.weighted_count(model, x) }}, 0){% else %}avg({{ x }}){% endif %}
{{- nbsql.comma_blank(loop) }}
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
    {{ nbsql.squared_distance(numbers | length, 'centres.centre_' ~ j) }} AS nbsql_distance_{{ j }}
    {%- endfor +%}
  FROM {{ nbsql.subquery(nbsql.numbers_of_rows(model, source, numbers)) | indent(2) }} AS rows
  JOIN {{ nbsql.centres_by_class(splits, numbers, most) | indent(2) }} ON centres.label = rows.label
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS distances
GROUP BY label, component
{%- endmacro %}

{# A sample of one in so many of the counted rows, by a hash of their numbers, with the columns that k-means reads. #}
{% macro sampled_rows(model, source, numbers, every) -%}
SELECT
  source.{{ nbsql.ident(model.spec.target) }}
  {%- if model.spec.weight %}, source.{{ nbsql.ident(model.spec.weight) }}{% endif %}
  {%- for column in numbers %}, source.{{ nbsql.ident(column) }}{% endfor +%}
FROM {{ source }} AS source
WHERE {{ nbsql.is_counted(model) }} AND {{ nbsql.hash_of_numbers(numbers) }} % {{ every }} = 0
{%- endmacro %}

{# The hash of the numbers of a row. #}
{% macro hash_of_numbers(numbers) -%}
{% set values %}{% for column in numbers %}{{ nbsql.finite(nbsql.number_of(column)) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ nbsql.mixed_hash(values) }}
{%- endmacro %}

{# One row per class and number, with its mean and standard deviation: label, feature, mean, deviation. #}
{% macro class_deviations(cells) -%}
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS label, feature, mean, sqrt(m2 / n) AS deviation
FROM {{ cells }} AS cells
WHERE m2 IS NOT NULL
{%- endmacro %}

{#
  The candidates for the initial centres. From some points of each class, the first centre is the one with the smallest sum of squared
  distances to all points; each further one minimises the sum of the squared distances to the nearest centre, given those before (BUILD:
  Kaufman and Rousseeuw, Finding Groups in Data, 1990, section 2.4). Nothing is random, and outliers are not preferred.

  The points are those of the class with the `size` smallest hashes, equal ones once: label, point, weight, nbsql_x_1, ...
#}
{% macro candidate_points(model, source, numbers, labels, size) -%}
{% set values %}{% for column in numbers %}nbsql_x_{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
WITH nbsql_points AS {{ nbsql.not_materialized() }}(
  SELECT *, {{ nbsql.mixed_hash(values) }} AS hashed
  FROM {{ nbsql.subquery(nbsql.numbers_of_rows(model, source, numbers)) | indent(2) }} AS rows
  WHERE label IN ({% for label in labels %}{{ nbsql.text(label) }}{{ nbsql.comma_blank(loop) }}{% endfor %})
    AND coalesce({% for column in numbers %}nbsql_x_{{ loop.index }}, {% endfor %}NULL) IS NOT NULL
)
SELECT
  points.label,
  row_number() OVER (
    PARTITION BY points.label
    ORDER BY points.hashed ASC NULLS LAST{% for _ in numbers %}, nbsql_x_{{ loop.index }} ASC NULLS LAST{% endfor +%}
  ) AS point,
  sum(weight) AS weight
  {%- for column in numbers %},
  nbsql_x_{{ loop.index }}
  {%- endfor +%}
FROM {{ nbsql.points_of_smallest_hashes(nbsql.word('nbsql_points'), size) }}
GROUP BY points.label, points.hashed{% for column in numbers %}, nbsql_x_{{ loop.index }}{% endfor +%}
{%- endmacro %}

{# The points of each class that have one of the smallest hashes. #}
{% macro points_of_smallest_hashes(points, size) -%}
{{ points }} AS points
JOIN (
  SELECT label, {{ nbsql.greatest_of_smallest(nbsql.word('hashed'), size) }} AS hashed FROM {{ points }} GROUP BY label
) AS last ON last.label = points.label AND points.hashed <= last.hashed
{%- endmacro %}

{#
  The distances of the candidates from the points of their class, over the numbers that both have, scaled up to all numbers. If they have
  none in common, the distance is 2 for each number, as for unrelated points.
#}
{% macro distances_of_candidates(candidates, numbers, splits) -%}
{% set count = numbers | length -%}
SELECT
  candidates.label,
  candidates.point AS candidate,
  rows.point,
  rows.weight,
  coalesce(
    {{ count }} * ({{ nbsql.squared_distance(count, 'candidates.nbsql_x') }}) / nullif({{ nbsql.shared_number_count(count) }}, 0),
    {{ 2 * count }}
  ) AS distance
FROM {{ candidates }} AS candidates
JOIN {{ candidates }} AS rows ON rows.label = candidates.label
JOIN {{ nbsql.centres_by_class(splits, numbers, 0) }} ON centres.label = candidates.label
{%- endmacro %}

{# The number of columns in which both points have a number. #}
{% macro shared_number_count(count) -%}
{% call(f) nbsql.sum_in_blocks(range(1, count + 1)) -%}
CASE WHEN rows.nbsql_x_{{ f }} - candidates.nbsql_x_{{ f }} IS NULL THEN 0 ELSE 1 END
{%- endcall %}
{%- endmacro %}

{#
  One row per class with another point: label, component, candidate, its next centre. Sums are compared to seven digits, and in a tie the
  smaller hash decides.
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

{# The chosen points: label, component, and their numbers, a list. #}
{% macro first_centres(chosen, candidates, numbers) -%}
{% set values %}{% for column in numbers %}candidates.nbsql_x_{{ loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
SELECT chosen.label, chosen.component, {{ nbsql.list_of(values, nbsql.double()) }} AS numbers
FROM {{ chosen }} AS chosen
JOIN {{ candidates }} AS candidates ON candidates.label = chosen.label AND candidates.point = chosen.candidate
ORDER BY chosen.label ASC NULLS LAST, chosen.component ASC NULLS LAST
{%- endmacro %}
