{#
  Rows drawn from a model: first the class, by the priors, then every feature from its distribution in that class.

  Chance is a hash of the seed, the row, the feature and the number of the draw, so that a row is the same whenever and wherever
  it is drawn, and the first rows of a longer sample are a shorter one. A value is drawn by inversion: of its likelihoods summed
  up, or of the distribution function; a normal number by Box and Muller (1958).

  types: of the columns, by feature and column.
#}
{% macro sampled(features, target, n, seed, priors, likelihoods, statistics) -%}
{% set levels = features | selectattr('feature.family.drawn', 'equalto', 'value') | map(attribute='feature') | list -%}
{% set bags = features | selectattr('feature.family.drawn', 'equalto', 'bag') | map(attribute='feature') | list -%}
{% set numbers = features | selectattr('feature.family.drawn', 'equalto', 'number') | map(attribute='feature') | list -%}
{% set counts = numbers | selectattr('family.name', 'equalto', 'poisson') | list -%}
WITH likelihoods AS MATERIALIZED (
  SELECT class, feature, value, likelihood, mean, variance, rate FROM {{ likelihoods }} AS likelihoods
),
classes AS MATERIALIZED (
  SELECT class, {{ nbsql.up_to(nbsql.word('prior'), none, nbsql.word('class')) }} AS lower
  FROM {{ priors }} AS priors
  WHERE prior > 0
),
drawn AS MATERIALIZED (
  SELECT draws.nbsql_row, classes.class
  FROM (
    SELECT nbsql_row, {{ nbsql.uniform(seed, 0, 0) }} AS u FROM range(1, {{ n + 1 }}) AS numbered(nbsql_row)
  ) AS draws
  ASOF JOIN classes ON draws.u >= classes.lower
)
{%- if levels or bags %},
cumulated AS MATERIALIZED (
  SELECT class, feature, value, {{ nbsql.up_to(nbsql.word('likelihood'), nbsql.class_and_feature(), nbsql.word('value')) }} AS lower
  FROM likelihoods
  WHERE likelihood > 0
)
{%- endif %}
{%- if numbers %},
numbers AS MATERIALIZED (
  SELECT
    class
    {%- for feature in numbers %}
    {%- for quantity in ['mean', 'variance', 'rate'] %},
    max(CASE WHEN feature = {{ nbsql.text(feature.name) }} THEN {{ nbsql.word(quantity) }} END) AS {{ nbsql.word(quantity) }}{{ nbsql.sub(feature) }}
    {%- endfor %}
    {%- endfor %}

  FROM likelihoods
  GROUP BY class
)
{%- endif %}
{%- for feature in counts %},
{{ nbsql.poisson_quantiles(feature, nbsql.word('numbers')) }}
{%- endfor %}
{%- for feature in bags %},
{{ nbsql.drawn_bags(feature, seed, priors, statistics) }}
{%- endfor %}

SELECT
  {% for part in features %}
  {% for column in part.columns %}
  {% set value = nbsql[part.feature.family.name ~ '_drawn'](part.feature, seed, column.position) -%}
  {% if column.type is none %}{{ value }}{% else %}TRY_CAST({{ value }} AS {{ column.type }}){% endif %} AS {{ nbsql.ident(column.name) }},
  {% endfor %}
  {% endfor %}
  drawn.class AS {{ nbsql.ident(target) }}
FROM (
  SELECT
    drawn.nbsql_row,
    {% for feature in levels + counts %}
    {{ nbsql.uniform(seed, feature.index, 0) }} AS u{{ nbsql.sub(feature) }},
    {% endfor %}
    drawn.class
  FROM drawn
) AS drawn
{%- if numbers %}

LEFT JOIN numbers ON numbers.class = drawn.class
{%- endif %}
{%- for feature in levels %}

ASOF LEFT JOIN (
  SELECT class, value, lower FROM cumulated WHERE feature = {{ nbsql.text(feature.name) }}
) AS level{{ nbsql.sub(feature) }} ON level{{ nbsql.sub(feature) }}.class = drawn.class AND drawn.u{{ nbsql.sub(feature) }} >= level{{ nbsql.sub(feature) }}.lower
{%- endfor %}
{%- for feature in counts %}

ASOF LEFT JOIN count{{ nbsql.sub(feature) }} ON count{{ nbsql.sub(feature) }}.class = drawn.class AND drawn.u{{ nbsql.sub(feature) }} >= count{{ nbsql.sub(feature) }}.lower
{%- endfor %}

{%- for feature in bags %}

LEFT JOIN bag{{ nbsql.sub(feature) }} ON bag{{ nbsql.sub(feature) }}.of_row = drawn.nbsql_row
{%- endfor %}

ORDER BY drawn.nbsql_row
{%- endmacro %}

{# A number from 0 to 1, 1 excluded, of 53 bits. Hashes of hashes: DuckDB's hash of several numbers at once leaves them correlated. #}
{% macro uniform(seed, feature, draw, position=none) -%}
CAST(hash(xor(hash(xor(hash(CAST({{ seed }} AS BIGINT)), CAST(nbsql_row AS UBIGINT))), hash(CAST({{ 4 * feature + draw }}{% if position is not none %} + 4294967296 * {{ position }}{% endif %} AS BIGINT)))) >> 11 AS {{ nbsql.double() }}) / 9007199254740992e0
{%- endmacro %}

{# The share of the probabilities before this one. #}
{% macro up_to(p, by, order) -%}
{% set partition %}{% if by is not none %}PARTITION BY {{ by }}{% endif %}{% endset -%}
coalesce(sum({{ p }}) OVER ({{ partition }} ORDER BY {{ order }} NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) / sum({{ p }}) OVER ({{ partition }})
{%- endmacro %}

{% macro class_and_feature() -%} class, feature {%- endmacro %}

{# A number of mean 0 and variance 1 from two uniform ones: Box and Muller (1958). #}
{% macro standard_normal(seed, feature) -%}
sqrt(-2 * ln(1 - {{ nbsql.uniform(seed, feature.index, 0) }})) * cos({{ nbsql.number(6.283185307179586) }} * {{ nbsql.uniform(seed, feature.index, 1) }})
{%- endmacro %}

{#
  The distribution function of a count, as far as it can be told from 0 and from 1: class, value, lower.
#}
{% macro poisson_quantiles(feature, rates) -%}
{% set rate %}rate{{ nbsql.sub(feature) }}{% endset -%}
count{{ nbsql.sub(feature) }} AS MATERIALIZED (
  SELECT class, value, {{ nbsql.up_to(nbsql.word('p'), nbsql.word('class'), nbsql.word('value')) }} AS lower
  FROM (
    SELECT class, value, CASE WHEN rate > 0 THEN exp(value * ln(rate) - rate - lgamma(value + 1)) WHEN value = 0 THEN 1 ELSE 0 END AS p
    FROM (
      SELECT
        class,
        {{ rate }} AS rate,
        unnest(range(
          CAST(greatest(floor({{ rate }} - 12 * sqrt({{ rate }}) - 30), 0) AS BIGINT),
          CAST(ceil({{ rate }} + 12 * sqrt({{ rate }}) + 30) AS BIGINT)
        )) AS value
      FROM {{ rates }} AS rates
    ) AS counts
  ) AS masses
)
{%- endmacro %}

{#
  The tokens of every row: as many as a Poisson distribution says, whose mean is the number of tokens a row of the class has, each
  by the likelihoods.
#}
{% macro drawn_bags(feature, seed, priors, statistics) -%}
{% set i = nbsql.sub(feature) -%}
{% set sizes %}sizes{{ i }}{% endset -%}
{{ sizes }} AS MATERIALIZED (
  SELECT priors.class, coalesce(max(tokens.n), 0) / max(priors.n) AS rate{{ i }}
  FROM {{ priors }} AS priors
  LEFT JOIN (
    SELECT class, sum(n) AS n
    FROM {{ statistics }} AS statistics
    WHERE feature = {{ nbsql.text(feature.name) }} AND mean IS NULL AND value IN (SELECT value FROM likelihoods WHERE feature = {{ nbsql.text(feature.name) }})
    GROUP BY class
  ) AS tokens ON tokens.class = priors.class
  GROUP BY priors.class
),
{{ nbsql.poisson_quantiles(feature, sizes) }},
bag{{ i }} AS MATERIALIZED (
  SELECT draws.nbsql_row AS of_row, list(tokens.value ORDER BY draws.position) AS bag
  FROM (
    SELECT nbsql_row, class, position, {{ nbsql.uniform(seed, feature.index, 1, nbsql.word('position')) }} AS u
    FROM (
      SELECT rows_of.nbsql_row, rows_of.class, unnest(range(count{{ i }}.value)) AS position
      FROM (
        SELECT nbsql_row, class, {{ nbsql.uniform(seed, feature.index, 0) }} AS u FROM drawn
      ) AS rows_of
      ASOF JOIN count{{ i }} ON count{{ i }}.class = rows_of.class AND rows_of.u >= count{{ i }}.lower
    ) AS places
  ) AS draws
  ASOF JOIN (
    SELECT class, value, lower FROM cumulated WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS tokens ON tokens.class = draws.class AND draws.u >= tokens.lower
  GROUP BY draws.nbsql_row
)
{%- endmacro %}

{# The total of ln p(x) over the rows of a query of `log_evidence`, and how many rows there are. #}
{% macro total_log_evidence(query) -%}
SELECT coalesce(sum(log_evidence), 0) AS total, count(*) AS rows
FROM (
  {{ query | indent(2) }}
) AS scored
{%- endmacro %}

{# The total of ln p(x, c) over the rows whose class c is known; one that the model does not know has no likelihood. #}
{% macro total_log_joint(model, scored, parameters) -%}
{% set joints %}{% if model.class_numbers %}[{% for k in model.class_numbers %}source.nbsql_joint_{{ k }}{% if not loop.last %}, {% endif %}{% endfor %}]{% else %}source.nbsql_joints{% endif %}{% endset -%}
SELECT coalesce(sum(coalesce(list_extract({{ joints }}, numbered.class_no){{ nbsql.and_common(model) }}, -{{ nbsql.infinity() }})), 0) AS total, count(*) AS rows
FROM {{ scored }} AS source
LEFT JOIN (
  {{ nbsql.numbered_classes(model, parameters) | indent(2) }}
) AS numbered ON numbered.class = {{ nbsql.target(model) }}
WHERE {{ nbsql.target(model) }} IS NOT NULL
{%- endmacro %}
