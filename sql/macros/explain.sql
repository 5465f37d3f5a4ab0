{#
  The score before it is summed, a row a source row, class and feature (a feature of tokens: and token):

    row_id        the source's rows from 1, in its order
    ...           the id columns of the model
    class, feature, value, contribution

  The contributions of one row and class sum to its joint log-likelihood; the row without a feature holds the prior.
  Each feature has the very term that scoring adds up.
#}
{% macro explain(model, source, parameters, lookups) -%}
WITH {{ nbsql.numbered(source) }},
classes AS (
  {% if model.class_numbers -%}
  {% for k in model.class_numbers -%}
  SELECT {{ k }} AS class_no, class_{{ k }} AS class, log_prior_{{ k }} AS log_prior FROM {{ parameters }} AS parameters{% if not loop.last %} UNION ALL{% endif %}

  {% endfor %}
  {%- else -%}
  SELECT class_no, class, log_prior FROM {{ parameters }} AS parameters
  {%- endif %}

),
contributions AS (
  SELECT source.nbsql_row, classes.class_no, 0 AS feature_no, CAST(NULL AS {{ nbsql.string() }}) AS feature, CAST(NULL AS {{ nbsql.string() }}) AS value, classes.log_prior AS contribution
  FROM numbered AS source
  CROSS JOIN classes
  {%- for feature in model.features %}
  {%- if feature.family.bag %}

  UNION ALL
  {{ nbsql.explained_tokens(model, feature, parameters, lookups) | indent(2) }}
  {%- endif %}
  {%- if feature.family.level or feature.family.parametrised_term %}
  {%- for part in range(1, feature.parts + 1) %}

  UNION ALL
  {{ nbsql.explained_rows(model, feature, part, parameters, lookups) | indent(2) }}
  {%- endfor %}
  {%- endif %}
  {%- endfor %}

)
SELECT
  contributions.nbsql_row AS row_id,
  {%- for column in model.id %}
  source.{{ nbsql.ident(column) }},
  {%- endfor %}

  classes.class,
  contributions.feature,
  contributions.value,
  contributions.contribution
FROM contributions
JOIN classes ON classes.class_no = contributions.class_no
{%- if model.id %}

JOIN numbered AS source ON source.nbsql_row = contributions.nbsql_row
{%- endif %}

ORDER BY contributions.nbsql_row, contributions.class_no, contributions.feature_no, contributions.value
{%- endmacro %}

{#
  One number a class: in the wide form two lists unnested side by side, in the long form the row of `parameters` at hand.
#}
{% macro class_numbers(model) -%}
{% if model.class_numbers -%}
unnest([{% for k in model.class_numbers %}{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}])
{%- else -%}
parameters.class_no
{%- endif %}
{%- endmacro %}

{# What a feature looks up or computes from its parameters; of a family over several columns, what one of them adds. #}
{% macro explained_rows(model, feature, part, parameters, lookups) -%}
{% set column = feature.columns[part - 1] -%}
SELECT
  source.nbsql_row,
  {{ nbsql.class_numbers(model) }} AS class_no,
  {{ feature.index }} AS feature_no,
  {{ nbsql.text(feature.name) }} AS feature,
  {% if feature.family.bag %}NULL{% elif feature.parts > 1 %}{{ nbsql.text(column) }}{% else %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.string() }}){% endif %} AS value,
  {% if model.class_numbers -%}
  unnest([
    {% for k in model.class_numbers %}
    {% set found %}level.class_{{ k }}{% endset %}
    {{ nbsql.explained_term(feature, k, found, part) }}{{ nbsql.comma(loop) }}
    {% endfor %}
  ])
  {%- else -%}
  {% set found %}level.scores[parameters.class_no]{% endset -%}
  {{ nbsql.explained_term(feature, none, found, part) }}
  {%- endif %} AS contribution
FROM numbered AS source
CROSS JOIN {{ parameters }} AS parameters
{%- if feature.family.level %}

LEFT JOIN (
  SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
) AS level ON level.value = CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.string() }})
{%- elif feature.family.number %}

CROSS JOIN LATERAL (
  SELECT {{ nbsql[feature.family.name ~ '_inputs'](feature, none, false, false) | indent(4) }}
) AS number
{%- endif %}
{%- endmacro %}

{% macro explained_term(feature, k, found, part) -%}
{% if feature.family.level -%}
{{ nbsql.level_term(feature, k, found) }}
{%- else -%}
{{ nbsql[feature.family.name ~ '_term'](feature, k, true, part) }}
{%- endif %}
{%- endmacro %}

{% macro explained_tokens(model, feature, parameters, lookups) -%}
{% set smooth = feature.family.unseen == 'smooth' -%}
SELECT
  tokens.nbsql_row,
  {{ nbsql.class_numbers(model) }} AS class_no,
  {{ feature.index }} AS feature_no,
  {{ nbsql.text(feature.name) }} AS feature,
  tokens.value,
  {% if model.class_numbers -%}
  unnest([
    {% for k in model.class_numbers %}
    tokens.times * {% if smooth %}coalesce(lookups.class_{{ k }}, parameters.unseen{{ nbsql.sub(feature) }}_{{ k }}){% else %}lookups.class_{{ k }}{% endif %}{{ nbsql.comma(loop) }}
    {% endfor %}
  ])
  {%- else -%}
  tokens.times * {% if smooth %}coalesce(lookups.scores[parameters.class_no], parameters.unseen{{ nbsql.sub(feature) }}){% else %}lookups.scores[parameters.class_no]{% endif %}
  {%- endif %} AS contribution
FROM (
  SELECT nbsql_row, value, sum(times) AS times
  FROM (
    {{ nbsql.tokens(feature, nbsql.word('numbered'), nbsql.row_of(nbsql.word('source'))) | indent(4) }}
  ) AS occurrences
  GROUP BY nbsql_row, value
) AS tokens
CROSS JOIN {{ parameters }} AS parameters
{% if smooth %}LEFT {% endif %}JOIN (
  SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
) AS lookups ON lookups.value = tokens.value
{%- endmacro %}
