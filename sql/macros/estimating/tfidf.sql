{#
  Tokens whose weight is not their number of occurrences (Manning, Raghavan and Schuetze, Introduction to Information Retrieval, chapter
  6; as in scikit-learn's TfidfTransformer):

    tf-idf   tf_dt idf_t          idf_t = ln((1 + N) / (1 + df_t)) + 1, where df_t of the N bags hold the token t
    norm     w_dt / sqrt(sum over the tokens of w_dt^2)

  The cell of such a token treats it as a number of the bags that hold it: n bags, and the mean of tf, or with the norm the mean of the
  weight with which it was learnt. So n is df, and n mean is the number of occurrences. Both are additive, and the idf is applied when
  they are read, so cells from any sources can be summed. The norm of tf-idf is not additive, because it depends on the idf at the time.
#}

{#
  One row per feature and token: feature, value, idf. A token that occurs too rarely is left out here; with a norm, the fit has left it out.
#}
{% macro idf(statistics, features) -%}
{% set cut = features | rejectattr('family.norm') | selectattr('family.least_occurrences') | list -%}
SELECT words.feature, words.value, ln((1 + bags.n) / (1 + words.n)) + 1 AS idf
FROM (
  SELECT feature, value, sum(n) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IN ({{ nbsql.feature_names(features) }}) AND mean IS NOT NULL
  GROUP BY feature, value
  HAVING {{ nbsql.has_weight() }}
  {% for feature in cut %}
    AND (feature <> {{ nbsql.text(feature.name) }} OR sum(n * mean) >= {{ feature.family.least_occurrences }})
  {% endfor %}
) AS words
JOIN (
  SELECT feature, sum(n) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IN ({{ nbsql.feature_names(features) }}) AND mean IS NULL
  GROUP BY feature
) AS bags ON bags.feature = words.feature
{%- endmacro %}

{# The weighted counts: class, feature, value, n. #}
{% macro tfidf_counts(statistics, features) -%}
{% set learnt = features | selectattr('family.norm') | list -%}
SELECT
  cells.class,
  cells.feature,
  cells.value,
  cells.n
  {%- if not learnt %} * idf.idf
  {%- elif learnt | length < features | length %} * CASE WHEN cells.feature IN ({{ nbsql.feature_names(learnt) }}) THEN 1 ELSE idf.idf END
  {%- endif %} AS n
FROM (
  SELECT class, feature, value, sum(n * mean) AS n
  FROM {{ statistics }} AS statistics
  WHERE feature IN ({{ nbsql.feature_names(features) }}) AND mean IS NOT NULL
  GROUP BY class, feature, value
  HAVING {{ nbsql.has_weight() }}
) AS cells
JOIN {{ nbsql.subquery(nbsql.idf(statistics, features)) }} AS idf ON idf.feature = cells.feature AND idf.value = cells.value
{%- endmacro %}

{# The names of some features, as texts. #}
{% macro feature_names(features) -%}
{% for feature in features %}{{ nbsql.text(feature.name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- endmacro %}

{# The cells of a bag whose tokens are weighted. #}
{% macro weighed_token_cells(model, source, feature) -%}
{% set family = feature.family -%}
{% set weight %}{% if model.spec.weight %}weight{% else %}{{ nbsql.unit_weight() }}{% endif %}{% endset -%}
{% set n %}sum({{ weight }}{% if not family.tfidf %} * counted{% endif %}){% endset -%}
{% set mean %}sum({{ weight }} * counted) / sum({{ weight }}){% endset -%}
{{ nbsql.cell(model, n, feature=feature, value=nbsql.word('value'), mean=mean if family.tfidf else none) }}
FROM (
  SELECT
    *,
    {% if family.norm -%}
    {% set counted %}times{% if family.tfidf %} * (ln((1 + bags) / (1 + df)) + 1){% endif %}{% endset -%}
    {{ counted }} / sqrt(sum({{ counted }} * {{ counted }}) OVER (PARTITION BY nbsql_row)) AS counted
    {%- else -%}
    times AS counted
    {%- endif +%}
  FROM (
    SELECT
      *
      {%- if family.norm and family.tfidf %},
      sum({{ weight }}) OVER (PARTITION BY value) AS df
      {%- endif %}
      {%- if family.norm and family.least_occurrences %},
      sum({{ weight }} * times) OVER (PARTITION BY value) AS occurrences
      {%- endif +%}
    FROM (
      {% set others %}{{ nbsql.class_and_slice(model) }}{% if model.spec.weight %}, weight{% endif %}{% endset -%}
      SELECT nbsql_row, value, {{ others }}, sum(times) AS times
      FROM (
        {% set kept -%}
        source.nbsql_row,
        {{ nbsql.counted_columns(model) | indent(8) }}
        {%- endset -%}
        {% set condition %}{{ nbsql.is_counted(model) }}{% endset -%}
        {% set rows %}(SELECT {{ nbsql.row_id() }} AS nbsql_row, source.* FROM {{ source }} AS source){% endset -%}
        {{ nbsql.tokens(feature, rows, kept, condition) | indent(8) }}
      ) AS tokens
      GROUP BY nbsql_row, value, {{ others }}
    ) AS terms
  ) AS terms
  {% if family.norm and family.tfidf %}
  CROSS JOIN (
    SELECT {{ nbsql.group_weight(model) }} AS bags
    FROM {{ source }} AS source
    WHERE {{ nbsql.is_counted(model) }} AND source.{{ nbsql.ident(feature.column) }} IS NOT NULL
  ) AS bags
  {% endif %}
  {% if family.norm and family.least_occurrences %}
  WHERE occurrences >= {{ family.least_occurrences }}
  {% endif %}
) AS terms
GROUP BY class, value{% if model.facts.slice_by %}, slice{% endif +%}
{%- endmacro %}

{#
  The tokens of numbered rows for a score: one row per occurrence, or one row per distinct token if the norm needs all its occurrences
  together.
#}
{% macro scored_tokens(model, feature) -%}
{% set tokens = nbsql.tokens(feature, nbsql.word('numbered'), nbsql.row_key(model, nbsql.word('source')), keeps_empty=true) -%}
{% if feature.family.norm -%}
SELECT {{ nbsql.row_key(model, nbsql.word('occurrences')) }}, value, sum(times) AS times
FROM {{ nbsql.subquery(tokens) }} AS occurrences
GROUP BY {{ nbsql.row_key(model, nbsql.word('occurrences')) }}, value
{%- else -%}
{{ tokens }}
{%- endif %}
{%- endmacro %}

{# The length of a bag, from those of its tokens that the fit saw. #}
{% macro bag_length(feature, over=none) -%}
{% set w %}tokens.times{% if feature.family.tfidf %} * lookups.idf{% endif %}{% endset -%}
sqrt(sum({{ w }} * {{ w }}){% if over is not none %} OVER (PARTITION BY {{ over }}){% endif %})
{%- endmacro %}
