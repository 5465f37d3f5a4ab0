{#
  How low the posterior of the true class may be, on rows that the model has not met: split conformal prediction (Vovk, Gammerman and
  Shafer, Algorithmic learning in a random world, 2005; Sadinle, Lei and Wasserman, Least ambiguous set-valued classifiers, 2019).

  The k-th lowest of the n posteriors that the true classes have, k = floor((n + 1) share), is undercut by the true class of a row to
  come with a probability of at most `share`, whatever the model, if it comes as these rows came. `calibration` keeps these, as
  logarithms, for shares of a thousandth, two, ..., 999 thousandths: a row a score, with the highest share that it holds for. Those of
  class_no NULL are of all classes together. Of too small a share for n rows every class reaches the score.
#}

{# One row a class, or none, and score: class_no, score (ln p of the true class), probability (the highest share that it holds for). #}
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
      {%- if not loop.last %}

      UNION ALL
      {% endif %}
      {% endfor %}

    ) AS scores
  ) AS ranks
) AS shares
GROUP BY class_no, share
{%- endmacro %}

{# What every class reaches, the one that a model rules out included. #}
{% macro lowest_score() -%} {{ nbsql.number(-1e300) }} {%- endmacro %}
