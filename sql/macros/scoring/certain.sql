{#
  Predictions of the rows that are certain enough, for as many of them to be right as asked for; the others have none, and the reason.

  A row is certain enough if the log-odds of its most probable class against the rest reach the lowest threshold that promises `certain`
  (evaluation/calibration/certain.sql). They are those of the model itself, and so is the most probable class. A row of which nothing is
  known (with_knowledge) is never certain. calibrated: whether `scored` is calibrated, and with it the probability. certain: none if the
  calibration has only rows of the promise that is asked for. by_class: whether the promise holds for the rows of each predicted class; none
  if the calibration has rows of one kind. checks_names: whether a source with a column of an added name is refused, as by output_column.
  classes: those whose probability is returned, too.

  Columns: those of the source, prediction, probability (its posterior), reason. The first two are NULL if the row is not certain enough;
  the reason is NULL if it is, and else names the two most probable classes, or says that nothing is known.
#}
{% macro predict_certain(model, scored, parameters, calibration, certain, by_class, calibrated=false, checks_names=false, classes=[]) -%}
{% set rows = scored if calibrated else nbsql.with_logs(model, scored) -%}
{% set rows = nbsql.with_knowledge(model, rows, parameters, nbsql.word('nbsql_logs')) -%}
{% set highest %}{{ nbsql.number(1e300) }}{% endset -%}
{% set promised %}{% if certain is none %}TRUE{% else %}probability >= {{ nbsql.number(certain) }}{% endif %}{% endset -%}
{% set winner = nbsql.word('source.nbsql_winner') -%}
{% set label = nbsql.element(nbsql.word('source.nbsql_labels'), winner) -%}
{% set prediction %}CASE WHEN source.nbsql_certain THEN {{ nbsql.plain_label(label, model.spec.target_type) }} END{% endset -%}
{% set probability %}CASE WHEN source.nbsql_certain THEN {{ nbsql.posterior_at('nbsql_winner') }} END{% endset -%}
{% set reason -%}
CASE
    WHEN source.nbsql_certain THEN NULL
    WHEN NOT source.nbsql_highest > -{{ nbsql.infinity() }} THEN 'no class explains it'
    {% if nbsql.enough_known(model) %}
    WHEN NOT source.nbsql_enough_known THEN 'too few known words'
    {% endif %}
    WHEN NOT source.nbsql_known THEN 'nothing known tells the classes apart'
    ELSE {{ nbsql.two_most_probable() }}
  END
{%- endset -%}
SELECT
  {{ nbsql.passed_columns(model) }}
  {%- for name, x in [('prediction', prediction), ('probability', probability), ('reason', reason)] -%}
  {% if not loop.first %}  {% endif %}
  {%- set word = nbsql.word(name) %}
  {%- if checks_names %}coalesce({{ word }}, {{ x }}){% else %}{{ x }}{% endif %} AS {{ word }}{{ nbsql.comma_line(loop) }}
  {%- endfor %}
  {%- for class in classes %},
  {% set posterior = nbsql.element(nbsql.word('source.nbsql_posteriors'), class.number) %}
  CASE WHEN source.nbsql_highest > -{{ nbsql.infinity() }} THEN {{ posterior }} END AS {{ nbsql.output(class.probability) }}
  {%- endfor +%}
FROM (
  SELECT
    *,
    nbsql_known AND nbsql_highest > -{{ nbsql.infinity() }} AND nbsql_certainty >= {{
      nbsql.element(nbsql.word('nbsql_lowest'), nbsql.word('nbsql_winner')) }} AS nbsql_certain
  FROM (
    {% set certainties %}(SELECT * FROM {{ nbsql.with_certainty(rows) }}){% endset %}
    {{ nbsql.with_posteriors(model, certainties, parameters) | indent(4) }}
  ) AS posteriors
  CROSS JOIN (
    {{ nbsql.scores_to_reach(model, parameters, calibration, 'certain', promised, by_class, highest) | indent(4) }}
  ) AS scores
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS source
{%- if checks_names +%}
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS reason
) AS added
{%- endif %}{{ nbsql.in_order_of_source(model) }}
{%- endmacro %}

{#
  The rows of `scored` with nbsql_known: whether what is known of a row tells the classes apart. It does not if every value is missing, or
  none of its words was learnt: then each class has its prior. A row with fewer known words than min_known is not known, either. logs: the
  joint log-likelihoods by class number.
#}
{% macro with_knowledge(model, scored, parameters, logs=none) -%}
{% set part = model.part_column -%}
{% set prior = nbsql.element(nbsql.word('nbsql_log_priors'), nbsql.word('k')) -%}
{% set told = nbsql.word('nbsql_told') -%}
{% set of_class %}CASE WHEN {{ prior }} > -{{ nbsql.infinity() }} THEN x - {{ prior }} END{% endset -%}
{% set rows -%}
{{ scored }} AS source
JOIN (
  {{ nbsql.log_priors_by_number(model, parameters) | indent(2) }}
) AS priors ON {% if part %}priors.nbsql_part_of_prior = source.{{ nbsql.word(part) }}{% else %}TRUE{% endif %}
{%- endset -%}
{% set logs = nbsql.list_of_joints(model) if logs is none else logs -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_told', nbsql.list_mapped(logs, of_class, 'x', 'k'))]) -%}
{% set differs -%}
{{ nbsql.list_highest(told) }} - {{ nbsql.list_lowest(told) }} > {{ nbsql.number(1e-9) }}
{%- if nbsql.enough_known(model) %} AND nbsql_enough_known{% endif %}
{%- endset -%}
(
  SELECT * FROM {{ nbsql.with_columns(rows, [('nbsql_known', differs)]) }}
)
{%- endmacro %}

{# One row, or one per part of a model: nbsql_log_priors, the list by class number, and the part as nbsql_part_of_prior. #}
{% macro log_priors_by_number(model, parameters) -%}
{% set members = model.facts.has_components -%}
{% set part = nbsql.word(model.part_column) if model.part_column else none -%}
{% if model.form.class_numbers -%}
SELECT
  {% if part %}
  parameters.{{ part }} AS nbsql_part_of_prior,
  {% endif %}
  {% call(column) nbsql.array_of_each(model.form.class_columns) -%}
  {% if members %}ln({% for k in column.members %}exp(parameters.log_prior_{{ k }}){% if not loop.last %} + {% endif %}{% endfor %})
  {%- else %}parameters.log_prior_{{ column.number }}{% endif %}
  {%- endcall %} AS nbsql_log_priors
FROM {{ parameters }} AS parameters
{%- else -%}
{% set log_prior, class_no = nbsql.word('log_prior'), nbsql.word('class_no') -%}
SELECT {% if part %}{{ part }} AS nbsql_part_of_prior, {% endif %}{{ nbsql.ordered_list(log_prior, class_no) }} AS nbsql_log_priors
FROM {% if members %}(
  SELECT of_class AS class_no, ln(sum(exp(log_prior))) AS log_prior FROM {{ parameters }} AS parameters GROUP BY of_class
) AS classes{% else %}{{ parameters }} AS parameters{% endif %}
{%- if part +%}
GROUP BY {{ part }}
{%- endif %}
{%- endif %}
{%- endmacro %}

{#
  The relation of rows with nbsql_known and nbsql_logs, the log-posteriors, and nbsql_winner and nbsql_runner_up,
  the numbers of the two most probable classes, and nbsql_certainty, the log-odds of the first against all others, to nine digits, so that
  equal rows are equal in every query, and at most a thousand million, where no other class is possible; NULL if nothing is known.
#}
{% macro with_certainty(rows) -%}
{% set rivals = nbsql.word('nbsql_rivals') -%}
{% set second = nbsql.element(nbsql.word('nbsql_rivals'), nbsql.word('nbsql_runner_up')) -%}
{% set below_second %}x - {{ second }}{% endset -%}
{% set odds -%}
({{ nbsql.element(nbsql.word('nbsql_logs'), nbsql.word('nbsql_winner')) }} - {{ second }}
      - ln({{ nbsql.list_total(nbsql.list_mapped(rivals, nbsql.exp(below_second), 'x')) }}))
{%- endset -%}
{% set certainty -%}
CASE
  WHEN NOT nbsql_known THEN NULL
  WHEN {{ second }} > -{{ nbsql.infinity() }}
    THEN least({{ nbsql.sort_key(odds, 9) }} / {{ nbsql.number(1e9) }}, {{ nbsql.number(1e9) }})
  ELSE {{ nbsql.number(1e9) }}
END
{%- endset -%}
{% set source %}{{ rows }} AS source{% endset -%}
{% set lowest %}-{{ nbsql.infinity() }}{% endset -%}
{{ nbsql.with_columns(nbsql.with_two_best(source, nbsql.word('nbsql_logs'), lowest), [('nbsql_certainty', certainty)]) }}
{%- endmacro %}

{#
  The relation of rows with the numbers of their two most probable classes, nbsql_winner and nbsql_runner_up. scores: a list by class
  number, which nbsql_rivals has with `lowest` in the place of the winner.
#}
{% macro with_two_best(rows, scores, lowest) -%}
{% set rivals = nbsql.word('nbsql_rivals') -%}
{% set rival %}CASE WHEN place = nbsql_winner THEN {{ lowest }} ELSE x END{% endset -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_winner', nbsql.list_place(scores, nbsql.list_highest(scores)))]) -%}
{% set rows = nbsql.with_columns(rows, [('nbsql_rivals', nbsql.list_mapped(scores, rival, 'x', 'place'))]) -%}
{{ nbsql.with_columns(rows, [('nbsql_runner_up', nbsql.list_place(rivals, nbsql.list_highest(rivals)))], 'source') }}
{%- endmacro %}

{#
  One row: nbsql_lowest, the list by class number of the lowest scores of a calibration by a method for which a condition holds, those of
  each class by itself if by_class, or, if it is none, those that the calibration has; `otherwise` where there is none.
#}
{% macro scores_to_reach(model, parameters, calibration, method, condition, by_class, otherwise) -%}
SELECT {{ nbsql.ordered_list(nbsql.word('score'), nbsql.word('class_no')) }} AS nbsql_lowest
FROM (
  SELECT classes.class_no, coalesce(lowest.score, {{ otherwise }}) AS score
  FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) | indent(2) }} AS classes
  LEFT JOIN (
    SELECT class_no, min(score) AS score
    FROM {{ nbsql.calibration_by(calibration, method) | indent(4) }} AS calibration
    WHERE {{ condition }}
    GROUP BY class_no
  ) AS lowest ON {%+ if by_class is none %}coalesce(lowest.class_no, classes.class_no) = classes.class_no
  {%- elif by_class %}lowest.class_no = classes.class_no{% else %}lowest.class_no IS NULL{%+ endif +%}
) AS scores
{%- endmacro %}
