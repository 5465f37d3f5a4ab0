{#
  Families with one parameter of a and b: class, feature, pooled_mean, and what the posterior distribution has counted, n + a and
  total + b, where total is the sum of x.
#}
{% macro rated(features) -%}
SELECT
  classes.class,
  options.feature,
  pooled.mean AS pooled_mean,
  coalesce(cells.n, 0) + options.a AS n,
  coalesce(cells.n * cells.mean, 0) + options.b AS total
FROM classes
CROSS JOIN (
  VALUES
    {% for feature in features %}
    ({{ nbsql.text(feature.name) }}, {{ nbsql.number(feature.family.added_a) }}, {{ nbsql.number(feature.family.added_b) }}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS options(feature, a, b)
LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
LEFT JOIN (
  SELECT feature, sum(n * mean) / sum(n) AS mean FROM moments GROUP BY feature
) AS pooled ON pooled.feature = options.feature
{%- endmacro %}
