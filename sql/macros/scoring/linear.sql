{#
  A model as weights: the score of a class is the sum over these rows of weight times the factor that `times` names in the source's row.

    class    the class whose score it is. With two classes, the difference of the scores is given, of the larger label against the
             smaller one: positive where the larger one is predicted
    feature  NULL for the bias, b
    value    the value, the token, or the column of a family over several
    other    (quadratic) the other column of a product
    times    '1' for the bias; 'x', the number; 'x^2', its square; 'x y', its product with the column `other`; 'is', 1 where the
             feature has that value (with a NULL value: where it is missing) and else 0; 'unseen', 1 where it has a value that
             was never seen; 'count', how often the token occurs; 'has', 1 where the text has the word
    weight

  The part that all classes share, such as -x^2 / (2 v) with a shared variance, is left out. So the scores are the joint log-likelihoods
  up to one number a row, and the posteriors are their softmax, or with two classes the logistic function of the difference (Ng and
  Jordan, On discriminative vs. generative classifiers, NIPS 2001). The bias holds the constants of the numbers and texts, so weights are
  exact for rows in which none of these is missing.
#}
{% macro linear(model, parameters, lookups, degree) -%}
{% set computed = model.facts.features | selectattr('family.parameters') | list -%}
{% set columns = ['class', 'feature', 'value'] + (['other'] if degree == 2 else []) + ['times', 'weight'] -%}
WITH parameters AS {{ nbsql.materialized() }}{{ nbsql.subquery(nbsql.parameters_by_class(model, parameters)) }},
weights AS (
  SELECT
    class_no,
    {% for column in columns[1:-2] %}
    CAST(NULL AS {{ nbsql.string() }}) AS {{ nbsql.word(column) }},
    {% endfor %}
    '1' AS times,
    CAST(log_prior AS {{ nbsql.double() }}) AS weight
  FROM parameters
  {% for block in computed | batch(50) %}
  UNION ALL
  SELECT
    class_no,
    {% set lists = namespace(found=[]) %}
    {% for column in columns[1:] %}
    {% set weights -%}
      {%- for feature in block -%}
      {% if feature.family.level %}{{ nbsql.weights_of_missing_and_unseen(feature, column) }}
      {%- else %}{{ nbsql[feature.family.macros.weights](feature, column, degree) }}
      {%- endif %}
      {{- nbsql.comma_blank(loop) }}
      {%- endfor -%}
    {%- endset %}
    {% set lists.found = lists.found + [nbsql.array_of(weights)] %}
    {% endfor %}
    {{ nbsql.unnested(lists.found, columns[1:]) | indent(4) }}
  FROM parameters
  {% endfor %}
  {% for feature in model.facts.features | selectattr('family.has_lookups') %}
  UNION ALL
  SELECT
    class_no,
    {{ nbsql.text(feature.name) }},
    value,
    {% if degree == 2 %}
    NULL,
    {% endif %}
    {{ nbsql.text('is' if feature.family.level else 'has' if feature.family.presence else 'count') }},
    weight
  FROM (
    SELECT value, {{ nbsql.unnested_with_places(nbsql.word('scores'), 'class_no', 'weight') }}
    FROM (
      SELECT found.value, {{ nbsql.found_scores(model) }} AS scores
      FROM {{ lookups }} AS found
      WHERE feature = {{ nbsql.text(feature.name) }}
    ) AS found
  ) AS found
  {% endfor %}
)
SELECT
  {% for column in columns[:-1] %}
  {{ nbsql.word(column) }},
  {% endfor %}
  sum(weight) AS weight
FROM (
  {% if model.form.class_columns | length == 2 %}
  SELECT
    {% for column in columns[1:-1] %}
    weights.{{ nbsql.word(column) }},
    {% endfor %}
    CASE WHEN parameters.class = largest.class THEN weights.weight ELSE -weights.weight END AS weight,
    largest.class
  FROM weights
  JOIN parameters ON parameters.class_no = weights.class_no
  CROSS JOIN (
    SELECT {{ nbsql.maximum(nbsql.word('class')) }} AS class FROM parameters
  ) AS largest
  {%- else %}
  SELECT weights.*, parameters.class
  FROM weights
  JOIN parameters ON parameters.class_no = weights.class_no
  {%- endif +%}
) AS weights
GROUP BY {% for column in columns[:-1] %}{{ nbsql.word(column) }}{{ nbsql.comma_blank(loop) }}{% endfor +%}
ORDER BY class ASC NULLS FIRST{% for column in columns[1:-1] %}, {{ nbsql.word(column) }}{{ nbsql.binary() }} ASC NULLS FIRST{% endfor +%}
{%- endmacro %}

{# One column of one weight; a column that is not given is NULL. #}
{% macro linear_weight(feature, column, weight, times='x', value=none, other=none) -%}
{% if column == 'weight' %}coalesce({{ weight }}, 0)
{%- elif column == 'times' %}{{ nbsql.text(times) }}
{%- else %}{% set given = {'feature': none if times == '1' else nbsql.text(feature.name), 'value': value, 'other': other}[column] -%}
{% if given is none %}CAST(NULL AS {{ nbsql.string() }}){% else %}{{ given }}{% endif %}
{%- endif %}
{%- endmacro %}

{# The weights of categories that are missing or were never seen, from their parameters. #}
{% macro weights_of_missing_and_unseen(feature, column) -%}
{% for parameter in feature.family.parameters -%}
{% set weight %}{{ nbsql.word(parameter.name) }}{{ nbsql.feature_suffix(feature) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, weight, 'unseen' if parameter.unseen else 'is') }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endmacro %}
