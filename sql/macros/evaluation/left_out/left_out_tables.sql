{# The tables that leave-one-out (left_out.sql) reads beside the rows, from the cells of all rows. #}

{# One row per class: class, n, prior, class_no. #}
{% macro left_out_classes_of(model, cells) -%}
SELECT class, n, prior, row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no
FROM (
  {{ nbsql.priors(model, cells) | indent(2) }}
) AS priors
{%- endmacro %}

{# The cells of values: class, feature, value, n. #}
{% macro left_out_counts(cells) -%}
SELECT class, feature, value, n FROM {{ cells }} AS cells WHERE feature IS NOT NULL AND mean IS NULL
{%- endmacro %}

{#
  One row per counted or declared value: feature, value, n, alpha (the number added to its counts), declared, ns (its counts by class
  number).
#}
{% macro left_out_lookups(model, cells, features) -%}
{% set declared = features | selectattr('family.declared') | list -%}
WITH classes AS (
  {{ nbsql.left_out_classes_of(model, cells) | indent(2) }}
),
options(feature, alpha, min_count) AS (
  VALUES
    {% for feature in features %}
    ({{ nbsql.count_options(feature) }}){{ nbsql.comma(loop) }}
    {% endfor %}
),
counts AS (
  SELECT counts.class, counts.feature, counts.value, counts.n
  FROM (
    {{ nbsql.left_out_counts(cells) | indent(4) }}
  ) AS counts
  JOIN options ON options.feature = counts.feature
),
levels AS (
  SELECT
    seen.feature,
    seen.value,
    sum(seen.n) AS n,
    coalesce(max(seen.alpha), max(options.alpha)) AS alpha,
    bool_or(seen.declared) AS declared
  FROM (
    SELECT feature, value, n, CAST(NULL AS {{ nbsql.double() }}) AS alpha, FALSE AS declared FROM counts
    {% if declared %}
    UNION ALL
    SELECT feature, value, 0, alpha, TRUE
    FROM {{ nbsql.declared_values(declared) | indent(4) }}
    {% endif %}
  ) AS seen
  JOIN options ON options.feature = seen.feature
  GROUP BY seen.feature, seen.value
  HAVING sum(seen.n) >= max(options.min_count) OR bool_or(seen.declared)
)
-- grouped rather than joined: an engine that guesses few rows would compare each with each
SELECT
  feature,
  value,
  max(of_value) AS n,
  max(alpha) AS alpha,
  bool_or(declared) AS declared,
  {{ nbsql.ordered_list(nbsql.word('n'), nbsql.word('class_no')) }} AS ns
FROM (
  SELECT
    feature,
    value,
    class_no,
    sum(n) AS n,
    max(of_value) AS of_value,
    max(alpha) AS alpha,
    bool_or(declared) AS declared
  FROM (
    SELECT feature, value, class_no, {{ nbsql.number(0) }} AS n, levels.n AS of_value, alpha, declared
    FROM levels
    CROSS JOIN classes
    UNION ALL
    SELECT feature, value, class_no, counts.n, NULL, NULL, NULL
    FROM counts
    JOIN classes ON classes.class = counts.class
  ) AS parts
  GROUP BY feature, value, class_no
) AS cells
WHERE declared IS NOT NULL
GROUP BY feature, value
{%- endmacro %}

{#
  One row per class: class_no, class, n, prior, and over all classes count and everything (the sum of n); then the columns of `quantities`,
  each with a name, the feature, and which quantity it is; then the ends of its numbers. The quantities are

    n, mean, m2                     of a number
    zeros                           how often it is 0, where that is counted apart
    others_n, others_mean, others_m2, within_m2, within_classes    of the other classes together; within is the sum of their m2
    total, k, a                     of values: the sum of their counts, their number, and the sum of the numbers added to their counts
#}
{% macro left_out_classes(model, cells, parts, quantities, lookups, ends) -%}
WITH classes AS (
  {{ nbsql.left_out_classes_of(model, cells) | indent(2) }}
)
{%- if quantities %},
{{ nbsql.left_out_quantities(cells, parts, lookups) }},
wanted(position, feature, quantity) AS (
  VALUES
    {% for feature, quantity in quantities %}
    ({{ loop.index }}, {{ nbsql.text(feature.name) }}, {{ nbsql.text(quantity) }}){{ nbsql.comma(loop) }}
    {% endfor %}
),
numbers AS (
  SELECT classes.class_no, {{ nbsql.ordered_list(nbsql.word('quantities.number'), nbsql.word('wanted.position')) }} AS numbers
  FROM classes
  CROSS JOIN wanted
  LEFT JOIN quantities
    ON quantities.class = classes.class
    AND quantities.feature = wanted.feature
    AND quantities.quantity = wanted.quantity
  GROUP BY classes.class_no
)
{%- endif %}

SELECT
  classes.class_no,
  classes.class,
  classes.n,
  classes.prior,
  count(*) OVER () AS count,
  sum(classes.n) OVER () AS everything
  {%- for feature, quantity in quantities %},
  {{ nbsql.element(nbsql.word('numbers.numbers'), loop.index) }} AS {{ nbsql.word(quantity) }}{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}
  {%- for feature in parts.numbers %}
  {%- for end in ['low', 'high', 'n_low', 'n_high', 'n_inner', 'mean_inner', 'm2_inner'] %},
  ends.{{ nbsql.word(end) }}{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}
  {%- endfor %}

FROM classes
{%- if quantities %}

JOIN numbers ON numbers.class_no = classes.class_no
{%- endif %}
{%- if parts.numbers %}

LEFT JOIN {{ ends }} AS ends ON ends.class = classes.class
{%- endif %}
{%- endmacro %}

{# quantities(class, feature, quantity, number), and the common table expressions it reads. #}
{% macro left_out_quantities(cells, parts, lookups) -%}
counts AS (
  {{ nbsql.left_out_counts(cells) | indent(2) }}
),
moments AS (
  {{ nbsql.pooled_moments(nbsql.number_cells(cells), ['class', 'feature']) | indent(2) }}
),
others AS (
  {% set pairs -%}
(
    SELECT classes.class, moments.feature, moments.n, moments.mean, moments.m2
    FROM classes
    JOIN moments ON moments.class <> classes.class
  )
  {%- endset -%}
  {{ nbsql.pooled_moments(pairs, ['class', 'feature']) | indent(2) }}
),
within_others AS (
  SELECT classes.class, moments.feature, sum(moments.m2) AS m2, count(*) AS classes
  FROM classes
  JOIN moments ON moments.class <> classes.class
  GROUP BY classes.class, moments.feature
),
{% if parts.levels %}
values_of AS (
  SELECT feature, value, alpha, {{ nbsql.unnested_with_places(nbsql.word('ns'), 'class_no', 'n') }} FROM {{ lookups }} AS lookups
),
{% endif %}
quantities AS (
  {% for quantity in ['n', 'mean', 'm2'] %}
  SELECT
    class,
    feature,
    {{ nbsql.text(quantity) }} AS quantity,
    {{ nbsql.word(quantity) }} AS number
  FROM moments
  UNION ALL
  SELECT class, feature, {{ nbsql.text('others_' ~ quantity) }}, {{ nbsql.word(quantity) }} FROM others
  UNION ALL
  {% endfor %}
  SELECT class, feature, 'within_m2', m2 FROM within_others
  UNION ALL
  SELECT class, feature, 'within_classes', classes FROM within_others
  {% if parts.numbers | selectattr('family.zeros') | list %}
  UNION ALL
  SELECT class, feature, 'zeros', n FROM counts WHERE value = 'zero'
  {% endif %}
  {% if parts.levels %}
  UNION ALL
  SELECT
    classes.class,
    values_of.feature,
    sizes.quantity,
    sum(CASE sizes.quantity WHEN 'total' THEN values_of.n WHEN 'a' THEN values_of.alpha ELSE 1 END)
  FROM values_of
  JOIN classes ON classes.class_no = values_of.class_no
  CROSS JOIN (VALUES ('total'), ('k'), ('a')) AS sizes(quantity)
  GROUP BY classes.class, values_of.feature, sizes.quantity
  {% endif %}
)
{%- endmacro %}
