{# The tables that leave-one-out (left_out.sql) reads beside the rows, from the cells of all rows. #}

{# One row per class: class, n, prior, class_no. #}
{% macro left_out_classes_of(model, cells) -%}
SELECT class, n, prior, row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no
FROM {{ nbsql.subquery(nbsql.priors(model, cells)) }} AS priors
{%- endmacro %}

{#
  One row per counted or declared value: feature, value, n, alpha (the number added to its counts), declared, ns (its counts by class
  number).
#}
{% macro left_out_lookups(model, cells, features) -%}
{% set declared = features | selectattr('family.declared') | list -%}
WITH classes AS {{ nbsql.subquery(nbsql.left_out_classes_of(model, cells)) }},
options AS (
  SELECT * FROM {{ nbsql.options_of_counts(features) | indent(2) }}
),
counts AS (
  SELECT cells.class, cells.feature, cells.value, cells.n
  FROM {{ cells }} AS cells
  JOIN options ON options.feature = cells.feature
  WHERE cells.mean IS NULL
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
  One row per class: class_no, class, n, prior, and over all classes count and everything (the sum of n); then for each feature, with its
  number in their names, these quantities; then the ends of its numbers:

    n, mean, m2                     of a number
    others_n, others_mean, others_m2, within_m2, within_classes    of the other classes together; within is the sum of their m2
    zeros                           how often a number is 0, where that is counted apart
    total, k, a                     of values: the sum of their counts, their number, and the sum of the numbers added to their counts
#}
{% macro left_out_classes(model, cells, parts, lookups, ends) -%}
{% set of_numbers = ['n', 'mean', 'm2', 'others_n', 'others_mean', 'others_m2', 'within_m2', 'within_classes', 'zeros'] -%}
{% set kinds = [('numbers', parts.numbers, of_numbers), ('levels', parts.levels, ['total', 'k', 'a'])] -%}
WITH classes AS {{ nbsql.subquery(nbsql.left_out_classes_of(model, cells)) }}
{%- if parts.numbers %},
{{ nbsql.left_out_moments_of_classes(cells) }}
{%- endif %}
{%- if parts.levels %},
levels AS (
  SELECT class_no, feature, sum(n) AS total, count(*) AS k, sum(alpha) AS a
  FROM (
    SELECT feature, alpha, {{ nbsql.unnested_with_places(nbsql.word('ns'), 'class_no', 'n') }} FROM {{ lookups }} AS lookups
  ) AS values_of
  GROUP BY class_no, feature
)
{%- endif %}
{%- for kind, features, quantities in kinds if features %},
lists_of_{{ nbsql.word(kind) }} AS (
  SELECT
    classes.class_no
    {%- for quantity in quantities %},
    {% set x %}own.{{ nbsql.word(quantity) }}{% endset %}
    {{ nbsql.ordered_list(x, nbsql.word('features.position')) }} AS {{ nbsql.word(quantity) }}
    {%- endfor +%}
  FROM classes
  CROSS JOIN {{ nbsql.numbered_features(features) | indent(2) }}
  LEFT JOIN {{ nbsql.word(kind) }} AS own ON own.class_no = classes.class_no AND own.feature = features.feature
  GROUP BY classes.class_no
)
{%- endfor +%}
SELECT
  classes.class_no,
  classes.class,
  classes.n,
  classes.prior,
  count(*) OVER () AS count,
  sum(classes.n) OVER () AS everything
  {%- for kind, features, quantities in kinds %}
  {%- for feature in features %}
  {%- set place = loop.index %}
  {%- for quantity in quantities %},
  {% set list %}lists_of_{{ nbsql.word(kind) }}.{{ nbsql.word(quantity) }}{% endset %}
  {{ nbsql.element(list, place) }} AS {{ nbsql.word(quantity) }}{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}
  {%- endfor %}
  {%- endfor %}
  {%- for feature in parts.numbers %}
  {%- for end in ['low', 'high', 'n_low', 'n_high', 'n_inner', 'mean_inner', 'm2_inner'] %},
  ends.{{ nbsql.word(end) }}{{ nbsql.feature_suffix(feature) }}
  {%- endfor %}
  {%- endfor +%}
FROM classes
{%- for kind, features, _ in kinds if features +%}
JOIN lists_of_{{ nbsql.word(kind) }} ON lists_of_{{ nbsql.word(kind) }}.class_no = classes.class_no
{%- endfor %}
{%- if parts.numbers +%}
LEFT JOIN {{ ends }} AS ends ON ends.class = classes.class
{%- endif %}
{%- endmacro %}

{# numbers(class_no, feature, and the quantities of a number above), and the common table expressions it reads. #}
{% macro left_out_moments_of_classes(cells) -%}
moments AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.number_cells(cells), ['class', 'feature'])) }},
of_others AS (
  SELECT classes.class, moments.feature, moments.n, moments.mean, moments.m2
  FROM classes
  JOIN moments ON moments.class <> classes.class
),
others AS {{ nbsql.subquery(nbsql.pooled_moments(nbsql.word('of_others'), ['class', 'feature'])) }},
numbers AS (
  SELECT
    classes.class_no,
    features.feature,
    moments.n,
    moments.mean,
    moments.m2,
    others.n AS others_n,
    others.mean AS others_mean,
    others.m2 AS others_m2,
    within_others.m2 AS within_m2,
    within_others.classes AS within_classes,
    zeros.n AS zeros
  FROM classes
  CROSS JOIN (SELECT DISTINCT feature FROM {{ cells }} AS cells WHERE mean IS NOT NULL) AS features
  LEFT JOIN moments ON moments.class = classes.class AND moments.feature = features.feature
  LEFT JOIN others ON others.class = classes.class AND others.feature = features.feature
  LEFT JOIN (
    SELECT class, feature, sum(m2) AS m2, count(*) AS classes FROM of_others GROUP BY class, feature
  ) AS within_others ON within_others.class = classes.class AND within_others.feature = features.feature
  LEFT JOIN (
    SELECT class, feature, n FROM {{ cells }} AS cells WHERE mean IS NULL AND value = 'zero'
  ) AS zeros ON zeros.class = classes.class AND zeros.feature = features.feature
)
{%- endmacro %}
