{#
  The tables that scoring reads, made once from the likelihoods.

  parameters  one row: for every class k its label class_k and log_prior_k, and the parameters of the features that need no
              lookup, as mean_3_k for the third feature. Long form: a row a class with class_no, class, log_prior, mean_3.
  lookups     a row a value of a categorical feature or a token: feature, value and its log-likelihood in every class, as
              class_1, class_2, ... or, long form, as one list.

  A one-row table of parameters and lookups with a column a class keep scoring free of a join on the class; where there are
  many classes, the long form keeps statements short. The plan is chosen in nbsql/plan.py.
#}

{#
  One parameter of one feature: an aggregate over its likelihoods, a row a class; or, to turn, the column of class k from that
  row; or, with k alone, the other way round.
#}
{% macro parameter(feature, expression, k, turn, name, value=none, missing=false, unseen=false, column=none, total=false) -%}
{% set parameter %}{{ nbsql.word(name) }}{{ nbsql.sub(feature, column) }}{% endset -%}
,
  {%+ if turn -%}
  max(CASE WHEN class_no = {{ k }} THEN {{ parameter }} END) AS {{ parameter }}{{ nbsql.of(k) }}
  {%- elif k is not none -%}
  {{ parameter }}{{ nbsql.of(k) }} AS {{ parameter }}
  {%- else -%}
  {%+ if total %}sum{% else %}max{% endif %}(CASE WHEN smoothed.feature = {{ nbsql.text(feature.name) }}
  {%- if value is not none %} AND smoothed.value = {{ nbsql.text(value) }}{% endif %}
  {%- if missing %} AND smoothed.value IS NULL AND NOT smoothed.unseen{% endif %}
  {%- if unseen %} AND smoothed.unseen{% endif %} THEN {{ expression }} END) AS {{ parameter }}
  {%- endif %}
{%- endmacro %}

{# The ending of a parameter of class k: mean_3_1 is the first class's; the long form has mean_3, a row a class. #}
{% macro of(k) -%} {% if k is not none %}_{{ k }}{% endif %} {%- endmacro %}

{# What a value adds to the score: its log-likelihood, save where a family says otherwise. #}
{% macro lookup_score(features) -%}
{% set other = features | selectattr('family.distribution', 'equalto', 'presence') | list -%}
{% if other -%}
CASE WHEN smoothed.feature IN ({% for feature in other %}{{ nbsql.text(feature.name) }}{{ nbsql.comma(loop) }}{% endfor %}) THEN {{ nbsql.text_lookup() }} ELSE smoothed.log_likelihood END
{%- else -%}
smoothed.log_likelihood
{%- endif %}
{%- endmacro %}

{# The likelihoods of a value never seen, and of a missing one, where they count. #}
{% macro level_parameters(feature, k, turn=false) -%}
{% if feature.family.unseen == 'smooth' -%}
{{ nbsql.parameter(feature, nbsql.word('log_likelihood'), k, turn, 'unseen', unseen=true) }}
{%- endif %}
{%- if feature.family.nulls == 'category' -%}
{{ nbsql.parameter(feature, nbsql.word('log_likelihood'), k, turn, 'missing', missing=true) }}
{%- endif %}
{%- endmacro %}

{#
  Features go in blocks, each aggregated from its own likelihoods alone: the work grows with the number of features, not with
  its square. The wide form is the long one turned, a row a class into columns a class.
#}
{% macro parameters(model, statistics, priors) -%}
{% set features = model.features | selectattr('family.parametrised') | list -%}
WITH classes AS (
  {{ nbsql.classes(priors) | indent(2) }}
)
{%- if features %},
smoothed AS MATERIALIZED (
  {{ nbsql.smoothed(model, statistics, priors, features) | indent(2) }}
)
{%- endif %},
by_class AS (
  SELECT
    classes.class_no,
    classes.class,
    classes.log_prior
    {%- for block in features | batch(50) %},
    block_{{ loop.index }}.* EXCLUDE (class)
    {%- endfor %}

  FROM classes
  {%- for block in features | batch(50) %}

  LEFT JOIN (
    SELECT
      smoothed.class
      {%- for feature in block %}
      {{- nbsql[feature.family.compiled ~ '_parameters'](feature, none) | indent(4) }}
      {%- endfor %}

    FROM smoothed
    WHERE smoothed.feature IN ({% for feature in block %}{{ nbsql.text(feature.name) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %})
    GROUP BY smoothed.class
  ) AS block_{{ loop.index }} ON block_{{ loop.index }}.class = classes.class
  {%- endfor %}

)
{% if model.class_numbers -%}
SELECT
  {%- for k in model.class_numbers %}
  {%- if not loop.first %},{% endif %}

  max(CASE WHEN class_no = {{ k }} THEN class END) AS class_{{ k }},
  max(CASE WHEN class_no = {{ k }} THEN log_prior END) AS log_prior_{{ k }}
  {%- for feature in features %}
  {{- nbsql[feature.family.compiled ~ '_parameters'](feature, k, turn=true) }}
  {%- endfor %}
  {%- endfor %}

FROM by_class
{%- else -%}
SELECT * FROM by_class
{%- endif %}
{%- endmacro %}

{% macro lookups(model, statistics, priors) -%}
{% set features = model.features | selectattr('family.looked_up') | list -%}
SELECT
  smoothed.feature,
  smoothed.value
  {%- for k in model.class_numbers %},
  max(CASE WHEN classes.class_no = {{ k }} THEN {{ nbsql.lookup_score(features) }} END) AS class_{{ k }}
  {%- else %},
  list({{ nbsql.lookup_score(features) }} ORDER BY classes.class_no) AS scores
  {%- endfor %}

FROM (
  {{ nbsql.smoothed(model, statistics, priors, features) | indent(2) }}
) AS smoothed
JOIN (
  {{ nbsql.classes(priors) }}
) AS classes ON classes.class = smoothed.class
WHERE smoothed.value IS NOT NULL
GROUP BY smoothed.feature, smoothed.value
{%- endmacro %}

{# The parameters in the long form, whichever form the table has. #}
{% macro parameters_by_class(model, parameters) -%}
{% for k in model.class_numbers -%}
SELECT
  {{ k }} AS class_no,
  class_{{ k }} AS class,
  log_prior_{{ k }} AS log_prior
  {%- for feature in model.features | selectattr('family.parametrised') %}
  {{- nbsql[feature.family.compiled ~ '_parameters'](feature, k) }}
  {%- endfor %}

FROM {{ parameters }} AS parameters
{%- if not loop.last %}

UNION ALL
{% endif %}
{%- else -%}
SELECT * FROM {{ parameters }} AS parameters
{%- endfor %}
{%- endmacro %}
