{#
  Families with one parameter of a and b: class, feature, pooled_mean, and what the posterior distribution has counted, n + a and
  total + b, where total is the sum of x; of_total: n + b and total + a.
#}
{% macro rated(features, of_total=false) -%}
SELECT
  classes.class,
  options.feature,
  pooled.mean AS pooled_mean,
  coalesce(cells.n, 0) + options.{% if of_total %}b{% else %}a{% endif %} AS n,
  coalesce(cells.n * cells.mean, 0) + options.{% if of_total %}a{% else %}b{% endif %} AS total
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
