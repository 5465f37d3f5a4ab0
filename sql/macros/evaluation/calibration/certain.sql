{#
  How certain a prediction must be for the certain ones to be right as often as asked for, on rows that the model has not seen: selective
  prediction with a guarantee on its risk (Geifman and El-Yaniv, Selective classification for deep neural networks, 2017).

  The candidates are the thresholds that the most certain 1 %, 2 %, ... 100 % of the rows reach. Of n rows that reach one, w are wrong; the
  upper limit of Clopper and Pearson (1934) for the share of the wrong is the p with P(Binomial(n, p) <= w) = tail. The thresholds of each
  tenth of the rows are tested in turn, from the most certain one down to the first that fails, with a tenth of 1 - confidence as tail
  (fixed sequences with several starts: Angelopoulos, Bates, Candes, Jordan and Lei, Learn then test, 2021). So a threshold promises 1 - the
  highest limit from the start of its tenth to itself (nbsql/evaluation/certainty.py), and all promises hold together with the confidence.
#}

{#
  One row per predicted class, or none for all rows together, and candidate: class_no, percent (of the rows that reach it, rounded up),
  score, n, wrong, total (the weights of the rows that reach it, of the wrong ones among them, and of all).
#}
{% macro certain_points(rows) -%}
{% set each %}nbsql_winner{% endset -%}
{% set together %}CAST(NULL AS INTEGER){% endset -%}
SELECT class_no, percent, min(score) AS score, max(n) AS n, max(wrong) AS wrong, max(total) AS total
FROM (
  SELECT class_no, score, n, wrong, total, CAST(ceil(100 * n / total - {{ nbsql.number(1e-9) }}) AS INTEGER) AS percent
  FROM (
    SELECT
      class_no,
      score,
      sum(weight) OVER (PARTITION BY class_no ORDER BY score DESC NULLS LAST) AS n,
      sum(mistaken) OVER (PARTITION BY class_no ORDER BY score DESC NULLS LAST) AS wrong,
      sum(weight) OVER (PARTITION BY class_no) AS total
    FROM (
      {% for group in [each, together] %}
      SELECT
        {{ group }} AS class_no,
        nbsql_certainty AS score,
        weight,
        CASE WHEN nbsql_winner = computed.class_no THEN 0 ELSE weight END AS mistaken
      FROM {{ nbsql.with_certainty(rows) | indent(6) }}
      {{- nbsql.union_all(loop) | indent(6) }}
      {%- endfor %}

    ) AS scores
  ) AS running
) AS percents
GROUP BY class_no, percent
ORDER BY class_no ASC NULLS LAST, percent ASC NULLS LAST
{%- endmacro %}

{# One row per class, or none, and candidate: class_no, score, probability (how often certain predictions are right at least). #}
{% macro certain_result(promises) -%}
SELECT CAST(class_no AS INTEGER) AS class_no, score, probability
FROM (
  VALUES
    {% for class_no, score, probability in promises %}
    {% set predicted %}{% if class_no is none %}NULL{% else %}{{ class_no }}{% endif %}{% endset %}
    ({{ predicted }}, {{ nbsql.number(score) }}, {{ nbsql.number(probability) }}){{ nbsql.comma(loop) }}
    {% endfor %}
) AS promises(class_no, score, probability)
{%- endmacro %}
