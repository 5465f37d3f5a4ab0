{#
  Rows drawn from a model: first the class, by the priors, then every feature from its distribution in that class.

  Random numbers are hashes of the seed, the row, the feature and the number of the draw. So a row is the same whenever and wherever it is
  drawn, and the first rows of a longer sample are a shorter one. A value is drawn by inversion of its cumulated likelihoods or of the
  distribution function; a normal number by Box and Muller (1958), several with a covariance matrix as in sample_vectors.sql.

  A guide table finds the place of a random number among the sums (Chen and Asau, On generating random variates from an empirical
  distribution, AIIE Transactions 6, 1974): slots of equal width from 0 to 1, each with the values that reach into it. So it is an
  equality join, which needs no sort, unlike an ASOF join.

  types: of the columns, by feature and column. factors: of features with a covariance matrix, by name (sample_vectors.sql). components:
  their view, if classes have some (mixture.sql). A member is then drawn like a class and replaced by its class at the end.
#}
{% macro drawn_rows(features, target, n, seed, priors, likelihoods, statistics, factors, components=none) -%}
{% if components is not none -%}
{% set priors, likelihoods, statistics = nbsql.member_priors(), nbsql.member_likelihoods(), nbsql.member_statistics(statistics) -%}
{% endif -%}
{% set levels = features | selectattr('feature.family.sampling_kind', 'equalto', 'value') | map(attribute='feature') | list -%}
{% set bags = features | selectattr('feature.family.sampling_kind', 'equalto', 'bag') | map(attribute='feature') | list -%}
{% set numbers = features | selectattr('feature.family.sampling_kind', 'equalto', 'number') | map(attribute='feature') | list -%}
{% set vectors = features | selectattr('feature.family.sampling_kind', 'equalto', 'vector') | map(attribute='feature') | list -%}
{% set counts = numbers | selectattr('family.name', 'equalto', 'poisson') | list -%}
WITH {% if components is not none %}members AS {{ nbsql.materialized() }}(
  {{ nbsql.numbered_members(components) }}
),
{% endif %}likelihoods AS {{ nbsql.materialized() }}(
  SELECT class, feature, value, likelihood, mean, variance, rate FROM {{ likelihoods }} AS likelihoods
),
classes AS {{ nbsql.materialized() }}(
  {% set by_prior -%}
  (
    SELECT class, {{ nbsql.cumulative_share(nbsql.word('prior'), none, nbsql.word('class')) }} AS lower
    FROM {{ priors }} AS priors
    WHERE prior > 0
  )
  {%- endset -%}
  {{ nbsql.guide_table(by_prior, [], 64) | indent(2) }}
),
drawn AS {{ nbsql.materialized() }}(
  SELECT draws.nbsql_row, classes.class
  FROM (
    SELECT nbsql_row, {{ nbsql.uniform(seed, 0, 0) }} AS u FROM {{ nbsql.row_numbers(n) }} AS numbered(nbsql_row)
  ) AS draws
  JOIN classes ON {{ nbsql.is_in_slot(nbsql.word('classes'), nbsql.word('draws.u'), 64) }}
)
{%- if levels or bags %},
cumulated AS {{ nbsql.materialized() }}(
  SELECT
    class,
    feature,
    value,
    {% set keys %}class, feature{% endset %}
    {{ nbsql.cumulative_share(nbsql.word('likelihood'), keys, nbsql.word('value')) }} AS lower
  FROM likelihoods
  WHERE likelihood > 0
),
sizes AS {{ nbsql.materialized() }}(
  {% set n %}counts.n{% endset %}
  SELECT features.feature, features.position, coalesce(max(CAST(power(2, ceil({{ nbsql.log2(n) }})) AS BIGINT)), 1) AS slots
  FROM {{ nbsql.numbered_features(levels + bags) | indent(2) }}
  LEFT JOIN (
    SELECT class, feature, count(*) AS n FROM cumulated GROUP BY class, feature
  ) AS counts ON counts.feature = features.feature
  GROUP BY features.feature, features.position
),
slots AS {{ nbsql.materialized() }}(
  SELECT {{ nbsql.ordered_list(nbsql.word('slots'), nbsql.word('position')) }} AS slots FROM sizes
),
guide AS {{ nbsql.materialized() }}(
  {% set slotted %}(SELECT cumulated.*, sizes.slots FROM cumulated JOIN sizes ON sizes.feature = cumulated.feature){% endset -%}
  {{ nbsql.guide_table(slotted, ['class', 'feature'], nbsql.word('slots')) | indent(2) }}
)
{%- endif %}
{%- if numbers %},
numbers AS {{ nbsql.materialized() }}(
  SELECT
    class
    {%- for feature in numbers %}
    {%- for quantity in ['mean', 'variance', 'rate'] %},
    {% set of_feature %}CASE WHEN feature = {{ nbsql.text(feature.name) }} THEN {{ nbsql.word(quantity) }} END{% endset %}
    max({{ of_feature }}) AS {{ nbsql.word(quantity) }}{{ nbsql.feature_suffix(feature) }}
    {%- endfor %}
    {%- endfor +%}
  FROM likelihoods
  GROUP BY class
)
{%- endif %}
{%- for feature in counts %},
{{ nbsql.poisson_quantiles(feature, nbsql.word('numbers')) }}
{%- endfor %}
{%- for block in levels | batch(20) %},
{{ nbsql.drawn_levels(levels[:loop.index0 * 20], block, loop.index, seed) }}
{%- endfor %}
{%- for feature in vectors %},
{{ nbsql.cholesky_factors(feature, factors[feature.name]) }}
{%- endfor %}
{%- for feature in bags %},
{{ nbsql.drawn_bags(feature, loop.index + levels | length, seed, priors, statistics) }}
{%- endfor +%}
SELECT
  {% for part in features %}
  {% for column in part.columns %}
  {% set value = nbsql[part.feature.family.macros.drawn](part.feature, seed, column.position) -%}
  {% set drawn %}{% if column.type is none %}{{ value }}{% else %}{{ nbsql.cast_or_null(value, column.type) }}{% endif %}{% endset %}
  {{ drawn }} AS {{ nbsql.ident(column.name) }},
  {% endfor %}
  {% endfor %}
  {%+ if components is not none %}labels{% else %}drawn{%+ endif %}.class AS {{ nbsql.ident(target) }}
FROM (
  SELECT
    *
    {%- for feature in counts %},
    {{ nbsql.uniform(seed, feature.index, 0) }} AS u{{ nbsql.feature_suffix(feature) }}
    {%- endfor %}
    {%- for feature in vectors %}
    {%- for j in range(1, feature.columns | length + 1) %},
    {{ nbsql.standard_normal(seed, feature, j) }} AS z{{ nbsql.feature_suffix(feature, j) }}
    {%- endfor %}
    {%- endfor +%}
  FROM {% if levels %}levels_{{ (levels | length + 19) // 20 }}{% else %}drawn{% endif %} AS drawn
) AS drawn
{% if numbers %}
LEFT JOIN numbers ON numbers.class = drawn.class
{% endif %}
{% for feature in counts %}
{% set i = nbsql.feature_suffix(feature) %}
LEFT JOIN count{{ i }}
  ON count{{ i }}.class = drawn.class AND {{ nbsql.is_in_slot(nbsql.word('count' ~ i), nbsql.word('drawn.u' ~ i), 64) }}
{% endfor %}
{% for feature in vectors %}
LEFT JOIN factor{{ nbsql.feature_suffix(feature) }}
  ON factor{{ nbsql.feature_suffix(feature) }}.label = {{ nbsql.text_of(nbsql.word('drawn.class')) }}
{% endfor %}
{% for feature in bags %}
LEFT JOIN bag{{ nbsql.feature_suffix(feature) }} ON bag{{ nbsql.feature_suffix(feature) }}.of_row = drawn.nbsql_row
{% endfor %}
{% if components is not none %}
JOIN {{ nbsql.labels_of_members() }} AS labels ON labels.member = drawn.class
{% endif %}
ORDER BY nbsql_row ASC NULLS LAST
{%- endmacro %}

{#
  A number from 0 to 1, 1 excluded, with 53 bits. It is a hash of hashes, because DuckDB's hash of several numbers at once leaves them
  correlated.
#}
{% macro uniform(seed, feature, draw, position=none) -%}
{% set number %}{{ 4 * feature + draw }}{% if position is not none %} + 4294967296 * {{ position }}{% endif %}{% endset -%}
{% set of_row %}hash(xor(hash(CAST({{ seed }} AS BIGINT)), CAST(nbsql_row AS UBIGINT))){% endset -%}
CAST(hash(xor({{ of_row }}, hash(CAST({{ number }} AS BIGINT)))) >> 11 AS {{ nbsql.double() }}) / 9007199254740992e0
{%- endmacro %}

{#
  A guide table of a relation with `lower`, the start of each value: its columns, upper, the end, and slot, one of the slots that it
  reaches into. There are `slots` slots for each of the keys; slots: a number or a column.
#}
{% macro guide_table(relation, keys, slots) -%}
{% set first %}CAST(floor(lower * {{ slots }}) AS BIGINT){% endset -%}
{% set end %}CAST(floor(least(upper, 1) * {{ slots }}) AS BIGINT) + 1{% endset -%}
SELECT *, {{ nbsql.whole_numbers(first, end) }} AS slot
FROM (
  {% set by %}{% for key in keys %}{{ nbsql.word(key) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset %}
  SELECT *, coalesce(lead(lower) OVER ({% if keys %}PARTITION BY {{ by }} {% endif %}ORDER BY lower ASC NULLS LAST), 2) AS upper
  FROM {{ relation }} AS cumulated
) AS spans
{%- endmacro %}

{#
  The drawn rows with the values of some more features, value_3 for the third. They are few at once, because the time to plan the joins
  grows faster than their number.
#}
{% macro drawn_levels(before, features, number, seed) -%}
levels_{{ number }} AS {{ nbsql.materialized() }}(
  SELECT
    drawn.nbsql_row,
    drawn.class
    {%- for feature in before %},
    drawn.value{{ nbsql.feature_suffix(feature) }}
    {%- endfor %}
    {%- for feature in features %},
    level{{ nbsql.feature_suffix(feature) }}.value AS value{{ nbsql.feature_suffix(feature) }}
    {%- endfor +%}
  FROM (
    SELECT
      *
      {%- for feature in features %},
      {{ nbsql.uniform(seed, feature.index, 0) }} AS u{{ nbsql.feature_suffix(feature) }}
      {%- endfor +%}
    FROM {% if before %}levels_{{ number - 1 }}{% else %}drawn{% endif %} AS drawn
  ) AS drawn
  CROSS JOIN slots
  {%- for feature in features %}
  {% set i = nbsql.feature_suffix(feature) +%}
  LEFT {{ nbsql.join_guide(feature, 'level' ~ i, 'drawn', 'drawn.u' ~ i, before | length + loop.index) | indent(2) }}
  {%- endfor +%}
)
{%- endmacro %}

{# Whether a random number falls on a value of a guide table. #}
{% macro is_in_slot(guide, u, slots) -%}
{{ guide }}.slot = CAST(floor({{ u }} * {{ slots }}) AS BIGINT) AND {{ u }} >= {{ guide }}.lower AND {{ u }} < {{ guide }}.upper
{%- endmacro %}

{# A join of rows with the values of a feature on which their random numbers u fall. position: that of the feature among the slots. #}
{% macro join_guide(feature, name, rows, u, position) -%}
JOIN (
  SELECT class, value, lower, upper, slot FROM guide WHERE feature = {{ nbsql.text(feature.name) }}
) AS {{ nbsql.word(name) }}
  ON {{ nbsql.word(name) }}.class = {{ nbsql.word(rows) }}.class
  AND {{ nbsql.is_in_slot(nbsql.word(name), nbsql.word(u), nbsql.element(nbsql.word('slots.slots'), position)) }}
{%- endmacro %}

{# The cumulated share of the probabilities before this one. #}
{% macro cumulative_share(p, by, order) -%}
{% set partition %}{% if by is not none %}PARTITION BY {{ by }}{% endif %}{% endset -%}
coalesce(sum({{ p }}) OVER ({{ partition }} ORDER BY {{ order }} ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
    / sum({{ p }}) OVER ({{ partition }})
{%- endmacro %}

{# A number of mean 0 and variance 1 from two uniform ones: Box and Muller (1958). #}
{% macro standard_normal(seed, feature, position=none) -%}
{% set u, v = nbsql.uniform(seed, feature.index, 0, position), nbsql.uniform(seed, feature.index, 1, position) -%}
sqrt(-2 * ln(1 - {{ u }})) * cos({{ nbsql.number(6.283185307179586) }} * {{ v }})
{%- endmacro %}

{#
  The distribution function of a count, as far as it differs from 0 and from 1: class, value, lower, upper, slot. Of a rate above 1e8 it
  takes some values alone, 10,000 in a standard deviation, by the first terms of the logarithm's series about the rate: the logarithms
  themselves have lost their digits.
#}
{% macro poisson_quantiles(feature, rates) -%}
{% set rate %}rate{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% set first %}greatest(floor({{ rate }} - 12 * sqrt({{ rate }}) - 30), 0){% endset -%}
{% set end %}ceil({{ rate }} + 12 * sqrt({{ rate }}) + 30){% endset -%}
{% set step %}greatest(floor(sqrt({{ rate }}) / 10000), 1){% endset -%}
{% set count %}CAST(floor(({{ end }} - {{ first }}) / {{ step }}) AS BIGINT){% endset -%}
{% set number %}CAST(value AS {{ nbsql.double() }}){% endset -%}
{% set log -%}
CASE
  WHEN step > 1 THEN (value - rate) * (value - rate) / rate * ((value - rate) / rate / 6 - 0.5)
  ELSE value * ln(rate) - rate - {{ nbsql.log_factorial(number) }}
END
{%- endset -%}
{% set probabilities -%}
(
  SELECT class, value, {{ nbsql.cumulative_share(nbsql.word('p'), nbsql.word('class'), nbsql.word('value')) }} AS lower
  FROM (
    SELECT class, value, CASE WHEN rate > 0 THEN {{ nbsql.exp(log) }} WHEN value = 0 THEN 1 ELSE 0 END AS p
    FROM (
      SELECT class, rate, step, CAST(lowest + step * place AS BIGINT) AS value
      FROM (
        SELECT
          class,
          {{ rate }} AS rate,
          {{ first }} AS lowest,
          {{ step }} AS step,
          {{ nbsql.whole_numbers(0, count) }} AS place
        FROM {{ rates }} AS rates
      ) AS places
    ) AS counts
  ) AS masses
)
{%- endset -%}
count{{ nbsql.feature_suffix(feature) }} AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.guide_table(probabilities, ['class'], 64)) }}
{%- endmacro %}

{#
  The tokens of every row. Their number has a Poisson distribution, whose mean is the average number of tokens of a row of the class, or
  of all classes if the class has no row, and each token is drawn by the likelihoods.
#}
{% macro drawn_bags(feature, position, seed, priors, statistics) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set sizes %}sizes{{ i }}{% endset -%}
{% set counts %}count{{ i }}{% endset -%}
{% set times %}count{{ i }}.value{% endset -%}
{{ sizes }} AS {{ nbsql.materialized() }}(
  SELECT
    priors.class,
    CASE
      WHEN max(priors.n) > 0 THEN coalesce(max(tokens.n), 0) / max(priors.n)
      ELSE sum(coalesce(max(tokens.n), 0)) OVER () / sum(max(priors.n)) OVER ()
    END AS rate{{ i }}
  FROM {{ priors }} AS priors
  LEFT JOIN (
    SELECT class, sum(n) AS n
    FROM {{ statistics }} AS statistics
    WHERE feature = {{ nbsql.text(feature.name) }}
      AND mean IS NULL
      AND value IN (SELECT value FROM likelihoods WHERE feature = {{ nbsql.text(feature.name) }})
    GROUP BY class
  ) AS tokens ON tokens.class = priors.class
  GROUP BY priors.class
),
{{ nbsql.poisson_quantiles(feature, sizes) }},
bag{{ i }} AS {{ nbsql.materialized() }}(
  SELECT draws.nbsql_row AS of_row, {{ nbsql.ordered_list(nbsql.word('tokens.value'), nbsql.word('draws.position')) }} AS bag
  FROM (
    SELECT nbsql_row, class, position, {{ nbsql.uniform(seed, feature.index, 1, nbsql.word('position')) }} AS u
    FROM (
      SELECT rows_of.nbsql_row, rows_of.class, {{ nbsql.whole_numbers(0, times) }} AS position
      FROM (
        SELECT nbsql_row, class, {{ nbsql.uniform(seed, feature.index, 0) }} AS u FROM drawn
      ) AS rows_of
      JOIN {{ counts }} ON {{ counts }}.class = rows_of.class AND {{ nbsql.is_in_slot(counts, nbsql.word('rows_of.u'), 64) }}
    ) AS places
  ) AS draws
  CROSS JOIN slots
  {{ nbsql.join_guide(feature, 'tokens', 'draws', 'draws.u', position) | indent(2) }}
  GROUP BY draws.nbsql_row
)
{%- endmacro %}

{# One row: rows, log_likelihood, mean: the number of rows of a query of `log_evidence`, and the sum and mean of ln p(x). #}
{% macro total_log_evidence(query) -%}
SELECT count(*) AS rows, coalesce(sum(log_evidence), 0) AS log_likelihood, avg(log_evidence) AS mean
FROM {{ nbsql.subquery(query) }} AS scored
{%- endmacro %}

{# One row, as above, of ln p(x, c) over the rows whose class c is known. A class that the model does not know has no likelihood. #}
{% macro total_log_joint(model, scored, parameters) -%}
{% set joints %}({{ nbsql.list_of_joints(model) }}){% endset -%}
{% set class_no %}numbered.class_no{% endset -%}
{% set joint %}coalesce({{ nbsql.element(joints, class_no) }}{{ nbsql.plus_common(model) }}, -{{ nbsql.infinity() }}){% endset -%}
SELECT count(*) AS rows, coalesce(sum({{ joint }}), 0) AS log_likelihood, avg({{ joint }}) AS mean
FROM {{ scored }} AS source
LEFT JOIN {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS numbered ON numbered.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.target(model) }} IS NOT NULL
{%- endmacro %}
