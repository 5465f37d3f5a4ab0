{#
  A model for each segment, from cells that one scan counted by segment (the column slice of the statistics), shrunk toward the whole. The
  estimates of the whole serve as a prior with s pseudo-counts, `shrinkage`. For class c in segment g:

    priors           (n_gc + s P(c)) / (N_g + s)                        P(c) of the whole; uniform and given priors are the whole's
    categories,      (n_gcv + s P(v | c)) / (n_gc + s)                  P(v | c) of the whole, smoothed: Cestnik's m-estimate
    tokens, columns
    numbers          the moments of the segment's rows and of s rows of the whole's class, pooled (Chan, Golub and LeVeque 1983):
                     n = n_gc + s, mean = (n_gc mean_gc + s mean_c) / n, and
                     m2 = m2_gc + s m2_c / n_c + (mean_gc - mean_c)^2 n_gc s / n; the family's own estimate is made from them

  (Cestnik, Estimating probabilities: a crucial task in machine learning, ECAI 1990; for numbers the normal model with a prior of s rows,
  Gelman et al., Bayesian Data Analysis, section 3.3.)

  Whatever a family takes from all classes comes from the segment, too: a shared variance, a floor, a prior, or the mean of a class
  without a value. With s = 0 a segment is estimated as a fit of its rows would be, except that the values of a category are those of all
  segments.

  Segment 0 is the whole. It scores rows without a segment or with one that the fit did not see. A pair of segment and class is a
  `member`, and the macros of the families estimate members as they do classes.
#}

{# Common table expressions that the other queries read: classes, and members, from a table if there is one (options.segment_tables). #}
{% macro segment_members(model, statistics, priors) -%}
members AS (
  {% if model.options.segment_tables %}
  SELECT * FROM {{ model.options.segment_tables.table }} AS members
  {%- else %}
  {{ nbsql.members(statistics, priors) | indent(2) }}
  {%- endif +%}
),
classes AS (
  SELECT member AS class_no, member AS class, segment FROM members
)
{%- endmacro %}

{# One row per segment and class: member, segment, name, class_no, class, whole_prior, n. #}
{% macro members(statistics, priors) -%}
SELECT
  row_number() OVER (ORDER BY segments.segment ASC NULLS LAST, whole_priors.class_no ASC NULLS LAST) AS member,
  segments.segment,
  segments.name,
  whole_priors.class_no,
  whole_priors.class,
  whole_priors.prior AS whole_prior,
  coalesce(counts.n, 0) AS n
FROM (
  SELECT 0 AS segment, {{ nbsql.no_text() }} AS name
  UNION ALL
  SELECT row_number() OVER (ORDER BY slice ASC NULLS LAST), slice
  FROM {{ nbsql.subquery(nbsql.class_counts(statistics, ['slice'], sliced=true)) | indent(2) }} AS names
) AS segments
JOIN (
  SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, prior FROM {{ priors }} AS priors
) AS whole_priors ON TRUE
LEFT JOIN (
  {{ nbsql.class_counts(statistics, ['slice', 'class'], sliced=true) | indent(2) }}
) AS counts ON counts.slice = segments.name AND counts.class = whole_priors.class
{%- endmacro %}

{# The prior of a member. #}
{% macro segment_prior(model) -%}
{% set total %}sum(n) OVER (PARTITION BY segment){% endset -%}
{% set a = nbsql.number(model.spec.prior.added_count) -%}
{% if model.spec.prior.kind in ['given', 'uniform'] -%}
whole_prior
{%- elif model.facts.shrinkage -%}
{% set shrinkage = nbsql.number(model.facts.shrinkage) -%}
CASE WHEN segment = 0 THEN whole_prior ELSE (n + {{ shrinkage }} * whole_prior) / ({{ total }} + {{ shrinkage }}) END
{%- elif model.spec.prior.kind == 'smoothed' -%}
CASE WHEN segment = 0 THEN whole_prior ELSE (n + {{ a }}) / ({{ total }} + {{ a }} * count(*) OVER (PARTITION BY segment)) END
{%- else -%}
CASE WHEN segment = 0 THEN whole_prior ELSE n / {{ total }} END
{%- endif %}
{%- endmacro %}

{#
  The estimates of all members, as `smoothed_likelihoods` (likelihoods.sql) has those of classes. They are taken from a table if there is
  one.
#}
{% macro segment_estimates(model, statistics, priors, features) -%}
{% if model.options.segment_tables -%}
SELECT * FROM {{ model.options.segment_tables.estimates }} AS estimates WHERE feature IN ({{ nbsql.feature_names(features) }})
{%- else -%}
{{ nbsql.member_estimates(model, statistics, priors, features, nbsql.member_cells(model, statistics, features)) }}
{%- endif %}
{%- endmacro %}

{# One row per member (a segment and class), feature and value: the columns of likelihoods, shrunk toward those of the whole. #}
{% macro member_estimates(model, statistics, priors, features, cells) -%}
{% set counted = features | selectattr('family.distribution', 'equalto', 'dirichlet') | list -%}
{% set numbers = features | rejectattr('family.distribution', 'equalto', 'dirichlet') | list -%}
{% set by_member %}(SELECT class, segment FROM classes){% endset -%}
WITH whole AS {{ nbsql.subquery(nbsql.smoothed_likelihoods(model, statistics, priors, features)) }},
cells AS {{ nbsql.subquery(cells) }}
{%- if numbers or not model.facts.shrinkage %},
own AS (
  {% set pooled = numbers if model.facts.shrinkage else features %}
  {{ nbsql.likelihoods_of_cells(nbsql.word('cells'), by_member, pooled, nbsql.word('segment')) | indent(2) }}
)
{%- endif +%}
SELECT members.member AS class, {{ nbsql.estimate_columns(nbsql.word('whole')) }}
FROM whole
JOIN members ON members.class = whole.class AND members.segment = 0
{%- if numbers or not model.facts.shrinkage +%}
UNION ALL
SELECT own.class, {{ nbsql.estimate_columns(nbsql.word('own')) }}
FROM own
JOIN members ON members.member = own.class AND members.segment > 0
{%- endif %}
{%- if counted and model.facts.shrinkage +%}
UNION ALL
{{ nbsql.shrunk_counts(model, counted) }}
{%- endif %}
{%- endmacro %}

{# The cells of the members, with the member as class, and the pseudo-counts they borrow: class, feature, value, n, mean, m2. #}
{% macro member_cells(model, statistics, features) -%}
SELECT members.member AS class, statistics.feature, statistics.value, statistics.n, statistics.mean, statistics.m2
FROM {{ statistics }} AS statistics
JOIN members ON members.class = statistics.class AND members.name IS NOT DISTINCT FROM statistics.slice
WHERE statistics.feature IS NOT NULL
{%- if model.facts.shrinkage and features | rejectattr('family.distribution', 'equalto', 'dirichlet') | list +%}
UNION ALL
{{ nbsql.shrinkage_moments(model, statistics, features) }}
{%- endif %}
{%- endmacro %}

{# The columns of likelihoods, except the class. #}
{% macro estimate_columns(relation) -%}
{% for column in ['feature', 'value', 'unseen', 'likelihood', 'log_likelihood', 'score', 'mean', 'variance', 'rate'] -%}
{{ relation }}.{{ nbsql.word(column) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}
{%- endfor %}
{%- endmacro %}

{# The moments of numbers that each member borrows from its class, or from all classes if its class has none. #}
{% macro shrinkage_moments(model, statistics, features) -%}
{% set inflated = features | selectattr('family.zeros') | list -%}
{% set borrowed %}{{ nbsql.number(model.facts.shrinkage) }}{% if inflated %} * coalesce(1 - zeros.share, 1){% endif %}{% endset -%}
SELECT
  members.member,
  pooled.feature,
  {{ nbsql.no_text() }},
  {{ borrowed }},
  coalesce(own.mean, pooled.mean),
  {{ borrowed }} * CASE WHEN own.n IS NOT NULL THEN own.m2 / own.n ELSE pooled.m2 / pooled.n END
FROM members
JOIN {{ nbsql.subquery(nbsql.pooled_moments(nbsql.number_cells(statistics), ['feature'])) }} AS pooled ON TRUE
LEFT JOIN (
  {{ nbsql.pooled_moments(nbsql.number_cells(statistics), ['class', 'feature']) | indent(2) }}
) AS own ON own.class = members.class AND own.feature = pooled.feature
{% if inflated %}
LEFT JOIN (
  {{ nbsql.zero_shares(statistics, inflated) | indent(2) }}
) AS zeros ON zeros.class = members.class AND zeros.feature = pooled.feature
{% endif %}
WHERE members.segment > 0
{%- if inflated +%}
UNION ALL
SELECT members.member, zeros.feature, 'zero', {{ nbsql.number(model.facts.shrinkage) }} * zeros.share, NULL, NULL
FROM members
JOIN {{ nbsql.subquery(nbsql.zero_shares(statistics, inflated)) }} AS zeros ON zeros.class = members.class
WHERE members.segment > 0
{%- endif %}
{%- endmacro %}

{# One row per member, feature and value: the columns of likelihoods, from the counts of the member and the likelihoods of the whole. #}
{% macro shrunk_counts(model, features) -%}
SELECT
  shrunk.class,
  shrunk.feature,
  shrunk.value,
  shrunk.unseen,
  shrunk.likelihood,
  {{ nbsql.safe_ln(nbsql.word('shrunk.likelihood')) }},
  {{ nbsql.safe_ln(nbsql.word('shrunk.likelihood')) }},
  NULL,
  NULL,
  NULL
FROM (
  SELECT
    members.member AS class,
    whole.feature,
    whole.value,
    whole.unseen,
    (coalesce(counts.n, 0) + {{ nbsql.number(model.facts.shrinkage) }} * whole.likelihood)
      / (coalesce(sum(counts.n) OVER (PARTITION BY members.member, whole.feature), 0) + {{ nbsql.number(
        model.facts.shrinkage) }}) AS likelihood
  FROM whole
  JOIN members ON members.class = whole.class AND members.segment > 0
  LEFT JOIN (
    SELECT class, feature, value, sum(n) AS n
    FROM cells
    WHERE mean IS NULL
    GROUP BY class, feature, value
    HAVING {{ nbsql.has_weight('cells') | indent(4) }}
  ) AS counts
    ON counts.class = members.member
    AND counts.feature = whole.feature
    AND {{ nbsql.same_value(nbsql.word('counts'), nbsql.word('whole')) }}
    AND NOT whole.unseen
  WHERE whole.feature IN ({{ nbsql.feature_names(features) }})
) AS shrunk
{%- endmacro %}

{# One row per segment, or in the long form a segment and class: nbsql_segment, segment_name, and the parameters (parameters.sql). #}
{% macro segment_parameters(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.parameters') | list -%}
WITH {{ nbsql.segment_members(model, statistics, priors) }},
labelled AS (
  SELECT member, segment AS nbsql_segment, name AS segment_name, class_no, class, {{ nbsql.safe_ln(nbsql.word('prior')) }} AS log_prior
  FROM (
    SELECT *, {{ nbsql.segment_prior(model) }} AS prior FROM members
  ) AS estimates
)
{%- if model.facts.parameters %},
{{ nbsql.listed_parameters(model, nbsql.segment_estimates(model, statistics, priors, features), features) }}
{%- endif +%}
{% if model.form.class_numbers -%}
SELECT
  listed.nbsql_segment,
  listed.segment_name,
  {{ nbsql.parameter_columns(model, nbsql.word('listed')) }}
FROM (
  SELECT
    nbsql_segment,
    segment_name,
    {{ nbsql.ordered_list(nbsql.word('class'), nbsql.word('class_no')) }} AS labels,
    {{ nbsql.ordered_list(nbsql.word('log_prior'), nbsql.word('class_no')) }} AS log_priors
  FROM labelled
  GROUP BY nbsql_segment, segment_name
) AS listed
{%- if model.facts.parameters +%}
JOIN (
  {% set order %}labelled.class_no, numbers.position{% endset %}
  SELECT labelled.nbsql_segment, {{ nbsql.ordered_list(nbsql.word('numbers.number'), order) }} AS numbers
  FROM numbers
  JOIN labelled ON labelled.member = numbers.class_no
  GROUP BY labelled.nbsql_segment
) AS numbers ON numbers.nbsql_segment = listed.nbsql_segment
{%- endif %}
{%- else -%}
{{ nbsql.parameters_in_rows(model, nbsql.word('labelled'), member='member', leading_columns=['nbsql_segment', 'segment_name']) }}
{%- endif %}
{%- endmacro %}

{# The lookups (parameters.sql) of every segment. #}
{% macro segment_lookups(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.has_lookups') | list -%}
WITH {{ nbsql.segment_members(model, statistics, priors) }}
SELECT
  members.segment AS nbsql_segment,
  smoothed.feature,
  smoothed.value
  {%- set score %}smoothed.score{% endset %}
  {%- set class_no %}members.class_no{% endset %},
  {{ nbsql.scores_by_class(model, score, class_no) }}
FROM {{ nbsql.subquery(nbsql.segment_estimates(model, statistics, priors, features)) }} AS smoothed
JOIN members ON members.member = smoothed.class
WHERE smoothed.value IS NOT NULL
GROUP BY members.segment, smoothed.feature, smoothed.value
{%- endmacro %}

{# One row per segment, and one with NULL for rows without a segment: segment, n. #}
{% macro segments_of(statistics) -%}
SELECT slice AS segment, sum(n) AS n
FROM {{ statistics }} AS statistics
WHERE feature IS NULL
GROUP BY slice
HAVING {{ nbsql.has_weight() }}
ORDER BY slice ASC NULLS LAST
{%- endmacro %}

{#
  The tables that stand in for these queries on an engine that would compute a query wherever it is named, in this order: members, cells
  of members, estimates of members.
#}
{% macro cells_of_members(model, statistics, priors) -%}
WITH {{ nbsql.segment_members(model, statistics, priors) }}
{{ nbsql.member_cells(model, statistics, model.facts.features) }}
{%- endmacro %}

{# One row per member, feature and value: the columns of likelihoods. The common table expressions of the members come first. #}
{% macro estimates_of_members(model, statistics, priors) -%}
{% set cells %}SELECT * FROM {{ model.options.segment_tables.cells }} AS cells{% endset -%}
WITH {{ nbsql.segment_members(model, statistics, priors) }}
SELECT *
FROM {{ nbsql.subquery(nbsql.member_estimates(model, statistics, priors, model.facts.features, cells)) }} AS estimates
{%- endmacro %}
