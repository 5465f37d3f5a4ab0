{#
  The features ranked by how informative they are of the class, from the cells of all candidates. One row per feature with a value in any
  row: feature, score.

    mutual_information  that above chance (`gain`), times the average number of rows (or occurrences) of the feature a row, so that it is
                        the information in an average row: a feature that is mostly missing has little; at most the entropy of the class
    symmetrical_uncertainty  that of the gain, likewise
    the other scores    unchanged (relevance.sql)
#}
{% macro ranked_features(statistics, features, by, solved=none) -%}
SELECT
  relevant.feature,
  {% if by == 'mutual_information' %}
  least((relevant.mutual_information - relevant.by_chance) * relevant.n / classes.n, classes.entropy)
  {%- elif by == 'symmetrical_uncertainty' %}
  relevant.symmetrical_uncertainty * (1 - relevant.by_chance / nullif(relevant.mutual_information, 0))
  {%- else %}
  relevant.{{ nbsql.word(by) }}
  {%- endif %} AS score,
  relevant.f_statistic
FROM {{ nbsql.subquery(nbsql.unsorted_relevance(statistics, features, solved)) }} AS relevant
CROSS JOIN (
  SELECT sum(n) AS n, -sum(n * ln(n / total)) / max(total) AS entropy
  FROM (
    SELECT n, sum(n) OVER () AS total
    FROM {{ nbsql.subquery(nbsql.class_counts(statistics)) | indent(4) }} AS counts
  ) AS shares
) AS classes
WHERE relevant.{{ nbsql.word(by) }} IS NOT NULL
{%- endmacro %}

{# Drops the cells of features that are not kept. #}
{% macro keep_features(statistics, features) -%}
DELETE FROM {{ statistics }} WHERE feature IS NOT NULL{% if features %} AND feature NOT IN ({{ nbsql.feature_names(features) }}){% endif +%}
{%- endmacro %}
