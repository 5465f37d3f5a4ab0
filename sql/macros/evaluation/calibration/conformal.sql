{#
  How low the posterior of the true class may be, on rows that the model has not seen: split conformal prediction (Vovk, Gammerman and
  Shafer, Algorithmic learning in a random world, 2005; Sadinle, Lei and Wasserman, Least ambiguous set-valued classifiers, 2019).

  Take the k-th lowest of the n posteriors of the true classes, k = floor((n + 1) share). If the next row comes from the same distribution
  as these rows, the posterior of its true class is lower with a probability of at most `share`, whatever the model. `calibration` stores
  these scores, as logarithms, for shares of one thousandth to 999 thousandths: one row per score, with the highest share for which it
  holds. Scores with class_no NULL are over all classes together. If the share is too small for n rows, every class reaches the score.
#}

{# One row per class, or none, and score: class_no, score (ln p of the true class), probability (the highest share for which it holds). #}
{% macro conformal_result(rows) -%}
{% set log = nbsql.element(nbsql.word('nbsql_logs'), nbsql.word('class_no')) -%}
{% set each %}class_no{% endset -%}
{% set together %}CAST(NULL AS INTEGER){% endset -%}
SELECT class_no, min(score) AS score, share / {{ nbsql.number(1000) }} AS probability
FROM (
  SELECT class_no, score, ceil({{ nbsql.number(1000) }} * (through + 1) / (total + 1)) - 1 AS share
  FROM (
    SELECT
      class_no,
      score,
      sum(weight) OVER (PARTITION BY class_no ORDER BY score ASC NULLS LAST) AS through,
      sum(weight) OVER (PARTITION BY class_no) AS total
    FROM (
      {% for group in [each, together] %}
      SELECT {{ group }} AS class_no, greatest({{ log }}, {{ nbsql.lowest_score() }}) AS score, weight FROM {{ rows }} AS rows
      UNION ALL
      SELECT DISTINCT {{ group }} AS class_no, {{ nbsql.lowest_score() }} AS score, {{ nbsql.number(0) }} AS weight FROM {{ rows }} AS rows
      {{- nbsql.union_all(loop) | indent(6) }}
      {%- endfor +%}
    ) AS scores
  ) AS ranks
) AS shares
GROUP BY class_no, share
{%- endmacro %}

{# A score that every class reaches, even one that the model rules out. #}
{% macro lowest_score() -%} {{ nbsql.number(-1e300) }} {%- endmacro %}
