{#
  A model as a scorecard: one row for the base points, then one row per feature and value, or bin:

    feature, kind              kind: 'base' (without a feature), 'value', 'missing', or 'unseen', any other value
    value, lower, upper        the category, or the name of the bin; the ends of a bin, which includes the lower one
    n, n_target                the number of rows with it, and how many of them were of the target; NULL if they were not counted
    weight_of_evidence         ln P(value | target) / P(value | the rest), in nats; for the base the log-odds of the priors
    information_value          (P(value | target) - P(value | the rest)) * weight_of_evidence
    feature_information_value  their sum over the feature: the divergence of its two distributions (Jeffreys 1946)
    points                     factor * weight_of_evidence; for the base plus offset. In a weighted model the weight of evidence is
                               times the weight of its feature, as in a regression on weights of evidence
    below_best, below_average  how many points it has less than the feature's best value, or than the average row that has points

  factor = double / ln 2 and offset = points - factor * ln(odds), so a row has offset + factor * ln(odds of the target) points in all
  (Siddiqi, Credit Risk Scorecards, 2006, chapter 6). The rest are all other classes, weighted by their priors. With two classes these are
  the odds of the model. With more, a value is taken to be independent of the others in the rest as a whole, which it is not. Without
  smoothing, a value that never occurs on one side has no weight and no points: NULL. A value that the model skips has 0 points.

  target: a label, in the type of the classes. scale: points, odds, double, and digits, to which points are rounded, or none.
#}
{% macro scorecard_lines(model, statistics, priors, target, scale) -%}
{% set factor %}({{ nbsql.number(scale.double) }} / ln({{ nbsql.number(2) }})){% endset -%}
{% set offset %}{{ nbsql.number(scale.points) }} - {{ factor }} * ln({{ nbsql.number(scale.odds) }}){% endset -%}
{% set points %}{{ factor }} * evidence + CASE WHEN kind = 'base' THEN {{ offset }} ELSE 0 END{% endset -%}
{% set prior_of_target = nbsql.sum_over_target(nbsql.word('prior'), target) -%}
{% set prior_of_rest = nbsql.sum_over_rest(nbsql.word('prior'), target) -%}
{% set weights = model.options.weights -%}
WITH likelihoods AS {{ nbsql.subquery(nbsql.scored_likelihoods(model, statistics, priors, model.facts.features)) }},
{{ nbsql.scorecard_ratios(model, priors, target) }},
counts AS (
  SELECT feature, value, sum(n) AS n, sum(CASE WHEN class = {{ target }} THEN n ELSE 0 END) AS n_target
  FROM {{ nbsql.subquery(nbsql.counts_of(statistics)) | indent(2) }} AS counts
  GROUP BY feature, value
),
{{ nbsql.scorecard_line_keys(model.facts.features) }},
weighed AS (
  SELECT
    CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS feature,
    'base' AS kind,
    CAST(NULL AS {{ nbsql.string() }}){{ nbsql.binary() }} AS value,
    sum(n) AS n,
    sum(CASE WHEN class = {{ target }} THEN n ELSE 0 END) AS n_target,
    {{ nbsql.log_of_ratio(prior_of_target, prior_of_rest) }} AS weight_of_evidence,
    CAST(NULL AS {{ nbsql.double() }}) AS information_value,
    {% set prior = nbsql.exp(nbsql.word('log_prior')) if weights else nbsql.word('prior') %}
    {{ nbsql.log_of_ratio(nbsql.sum_over_target(prior, target), nbsql.sum_over_rest(prior, target)) }} AS evidence
  FROM {% if weights %}{{ nbsql.priors_with_offsets(priors, weights) | indent(2) }}{% else %}{{ priors }}{% endif %} AS priors
  UNION ALL
  SELECT
    ratios.feature, ratios.kind, ratios.value,
    coalesce(counts.n, 0), coalesce(counts.n_target, 0),
    ratios.weight_of_evidence,
    ratios.information_value,
    ratios.evidence
  FROM ratios
  LEFT JOIN counts ON counts.feature = ratios.feature AND {{ nbsql.same_value(nbsql.word('counts'), nbsql.word('ratios')) }}
  WHERE ratios.kind <> 'unseen'
  UNION ALL
  -- what a row may have that none had, or that is skipped
  SELECT
    places.feature, places.kind, NULL, NULL, NULL,
    CASE WHEN places.smooths THEN unseen.weight_of_evidence ELSE 0 END,
    0,
    CASE WHEN places.smooths THEN unseen.evidence ELSE 0 END
  FROM places
  LEFT JOIN ratios AS unseen ON unseen.feature = places.feature AND unseen.kind = 'unseen'
  LEFT JOIN ratios AS missing ON missing.feature = places.feature AND missing.kind = places.kind AND places.kind = 'missing'
  WHERE places.kind <> 'value' AND missing.feature IS NULL
),
pointed AS (
  SELECT *, {{ nbsql.round_to_digits(points, scale.digits) }} AS points FROM weighed
),
compared AS (
  SELECT
    *,
    sum(information_value) OVER (PARTITION BY feature) AS feature_information_value,
    max(CASE WHEN kind = 'value' OR n > 0 THEN points END) OVER (PARTITION BY feature) AS best,
    sum(n * points) OVER (PARTITION BY feature)
      / nullif(sum(CASE WHEN points IS NOT NULL THEN n END) OVER (PARTITION BY feature), 0) AS average
  FROM pointed
)
SELECT
  compared.feature,
  compared.kind,
  compared.value,
  places.lower,
  places.upper,
  compared.n,
  compared.n_target,
  compared.weight_of_evidence,
  compared.information_value,
  compared.feature_information_value,
  compared.points,
  CASE WHEN compared.kind <> 'base' THEN compared.best - compared.points END AS below_best,
  CASE WHEN compared.kind <> 'base' THEN compared.average - compared.points END AS below_average
FROM compared
LEFT JOIN places
  ON places.feature = compared.feature AND places.kind = compared.kind AND (places.value IS NULL OR places.value = compared.value)
ORDER BY
  places.feature_no ASC NULLS FIRST,
  CASE compared.kind WHEN 'value' THEN 0 WHEN 'missing' THEN 1 ELSE 2 END ASC NULLS LAST,
  places.lower ASC NULLS FIRST,
  compared.value ASC NULLS LAST
{%- endmacro %}

{#
  ratios(feature, kind, value, weight_of_evidence, information_value, evidence), one row per feature and value, from the relation
  likelihoods. evidence: what the value adds to the log-odds of the target. Of two classes with weights that is the difference of their
  scores; of more the weight of evidence times the weight of the feature.
#}
{% macro scorecard_ratios(model, priors, target) -%}
{% set weights, has_two = model.options.weights, model.form.class_columns | length == 2 -%}
{% set score = nbsql.word('score') -%}
{% set scores %}{{ nbsql.sum_over_target(score, target) }} - {{ nbsql.sum_over_rest(score, target) }}{% endset -%}
{% set weighed %}prior * likelihood{% endset -%}
{% set ratio = nbsql.log_of_ratio(nbsql.word('of_target'), nbsql.word('of_rest')) -%}
ratios AS (
  SELECT
    feature,
    kind,
    value,
    {{ ratio }} AS weight_of_evidence,
    (of_target - of_rest) * {{ ratio }} AS information_value,
    {% if not weights %}{{ ratio }}{% else %}CASE WHEN of_target > 0 AND of_rest > 0 THEN {% if has_two %}of_scores{% else -%}
    weight * {{ ratio }}{% endif %} END{% endif %} AS evidence
  FROM (
    SELECT
      feature,
      kind,
      value,
      {{ nbsql.sum_over_target(nbsql.word('likelihood'), target) }} AS of_target,
      {{ nbsql.sum_over_rest(weighed, target) }} / nullif({{ nbsql.sum_over_rest(nbsql.word('prior'), target) }}, 0) AS of_rest
      {%- if weights %},
      {{ scores }} AS of_scores,
      max(weight) AS weight
      {%- endif +%}
    FROM (
      SELECT
        likelihoods.feature,
        CASE WHEN likelihoods.unseen THEN 'unseen' WHEN likelihoods.value IS NULL THEN 'missing' ELSE 'value' END AS kind,
        likelihoods.value,
        likelihoods.likelihood,
        {% if weights %}
        weights.weight,
        weights.weight * likelihoods.score AS score,
        {% endif %}
        priors.class,
        priors.prior
      FROM likelihoods
      JOIN {{ priors }} AS priors ON priors.class = likelihoods.class
      {% if weights %}
      JOIN {{ weights }} AS weights ON weights.class = likelihoods.class AND weights.feature = likelihoods.feature
      {% endif %}
    ) AS by_class
    GROUP BY feature, kind, value
  ) AS sides
)
{%- endmacro %}

{#
  places(feature, feature_no, kind, smooths, value, lower, upper), one row per feature and kind of line, and for bins one row per bin.
  smooths: whether a value without rows is smoothed instead of skipped.
#}
{% macro scorecard_line_keys(features) -%}
{% set rows -%}
{% for feature in features -%}
{% set family, place = feature.family, loop.index -%}
{% set first %}{{ nbsql.text(feature.name) }}, {{ place }}{% endset -%}
{% set no_bin %}CAST(NULL AS {{ nbsql.string() }}), {{ nbsql.nullable_double(none) }}, {{ nbsql.nullable_double(none) }}{% endset -%}
{% set smooths = nbsql.boolean(family.unseen == 'smooth') -%}
{% set counts %}{% if family.nulls == 'category' %}{{ smooths }}{% else %}FALSE{% endif %}{% endset -%}
{% if family.cell == 'bin' %}
{% for label, lower, upper in family.ends %}
({{ first }}, 'value', FALSE, {{ nbsql.text(label) }}, {{ nbsql.nullable_double(lower) }}, {{ nbsql.nullable_double(upper) }}),
{% endfor %}
{% else %}
({{ first }}, 'value', FALSE, {{ no_bin }}),
{% endif %}
{% if family.level and family.cell != 'bin' %}
({{ first }}, 'unseen', {{ smooths }}, {{ no_bin }}),
{% endif %}
({{ first }}, 'missing', {{ counts }}, {{ no_bin }}){{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endset -%}
{% set columns = ['feature', 'feature_no', 'kind', 'smooths', 'value', 'lower', 'upper'] -%}
places AS (
  SELECT *
  FROM {{ nbsql.named_values(rows, 'listed', columns) | indent(2) }}
)
{%- endmacro %}

{# To aggregate the classes of a group: x of the target, and the sum of x over all others. #}
{% macro sum_over_target(x, target) -%} sum(CASE WHEN class = {{ target }} THEN {{ x }} END) {%- endmacro %}

{% macro sum_over_rest(x, target) -%} sum(CASE WHEN class <> {{ target }} THEN {{ x }} END) {%- endmacro %}

{# ln(a / b); NULL if either is 0. #}
{% macro log_of_ratio(a, b) -%} CASE WHEN {{ a }} > 0 AND {{ b }} > 0 THEN ln({{ a }} / {{ b }}) END {%- endmacro %}

{# Rounds to so many digits, a half upwards; none: no rounding. #}
{% macro round_to_digits(x, digits) -%}
{% if digits is none %}{{ x }}{% else %}
{% set shift = nbsql.number((10 ** digits) | float) -%}
CAST(floor(({{ x }}) * {{ shift }} + 0.5) AS {{ nbsql.double() }}) / {{ shift }}{% endif %}
{%- endmacro %}
