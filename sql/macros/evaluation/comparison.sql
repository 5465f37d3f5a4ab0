{#
  Two models on the same rows: `judged` (evaluate.sql) by one of them, with the other one's answers beside each row. The difficulty of
  each row affects both and cancels. The errors are those of the differences (intervals.sql).
#}

{# The columns of the rows that a model has scored, with the other model's nbsql_other_prediction and nbsql_other_posteriors. #}
{% macro with_other_answers(model, scored, columns) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  source.nbsql_prediction AS nbsql_other_prediction,
  {{ nbsql.posteriors(model) | indent(2) }} AS nbsql_other_posteriors
FROM {{ scored }} AS source
{%- endmacro %}

{#
  One row per metric: class (NULL for all classes), metric, value, other, difference (value - other), standard_error, and low and high of
  the difference. The areas are those of the classes that both models know.
#}
{% macro model_comparison(judged, other, other_parameters, as_text) -%}
{% set hits = [nbsql.is_hit('prediction', as_text), nbsql.is_hit('nbsql_other_prediction', as_text)] -%}
WITH {{ judged }},
other_known AS {{ nbsql.subquery(nbsql.known_classes(other, other_parameters, as_text)) }},
answers AS (
  SELECT
    judged.*,
    coalesce({{ nbsql.element(nbsql.word('judged.posteriors'), nbsql.word('judged.class_no')) }}, 0) AS p,
    {{ nbsql.sum_of_squares(nbsql.word('judged.posteriors')) }} AS squares,
    coalesce({{ nbsql.element(nbsql.word('judged.nbsql_other_posteriors'), nbsql.word('other_known.class_no')) }}, 0) AS other_p,
    {{ nbsql.sum_of_squares(nbsql.word('judged.nbsql_other_posteriors')) }} AS other_squares
  FROM judged
  LEFT JOIN other_known ON other_known.class = judged.class
),
{{ nbsql.placements() }},
both_observed AS (
  SELECT class, 'roc_auc' AS metric, 4 AS position, side, weight, value, other
  FROM placements
  WHERE value IS NOT NULL AND other IS NOT NULL
  UNION ALL
  SELECT NULL, 'accuracy', 1, 1, weight, {{ hits[0] }}, {{ hits[1] }}
  FROM answers
  UNION ALL
  SELECT NULL, 'log_loss', 2, 1, weight, {{ nbsql.log_loss_of(nbsql.word('p')) }}, {{ nbsql.log_loss_of(nbsql.word('other_p')) }}
  FROM answers
  UNION ALL
  SELECT
    NULL, 'brier', 3, 1, weight,
    ({{ nbsql.brier_of(nbsql.word('p'), nbsql.word('squares')) }}) / {{ nbsql.brier_divisor() }},
    ({{ nbsql.brier_of(nbsql.word('other_p'), nbsql.word('other_squares')) }}) / {{ nbsql.brier_divisor() }}
  FROM answers
),
observations AS (
  SELECT *, value - other AS difference FROM both_observed
),
{{ nbsql.means(['value', 'other', 'difference']) }}
SELECT
  class,
  metric,
  value,
  other,
  difference,
  standard_error,
  difference - {{ nbsql.normal_quantile() }} * standard_error AS low,
  difference + {{ nbsql.normal_quantile() }} * standard_error AS high
FROM means
ORDER BY class ASC NULLS FIRST, position ASC NULLS LAST
{%- endmacro %}

{# 1 for a correct prediction, else 0. #}
{% macro is_hit(prediction, as_text) -%}
CAST(CASE WHEN {{ nbsql.as_text_if(nbsql.word(prediction), as_text) }} = class THEN 1 ELSE 0 END AS {{ nbsql.double() }})
{%- endmacro %}

{#
  placements: one row per judged row and class that both models know: class, side (1: the row is of the class), weight, and by each model
  (value, other) the share of the rows of the opposite side that the row beats, or is beaten by, with ties counting half; NULL if the
  opposite side is empty.
#}
{% macro placements() -%}
ranked AS (
  SELECT
    class, side, weight, positive,
    {{ nbsql.rank_of(nbsql.word('p'), nbsql.word('q')) | indent(4) }} AS rank,
    {{ nbsql.rank_of(nbsql.word('other_p'), nbsql.word('other_q')) | indent(4) }} AS other_rank
  FROM (
    SELECT
      known.class,
      CASE WHEN answers.class = known.class THEN 1 ELSE 2 END AS side,
      answers.weight,
      CASE WHEN answers.class = known.class THEN answers.weight ELSE 0 END AS positive,
      {% for prefix, posteriors, known in [('', 'posteriors', 'known'), ('other_', 'nbsql_other_posteriors', 'other_known')] %}
      {% set list, class_no = nbsql.word('answers.' ~ posteriors), nbsql.word(known ~ '.class_no') %}
      {{ nbsql.element(list, class_no) }} AS {{ nbsql.word(prefix ~ 'p') }},
      {{ nbsql.other_posterior(list, class_no, known) }} AS {{ nbsql.word(prefix ~ 'q') }}{{ nbsql.comma(loop) }}
      {% endfor %}
    FROM answers
    JOIN known ON TRUE
    JOIN other_known ON other_known.class = known.class
  ) AS posteriors
),
placements AS (
  SELECT class, side, weight, {{ nbsql.placement('rank') }} AS value, {{ nbsql.placement('other_rank') }} AS other
  FROM ranked
)
{%- endmacro %}

{# To stand in a SELECT from `ranked`: the share of the opposite side's weight that a row beats or is beaten by, of its rank (rank_of). #}
{% macro placement(rank) -%}
{% set tied %}OVER (PARTITION BY class, {{ nbsql.word(rank) }}){% endset -%}
{% set from_above %}OVER (PARTITION BY class ORDER BY {{ nbsql.word(rank) }} ASC NULLS LAST){% endset -%}
CASE side
  WHEN 1 THEN 1 - (sum(weight - positive) {{ from_above }} - sum(weight - positive) {{ tied }} / 2)
    / nullif(sum(weight - positive) OVER (PARTITION BY class), 0)
  ELSE (sum(positive) {{ from_above }} - sum(positive) {{ tied }} / 2) / nullif(sum(positive) OVER (PARTITION BY class), 0)
END
{%- endmacro %}
