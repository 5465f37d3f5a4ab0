{#
  Text under the Bernoulli event model (McCallum and Nigam 1998): of every word of the vocabulary, whether it is there.

    P(w in document | c) = (n_cw + alpha) / (n_c + 2 alpha)         n_cw of the n_c documents of class c hold w

  The score of a document is the sum of ln P over the words it holds and of ln(1 - P) over those it does not. The parameter
  `absent` is the latter over the whole vocabulary; the score of a word is ln P - ln(1 - P), so that only the words that
  are there need to be looked up. Text under the multinomial event model is Dirichlet's (dirichlet.sql).
#}

{% macro text_inputs(feature, centre, careful, centred) -%}
source.{{ nbsql.ident(feature.column) }} AS nbsql_x{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro text_aggregates(model, feature, centre, careful) -%}
{% set x %}nbsql_x{{ nbsql.sub(feature) }}{% endset -%}
,
  {{ nbsql.tally(model, x) }} AS n{{ nbsql.sub(feature) }}
{%- endmacro %}

{% macro text_cells(feature, column) -%}
{% set n %}n{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n) }}
{%- endmacro %}

{% macro presence_likelihoods(features) -%}
SELECT
  class,
  feature,
  value,
  FALSE AS unseen,
  likelihood,
  {{ nbsql.log(nbsql.word('likelihood')) }} AS log_likelihood,
  {{ nbsql.log(nbsql.word('likelihood')) }} - {{ nbsql.log(nbsql.absence()) }} AS score,
  CAST(NULL AS {{ nbsql.double() }}) AS mean,
  CAST(NULL AS {{ nbsql.double() }}) AS variance,
  CAST(NULL AS {{ nbsql.double() }}) AS rate
FROM (
  SELECT
    classes.class,
    words.feature,
    words.value,
    CASE
      WHEN coalesce(documents.n, 0) + 2 * words.alpha > 0
        THEN (coalesce(counts.n, 0) + words.alpha) / (coalesce(documents.n, 0) + 2 * words.alpha)
      ELSE 0.5
    END AS likelihood
  FROM (
    SELECT counts.feature, counts.value, max(options.alpha) AS alpha
    FROM counts
    JOIN (
      VALUES
        {% for feature in features %}
        ({{ nbsql.text(feature.name) }}, {{ nbsql.number(feature.family.added_count) }}, {{ feature.family.least_count }}){{ nbsql.comma(loop) }}
        {% endfor %}
    ) AS options(feature, alpha, min_count) ON options.feature = counts.feature
    WHERE counts.value IS NOT NULL
    GROUP BY counts.feature, counts.value
    HAVING sum(counts.n) >= max(options.min_count)
  ) AS words
  CROSS JOIN classes
  LEFT JOIN counts AS documents
    ON documents.class = classes.class AND documents.feature = words.feature AND documents.value IS NULL
  LEFT JOIN counts ON counts.class = classes.class AND counts.feature = words.feature AND counts.value = words.value
) AS estimates
{%- endmacro %}

{% macro presence_quantities() %}

WHEN 'log_absence' THEN {{ nbsql.log(nbsql.absence()) }}
{%- endmacro %}

{% macro absence() -%} (1 - likelihood) {%- endmacro %}

{# What a text adds to the score beside its words. #}
{% macro text_term(feature, k, part=none) -%}
CASE WHEN number.nbsql_x{{ nbsql.sub(feature) }} IS NOT NULL THEN coalesce(parameters.absent{{ nbsql.sub(feature) }}{{ nbsql.of(k) }}, 0) ELSE 0 END
{%- endmacro %}

{# Absence is a constant of the texts; its sum over the vocabulary has a parameter of its own. #}
{% macro text_weights(feature, column, degree) -%}
{% if feature.family.presence -%}
{% set absent %}absent{{ nbsql.sub(feature) }}{% endset -%}
{{ nbsql.weight_of(feature, column, absent, '1') }}
{%- else -%}
{{ nbsql.other_weights(feature, column) }}
{%- endif %}
{%- endmacro %}

{# The words of a row drawn at random (sample.sql). #}
{% macro text_drawn(feature, seed, position) -%}
coalesce(array_to_string(bag{{ nbsql.sub(feature) }}.bag, ' '), '')
{%- endmacro %}
