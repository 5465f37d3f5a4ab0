{# The tables that leave-one-out (left_out.sql) reads beside the rows, from the cells of all rows. #}

{# One row per class: class, n, prior, class_no. #}
{% macro left_out_classes_of(model, cells) -%}
SELECT class, n, prior, row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no
FROM (
  {{ nbsql.priors(model, cells) | indent(2) }}
) AS priors
{%- endmacro %}

{# The cells of values and tokens: class, feature, value, n. #}
{% macro left_out_counts(cells) -%}
SELECT class, feature, value, n FROM {{ cells }} AS cells WHERE feature IS NOT NULL AND mean IS NULL
{%- endmacro %}

{#
  One row per counted or declared value or token: feature, value, n, alpha (the number added to its counts), declared, ns (its counts by
  class number; for a complement, those of all other classes).
#}
{% macro left_out_lookups(model, cells, features) -%}
{% set declared = features | selectattr('family.declared') | list -%}
WITH classes AS (
  {{ nbsql.left_out_classes_of(model, cells) | indent(2) }}
),
options(feature, alpha, min_count, bag, opposed) AS (
  VALUES
    {% for feature in features %}
    {% set is_bag, is_complement = nbsql.boolean(feature.family.bag), nbsql.boolean(feature.family.complement) %}
    ({{ nbsql.count_options(feature) }}, {{ is_bag }}, {{ is_complement }}){{ nbsql.comma(loop) }}
    {% endfor %}
),
counts AS (
  SELECT counts.class, counts.feature, counts.value, counts.n
  FROM (
    {{ nbsql.left_out_counts(cells) | indent(4) }}
  ) AS counts
  JOIN options ON options.feature = counts.feature
  WHERE counts.value IS NOT NULL OR NOT options.bag
),
levels AS (
  SELECT
    seen.feature,
    seen.value,
    sum(seen.n) AS n,
    coalesce(max(seen.alpha), max(options.alpha)) AS alpha,
    bool_or(seen.declared) AS declared,
    bool_or(options.opposed) AS opposed
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
  {% set n %}CASE WHEN opposed THEN greatest(of_value - n, 0) ELSE n END{% endset %}
  {{ nbsql.ordered_list(n, nbsql.word('class_no')) }} AS ns
FROM (
  SELECT
    feature,
    value,
    class_no,
    sum(n) AS n,
    max(of_value) AS of_value,
    max(alpha) AS alpha,
    bool_or(declared) AS declared,
    bool_or(opposed) AS opposed
  FROM (
    SELECT feature, value, class_no, {{ nbsql.number(0) }} AS n, levels.n AS of_value, alpha, declared, opposed
    FROM levels
    CROSS JOIN classes
    UNION ALL
    SELECT feature, value, class_no, counts.n, NULL, NULL, NULL, NULL
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
    column                          the count of a column
    documents, absence              of texts under the Bernoulli event model
#}
{% macro left_out_classes(model, cells, parts, quantities, lookups, ends) -%}
WITH classes AS (
  {{ nbsql.left_out_classes_of(model, cells) | indent(2) }}
)
{%- if quantities %},
{{ nbsql.left_out_quantities(cells, parts, lookups) }},
wanted(position, feature, quantity, value) AS (
  VALUES
    {% for item in quantities %}
    {% set value %}{% if item.value is none %}NULL{% else %}{{ nbsql.text(item.value) }}{% endif %}{% endset %}
    ({{ loop.index }}, {{ nbsql.text(item.feature.name) }}, {{ nbsql.text(item.quantity) }}, {{ value }}){{ nbsql.comma(loop) }}
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
    AND quantities.value IS NOT DISTINCT FROM wanted.value
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
  {%- for item in quantities %},
  {% set name = nbsql.word(item.quantity) if item.column is none else nbsql.word('n') %}
  {{ nbsql.element(nbsql.word('numbers.numbers'), loop.index) }} AS {{ name }}{{ nbsql.feature_suffix(item.feature, item.column) }}
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

{# quantities(class, feature, quantity, value, number), and the common table expressions it reads. #}
{% macro left_out_quantities(cells, parts, lookups) -%}
{% set looked_up = parts.levels + parts.bags -%}
{% set presences = parts.bags | selectattr('family.presence') | list -%}
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
{% if looked_up %}
values_of AS (
  SELECT feature, value, alpha, {{ nbsql.unnested_with_places(nbsql.word('ns'), 'class_no', 'n') }} FROM {{ lookups }} AS lookups
),
{% endif %}
{% if parts.columns %}
columns_of AS (
  SELECT
    classes.class,
    declared.feature,
    declared.value,
    declared.alpha,
    {# for a complement, the counts of all other classes #}
    CASE WHEN declared.opposed THEN greatest(everywhere.n - coalesce(counts.n, 0), 0) ELSE counts.n END AS n
  FROM classes
  CROSS JOIN (
    VALUES
      {% for feature in parts.columns %}
      {% for value, alpha in feature.family.declared %}
      ({{ nbsql.text(feature.name) }}, {{ nbsql.text(value) }}, {{ nbsql.number(alpha) }}, {{ nbsql.boolean(feature.family.complement) }})
      {{- nbsql.comma_line(loop) }}
      {%- endfor %}{{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS declared(feature, value, alpha, opposed)
  LEFT JOIN (
    SELECT feature, value, sum(n) AS n FROM counts GROUP BY feature, value
  ) AS everywhere ON everywhere.feature = declared.feature AND everywhere.value = declared.value
  LEFT JOIN counts ON counts.class = classes.class AND counts.feature = declared.feature AND counts.value = declared.value
),
{% endif %}
quantities AS (
  {% for quantity in ['n', 'mean', 'm2'] %}
  SELECT
    class,
    feature,
    {{ nbsql.text(quantity) }} AS quantity,
    {{ nbsql.no_text() }} AS value,
    {{ nbsql.word(quantity) }} AS number
  FROM moments
  UNION ALL
  SELECT class, feature, {{ nbsql.text('others_' ~ quantity) }}, NULL, {{ nbsql.word(quantity) }} FROM others
  UNION ALL
  {% endfor %}
  SELECT class, feature, 'within_m2', NULL, m2 FROM within_others
  UNION ALL
  SELECT class, feature, 'within_classes', NULL, classes FROM within_others
  {% if parts.numbers | selectattr('family.zeros') | list %}
  UNION ALL
  SELECT class, feature, 'zeros', NULL, n FROM counts WHERE value = 'zero'
  {% endif %}
  {% if looked_up %}
  UNION ALL
  SELECT
    classes.class,
    values_of.feature,
    sizes.quantity,
    NULL,
    sum(CASE sizes.quantity WHEN 'total' THEN values_of.n WHEN 'a' THEN values_of.alpha ELSE 1 END)
  FROM values_of
  JOIN classes ON classes.class_no = values_of.class_no
  CROSS JOIN (VALUES ('total'), ('k'), ('a')) AS sizes(quantity)
  GROUP BY classes.class, values_of.feature, sizes.quantity
  {% endif %}
  {% if parts.columns %}
  UNION ALL
  SELECT class, feature, sizes.quantity, NULL, sum(CASE sizes.quantity WHEN 'total' THEN coalesce(n, 0) ELSE alpha END)
  FROM columns_of
  CROSS JOIN (VALUES ('total'), ('a')) AS sizes(quantity)
  GROUP BY class, feature, sizes.quantity
  UNION ALL
  SELECT class, feature, 'column', value, n FROM columns_of
  {% endif %}
  {% for feature in presences %}
  UNION ALL
  SELECT class, feature, 'documents', NULL, n FROM counts WHERE feature = {{ nbsql.text(feature.name) }} AND value IS NULL
  UNION ALL
  SELECT
    classes.class,
    values_of.feature,
    'absence',
    NULL,
    sum(ln(coalesce(documents.n, 0) + {{ nbsql.number(feature.family.added_count) }} - values_of.n))
  FROM values_of
  JOIN classes ON classes.class_no = values_of.class_no
  LEFT JOIN counts AS documents ON documents.class = classes.class AND documents.feature = values_of.feature AND documents.value IS NULL
  WHERE values_of.feature = {{ nbsql.text(feature.name) }}
  GROUP BY classes.class, values_of.feature
  {% endfor %}
)
{%- endmacro %}

{#
  For texts under the Bernoulli event model, one row per feature, class and weight of a row: feature, class_no, weight, and total, the sum
  of ln(n_c - weight + alpha - n_cw) over the words w that a row of that weight may lack.
#}
{% macro left_out_absences(model, source, features, classes, lookups) -%}
{% for feature in features -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set documents %}(classes.documents{{ i }} - weights.weight){% endset -%}
SELECT
  {{ nbsql.text(feature.name) }} AS feature,
  classes.class_no,
  weights.weight,
  {% set absences_left %}{{ documents }} + {{ nbsql.number(feature.family.added_count) }} - words.n{% endset %}
  sum(
    CASE WHEN words.n <= {{ documents }} + 1e-12 * classes.documents{{ i }} THEN words.times * ln({{ absences_left }}) ELSE 0 END
  ) AS total
FROM {{ classes }} AS classes
JOIN (
  SELECT DISTINCT {{ nbsql.target(model) }} AS class, {{ nbsql.row_weight(model) }} AS weight
  FROM {{ source }} AS source
  WHERE {{ nbsql.is_counted(model) }} AND source.{{ nbsql.ident(feature.column) }} IS NOT NULL
) AS weights ON weights.class = classes.class
JOIN (
  SELECT class_no, n, count(*) AS times
  FROM (
    SELECT {{ nbsql.unnested_with_places(nbsql.word('ns'), 'class_no', 'n') }}
    FROM {{ lookups }} AS lookups
    WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS counts
  GROUP BY class_no, n
) AS words ON words.class_no = classes.class_no
GROUP BY classes.class_no, weights.weight
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}
