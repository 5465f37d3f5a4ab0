{#
  Text under the Bernoulli event model (McCallum and Nigam 1998): for every word of the vocabulary, whether it is present.

    P(w in document | c) = (n_cw + alpha) / (n_c + 2 alpha)         n_cw of the n_c documents of class c hold w

  The score of a document is the sum of ln P over the words it holds and of ln(1 - P) over those it does not. The parameter `absent` is
  the latter summed over the whole vocabulary, and the score of a word is ln P - ln(1 - P), so that only the present words are looked up.
  Text under the multinomial event model is estimated by dirichlet.sql.
#}

{% macro text_inputs(feature, centre, careful, centred) -%}
source.{{ nbsql.ident(feature.column) }} AS nbsql_x{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{% macro text_aggregates(model, feature, centre, careful) -%}
,
  {{ nbsql.weighted_count(model, nbsql.of_feature('nbsql_x', feature)) }} AS n{{ nbsql.feature_suffix(feature) }}
{%- endmacro %}

{% macro text_cells(feature, column) -%} {{ nbsql.summed_cell(feature, column, nbsql.of_feature('n', feature)) }} {%- endmacro %}

{#
  One row per class, feature and word: the columns of likelihoods (likelihoods.sql). `likelihood` is that of a text with the word, and
  `score` the logarithm of its odds.
#}
{% macro presence_likelihoods(features) -%}
{% set score %}{{ nbsql.safe_ln(nbsql.word('likelihood')) }} - {{ nbsql.safe_ln(nbsql.absence_probability()) }}{% endset -%}
SELECT
  {{ nbsql.likelihood_columns(score) | indent(2) }}
FROM (
  SELECT
    classes.class,
    words.feature,
    words.value,
    {% set n %}coalesce(counts.n, 0){% endset %}
    {% set total %}(coalesce(documents.n, 0) + 2 * words.alpha){% endset %}
    {{ nbsql.dirichlet_likelihood(n, nbsql.word('words.alpha'), total, 2) }} AS likelihood
  FROM (
    {% set declared = features | selectattr('family.declared') | list %}
    {% if declared %}
    SELECT feature, value, alpha
    FROM {{ nbsql.declared_values(declared) | indent(4) }}
    {{ nbsql.union_distinct() }}
    {% endif %}
    SELECT counts.feature, counts.value, max(options.alpha) AS alpha
    FROM counts
    JOIN {{ nbsql.options_of_counts(features) | indent(4) }} ON options.feature = counts.feature
    WHERE counts.value IS NOT NULL
    GROUP BY counts.feature, counts.value
    HAVING sum(counts.n) >= max(options.min_count)
  ) AS words
  JOIN classes ON TRUE
  LEFT JOIN counts AS documents
    ON documents.class = classes.class AND documents.feature = words.feature AND documents.value IS NULL
  LEFT JOIN counts ON counts.class = classes.class AND counts.feature = words.feature AND counts.value = words.value
) AS estimates
{%- endmacro %}

{% macro presence_quantities() %}

WHEN 'log_absence' THEN {{ nbsql.safe_ln(nbsql.absence_probability()) }}
{%- endmacro %}

{# The probability that a text of the class lacks the word. #}
{% macro absence_probability() -%} (1 - likelihood) {%- endmacro %}

{# The term of a text beside those of its words, which is that all words are absent; 0 if the text is missing. #}
{% macro text_term(feature, k, part=none) -%}
{% set i = nbsql.feature_suffix(feature) -%}
CASE WHEN number.nbsql_x{{ i }} IS NOT NULL THEN coalesce(parameters.absent{{ i }}{{ nbsql.class_suffix(k) }}, 0) ELSE 0 END
{%- endmacro %}

{# The absence of a word is a constant of the texts. Its sum over the vocabulary has a parameter of its own. #}
{% macro text_weights(feature, column, degree) -%}
{% if feature.family.presence -%}
{{ nbsql.linear_weight(feature, column, nbsql.of_feature('absent', feature), '1') }}
{%- else -%}
{{ nbsql.weights_of_missing_and_unseen(feature, column) }}
{%- endif %}
{%- endmacro %}
