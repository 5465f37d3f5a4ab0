{#
  A number whose density in a class is the mean of normal densities around the values of the class, on a grid:

    p(x | c) = (sum over the values v of phi((x - v) / h_c) / h_c + alpha / range) / (n_c + alpha)

  It is counted and looked up as a category, the number of the grid cell. h_c is given, or s_c (3 n_c / 4)^(-1/5) by Silverman's rule
  (Density Estimation for Statistics and Data Analysis, 1986, section 3.4.2), where s_c is the standard deviation; it is at least the
  width of a grid cell. A class without a value has the uniform density. In the likelihoods, `likelihood` is the density in the middle of
  the grid cell.
#}

{# The number of the grid cell of a number, as text; NULL if the number is missing. #}
{% macro kernel_value(feature, relation) -%}
{% set x = nbsql.number_of(feature.column, relation) -%}
{% set place %}({{ x }} - {{ nbsql.number(feature.family.low) }}) / {{ nbsql.number(feature.family.width) }}{% endset -%}
{% set cell %}least(greatest({{ nbsql.floor_of(place) }}, 0), {{ feature.family.cells - 1 }}){% endset -%}
CASE WHEN {{ nbsql.finite(x) }} IS NOT NULL THEN
  CAST(CAST({{ cell }} AS BIGINT) AS {{ nbsql.string() }}){{ nbsql.binary() }}
END
{%- endmacro %}

{#
  One row per feature that has a value: the index of the feature, the smallest and the largest value, and the bandwidth over all classes;
  a weight of w counts as w rows.
#}
{% macro kernel_range(model, source, features) -%}
SELECT
  feature,
  min(x) AS least,
  max(x) AS largest,
{% if model.spec.weight %}
  coalesce(sqrt(sum(n * power(x - mean, 2)) / nullif(greatest(sum(n) - 1, 0), 0)) * power(0.75 * sum(n), -0.2), 0) AS bandwidth
FROM (
  SELECT feature, x, n, sum(n * x) OVER (PARTITION BY feature) / sum(n) OVER (PARTITION BY feature) AS mean
  FROM {{ nbsql.subquery(nbsql.weighted_numbers(model, source, features)) | indent(2) }} AS numbers
) AS centred
{% else %}
  coalesce(stddev_samp(x), 0) * power(0.75 * count(x), -0.2) AS bandwidth
FROM {{ nbsql.subquery(nbsql.numbers_of_features(model, source, features)) }} AS numbers
WHERE x IS NOT NULL
{% endif %}
GROUP BY feature
{%- endmacro %}

{# One row per class, feature and grid cell: the columns of likelihoods (likelihoods.sql). #}
{% macro kernel_likelihoods(features) -%}
WITH options AS (
  SELECT * FROM {% call(feature, _) nbsql.constants(features, 'options', ['feature', 'cells', 'width', 'bandwidth', 'alpha'], 2) -%}
{% set family = feature.family -%}
{{ nbsql.text(feature.name) }}, {{ family.cells }}, {{ nbsql.number(family.width) }}, {{ nbsql.nullable_double(family.bandwidth) }}, {{
  nbsql.number(family.added_count) }}
{%- endcall +%}
),
points AS (
  SELECT counts.class, counts.feature, {{ nbsql.cell_number(nbsql.word('counts.value')) }} AS cell, counts.n
  FROM counts
  JOIN options ON options.feature = counts.feature
),
spreads AS (
  SELECT
    class,
    points.feature,
    sum(n) AS n,
    coalesce(
      max(bandwidth),
      greatest(
        CASE WHEN sum(n) > 1 THEN
          sqrt(greatest(sum(n * cell * cell) - sum(n * cell) * sum(n * cell) / sum(n), 0) / (sum(n) - 1)) * power(0.75 * sum(n), -0.2)
        END,
        1
      ) * max(width)
    ) AS h
  FROM points
  JOIN options ON options.feature = points.feature
  GROUP BY class, points.feature
),
masses AS (
  {{ nbsql.grid_densities() | indent(2) }}
)
SELECT
  {{ nbsql.likelihood_columns() | indent(2) }}
FROM (
  SELECT
    classes.class,
    grid.feature,
    {{ nbsql.text_of(nbsql.word('grid.cell')) }} AS value,
    CASE
      WHEN coalesce(spreads.n, 0) + grid.alpha > 0
        THEN (coalesce(masses.mass, 0) + grid.alpha / (grid.cells * grid.width)) / (coalesce(spreads.n, 0) + grid.alpha)
      ELSE 1 / (grid.cells * grid.width)
    END AS likelihood
  FROM classes
  JOIN (
    SELECT feature, cells, width, alpha, {{ nbsql.whole_numbers(0, nbsql.word('cells')) }} AS cell FROM options
  ) AS grid ON TRUE
  LEFT JOIN spreads ON spreads.class = classes.class AND spreads.feature = grid.feature
  LEFT JOIN masses ON masses.class = classes.class AND masses.feature = grid.feature AND masses.cell = grid.cell
) AS densities
{%- endmacro %}

{# The sums of the normal densities around the values at the cells of the grid, from `options`, `points` and `spreads`. #}
{% macro default__grid_densities() -%}
{% set distance %}((grid.cell - points.cell) * grid.width / spreads.h){% endset %}
{% set power %}-0.5 * {{ distance }} * {{ distance }}{% endset %}{# power() would take as long as exp() #}
SELECT
  spreads.class,
  grid.feature,
  grid.cell,
  sum(points.n * {{ nbsql.exp(power) }}) / (max(spreads.h) * sqrt({{ nbsql.number(6.283185307179586) }})) AS mass
FROM (
  SELECT feature, width, {{ nbsql.whole_numbers(0, nbsql.word('cells')) }} AS cell FROM options
) AS grid
JOIN spreads ON spreads.feature = grid.feature
JOIN points ON points.feature = spreads.feature AND points.class = spreads.class
GROUP BY spreads.class, grid.feature, grid.cell
{%- endmacro %}

{# A number drawn uniformly from the drawn grid cell. #}
{% macro kernel_drawn(feature, seed, position) -%}
{% set place %}(CAST(drawn.value{{ nbsql.feature_suffix(feature) }} AS BIGINT) + {{ nbsql.uniform(seed, feature.index, 1) }}){% endset -%}
{{ nbsql.number(feature.family.low) }} + {{ nbsql.number(feature.family.width) }} * {{ place }}
{%- endmacro %}

{# The middle of the row's most likely grid cell (impute.sql). #}
{% macro kernel_middle(feature) -%}
{% set place %}(CAST(drawn.value{{ nbsql.feature_suffix(feature) }} AS {{ nbsql.double() }}) + 0.5){% endset -%}
{{ nbsql.number(feature.family.low) }} + {{ nbsql.number(feature.family.width) }} * {{ place }}
{%- endmacro %}
