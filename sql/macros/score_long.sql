{#
  Scoring, long: a row a class instead of a column a class. Statements stay short however many classes there are, and the
  star of left joins is cut into blocks, because the time to plan one grows faster than the number of its joins.

  The lookups hold one list a value, with a number a class; lists met by the same row are unnested side by side.
  What the caller's `columns` may read is the same as in the wide form.
#}
{% macro scored_long(model, source, parameters, lookups, columns) -%}
{% set levels = model.features | selectattr('family.level') | list -%}
WITH {{ nbsql.numbered(source) }},
terms AS (
  {{ nbsql.dense_terms(model, parameters) | indent(2) }}
  {%- for block in levels | batch(20) %}

  UNION ALL
  {{ nbsql.level_terms(block, parameters, lookups) | indent(2) }}
  {%- endfor %}
  {%- for feature in model.features | selectattr('family.bag') %}

  UNION ALL
  {{ nbsql.bag_terms(feature, parameters, lookups) | indent(2) }}
  {%- endfor %}

),
joint AS (
  SELECT nbsql_row, class_no, sum(term) AS joint FROM terms GROUP BY nbsql_row, class_no
),
best AS (
  SELECT nbsql_row, max(joint) AS highest, list(joint ORDER BY class_no) AS joints FROM joint GROUP BY nbsql_row
),
evidence AS (
  SELECT *, list_sum(list_transform(joints, lambda joint: exp(joint - highest))) AS mass FROM best
),
posterior AS (
  SELECT
    evidence.nbsql_row,
    evidence.joints,
    CASE WHEN evidence.highest > -{{ nbsql.infinity() }} THEN parameters.class END AS prediction,
    CASE WHEN evidence.highest > -{{ nbsql.infinity() }} THEN 1 / evidence.mass END AS probability,
    CASE WHEN evidence.highest > -{{ nbsql.infinity() }} THEN evidence.highest + ln(evidence.mass) ELSE evidence.highest END AS log_evidence
  FROM evidence
  JOIN {{ parameters }} AS parameters ON parameters.class_no = list_position(evidence.joints, evidence.highest)
)
SELECT
  {{ columns | indent(2) }}
FROM numbered AS source
JOIN posterior ON posterior.nbsql_row = source.nbsql_row
ORDER BY source.nbsql_row
{%- endmacro %}

{# The prior, and every feature that needs no lookup. #}
{% macro dense_terms(model, parameters) -%}
{% set numbers = model.features | selectattr('family.number') | list -%}
SELECT
  source.nbsql_row,
  parameters.class_no,
  parameters.log_prior
  {%- for block in model.features | selectattr('family.parametrised_term') | batch(50) %}

    + ({% for feature in block %}{% if not loop.first %} + {% endif %}{{ nbsql[feature.family.name ~ '_term'](feature, none, true) }}{% endfor %})
  {%- endfor %} AS term
FROM numbered AS source
CROSS JOIN {{ parameters }} AS parameters
{%- if numbers %}

CROSS JOIN LATERAL (
  SELECT
    {% for feature in numbers %}
    {{ nbsql[feature.family.name ~ '_inputs'](feature, none, false, false) }}{{ nbsql.comma(loop) }}
    {% endfor %}
) AS number
{%- endif %}
{%- endmacro %}

{# A block of categorical features. #}
{% macro level_terms(features, parameters, lookups) -%}
SELECT
  source.nbsql_row,
  source.class_no,
  {% for feature in features -%}
  {%- set found %}source.nbsql_level{{ nbsql.sub(feature) }}{% endset -%}
  {% if not loop.first %} + {% endif %}{{ nbsql.level_term(feature, none, found) }}
  {%- endfor %} AS term
FROM (
  SELECT
    source.nbsql_row,
    {% for feature in features -%}
    {% if feature.family.nulls == 'category' or feature.family.unseen == 'smooth' -%}
    source.{{ nbsql.ident(feature.column) }},
    {% endif -%}
    unnest(level{{ nbsql.sub(feature) }}.scores) AS nbsql_level{{ nbsql.sub(feature) }},
    {% endfor -%}
    unnest(classes.class_nos) AS class_no
  FROM numbered AS source
  CROSS JOIN (
    SELECT list(class_no ORDER BY class_no) AS class_nos FROM {{ parameters }} AS parameters
  ) AS classes
  {%- for feature in features %}

  LEFT JOIN (
    SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS level{{ nbsql.sub(feature) }} ON level{{ nbsql.sub(feature) }}.value = CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }})
  {%- endfor %}

) AS source
JOIN {{ parameters }} AS parameters ON parameters.class_no = source.class_no
{%- endmacro %}

{% macro bag_terms(feature, parameters, lookups) -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
SELECT nbsql_row, class_no, sum(term) AS term
FROM (
  SELECT
    tokens.nbsql_row,
    parameters.class_no,
    {{ nbsql.times(feature) }}{% if smooth %}coalesce(lookups.scores[parameters.class_no], parameters.unseen{{ nbsql.sub(feature) }}){% else %}lookups.scores[parameters.class_no]{% endif %} AS term
  FROM (
    {{ nbsql.tokens(feature, nbsql.word('numbered'), nbsql.row_of(nbsql.word('source'))) | indent(4) }}
  ) AS tokens
  {% if smooth %}LEFT {% endif %}JOIN (
    SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
  ) AS lookups ON lookups.value = tokens.value
  CROSS JOIN {{ parameters }} AS parameters
) AS scores
GROUP BY nbsql_row, class_no
{%- endmacro %}
