{#
  Which rows of a source a person should label next: its patterns, the most informative first, one row each.

    ...           the columns of the source, of the first row of the pattern
    prediction, probability   if the model has a target
    margin | log_evidence | unseen | expected_cost   the measure by which they are sorted
    stands_for    the number of rows of the source with the pattern
    reason        in words

  The measures are

    margin         the difference of the posteriors of the two most probable classes, the smallest first (Settles, Active Learning
                   Literature Survey, 2009, after Scheffer, Decomain and Wrobel, 2001); reason: the two and their posteriors
    log_evidence   ln p(x), the lowest first; reason: the values that are improbable in every class, the least likely first, beside
                   what the values of the same feature have on average: a density depends on the unit of its number
    unseen         the number of values and words that the model has not seen, the most first; reason: these
    expected_cost  of the prediction of least cost (costs.sql), the highest first; reason: that, and the two most probable classes

  Rows with equal values of all features are one pattern; by `unseen`, rows that lack the same values. A pattern is shown by its first
  row, by the id and then by all columns. These also order patterns whose measures are equal to nine digits, so nothing is left to chance.
#}

{# One row per pattern: the columns of its first row, nbsql_rows. same, order: pairs of a column and its kind. #}
{% macro patterns(source, same, segment, order) -%}
{% set keys -%}
{% for name, kind in same %}{{ nbsql.comparable_column(name, kind) }}{{ nbsql.comma_blank(loop) }}{% endfor %}
{%- if segment is not none %}{% if same %}, {% endif %}{{ segment }}{% endif %}
{%- endset -%}
SELECT *
FROM (
  SELECT
    source.*,
    count(*) OVER ({% if keys %}PARTITION BY {{ keys }}{% endif %}) AS nbsql_rows,
    row_number() OVER (
      {% if keys %}
      PARTITION BY {{ keys }}
      {% endif %}
      ORDER BY {{ nbsql.order_by_columns(order) }} ASC NULLS LAST
    ) AS nbsql_place
  FROM {{ source }} AS source
) AS placed
WHERE nbsql_place = 1
{%- endmacro %}

{# A column as it is compared: texts byte by byte, and values of a type that may have no order as text. #}
{% macro comparable_column(name, kind) -%}
{% set column %}source.{{ nbsql.ident(name) }}{% endset -%}
{{ nbsql.as_text_if(column, kind not in ('boolean', 'integer', 'float', 'decimal', 'temporal')) }}
{%- endmacro %}

{# To stand in an ORDER BY: columns, the last one without a direction. #}
{% macro order_by_columns(order) -%}
{% for name, kind in order %}{{ nbsql.comparable_column(name, kind) }}{% if not loop.last %} ASC NULLS LAST, {% endif %}{% endfor %}
{%- endmacro %}

{# A whole number by which numbers that are equal to so many decimal places sort alike. #}
{% macro sort_key(x, places) -%} floor({{ x }} * {{ 10 ** places }} + {{ nbsql.number(0.5) }}) {%- endmacro %}

{#
  One row per pattern: its columns, nbsql_rows, nbsql_label and nbsql_sure (the prediction and its posterior), nbsql_measure (NULL if no
  class explains it, or there is no other class), nbsql_reason.
#}
{% macro patterns_with_measure(model, scored, parameters, columns, by, costs) -%}
{% set label -%}
{% if by == 'expected cost' %}{{ nbsql.value_of_chosen_class('nbsql_labels') }}{% else %}source.nbsql_prediction{% endif %}
{%- endset -%}
{% set probability -%}
{% if by == 'expected cost' %}{{ nbsql.value_of_chosen_class('nbsql_posteriors') }}{% else %}source.nbsql_probability{% endif %}
{%- endset -%}
{% set measure -%}
{% if by == 'evidence' %}source.nbsql_log_evidence{{ nbsql.plus_common(model) }}
{%- elif by == 'novelty' %}0
{%- else -%}
CASE
  WHEN source.nbsql_highest > -{{ nbsql.infinity() }}
    {% if by == 'margin' %}
    THEN {{ nbsql.posterior_at('nbsql_winner') }} - {{ nbsql.posterior_at('nbsql_runner_up') }}
    {% else %}
    THEN {{ nbsql.value_of_chosen_class('nbsql_costs') }}
    {% endif %}
END
{%- endif %}
{%- endset -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('source'), columns) | indent(2) }}
  source.nbsql_rows,
  {{ nbsql.plain_label(label, model.spec.target_type) }} AS nbsql_label,
  {{ probability }} AS nbsql_sure,
  {{ measure | indent(2) }} AS nbsql_measure,
  {% if by == 'margin' %}
  {{ nbsql.two_most_probable() }} AS nbsql_reason
  {% elif by == 'expected cost' %}
  'cheapest is ' || CAST({{ label }} AS {{ nbsql.string() }}) || '; ' || {{ nbsql.two_most_probable() }} AS nbsql_reason
  {% else %}
  NULL AS nbsql_reason
  {% endif %}
{% if by in ('margin', 'expected cost') %}
{% set known -%}
(
  {% if by == 'margin' %}
  {{ nbsql.with_posteriors(model, scored, parameters) | indent(2) }}
  {% else %}
  {{ nbsql.with_expected_costs(model, scored, parameters, costs) | indent(2) }}
  {% endif %}
) AS known
{%- endset %}
FROM {{ nbsql.with_two_best(known, nbsql.word('nbsql_posteriors'), nbsql.number(-1)) }}
{%- else %}
FROM {{ scored }} AS source
{%- endif %}
{%- endmacro %}

{# The posterior of the most probable class, nbsql_winner, or of the next one, nbsql_runner_up. #}
{% macro posterior_at(place) -%}
{% set number %}source.{{ nbsql.word(place) }}{% endset -%}
{{ nbsql.element(nbsql.word('source.nbsql_posteriors'), number) }}
{%- endmacro %}

{# The two most probable classes in words: ham 52 %, spam 48 %. No posterior is rounded to 0 or 100 % unless it is 0 or 1. #}
{% macro two_most_probable() -%}
{% for place in ['nbsql_winner', 'nbsql_runner_up'] -%}
{% set number %}source.{{ nbsql.word(place) }}{% endset -%}
{% set posterior = nbsql.posterior_at(place) -%}
CAST({{ nbsql.element(nbsql.word('source.nbsql_labels'), number) }} AS {{ nbsql.string() }}) || CASE
    WHEN {{ posterior }} >= {{ nbsql.number(0.995) }} AND {{ posterior }} < 1 THEN ' > 99'
    WHEN {{ posterior }} < {{ nbsql.number(0.005) }} AND {{ posterior }} > 0 THEN ' < 1'
    ELSE {{ nbsql.text(' ') }} || CAST(CAST(floor(100 * {{ posterior }} + {{ nbsql.number(0.5) }}) AS BIGINT) AS {{ nbsql.string() }})
  END || {{ nbsql.text(' %') if loop.last else nbsql.text(' %, ') }}{% if not loop.last %} || {% endif %}
{%- endfor %}
{%- endmacro %}

{#
  nbsql_queue: the patterns with their nbsql_position, from 1, the first to label, and their number, nbsql_patterns. falling: whether the
  highest measure comes first.
#}
{% macro ranked_patterns(measured, order, falling) -%}
{% set measure %}{% if falling %}-{% endif %}source.nbsql_measure{% endset -%}
nbsql_queue AS {{ nbsql.materialized() }}(
  SELECT
    source.*,
    count(*) OVER () AS nbsql_patterns,
    row_number() OVER (
      ORDER BY {{ nbsql.sort_key(measure, 9) }} ASC NULLS LAST, {{ nbsql.order_by_columns(order) }} ASC NULLS LAST
    ) AS nbsql_position
  FROM {{ nbsql.subquery(measured) | indent(2) }} AS source
)
{%- endmacro %}

{#
  The first `count` patterns of the queue that have a measure; they are filtered here, because Spark plans for minutes if it can substitute
  the measure in a filter. columns: those to show; measure_name: the name of the measure's column; said: how reasons begin that name
  values, in order, in nbsql_reasons; predicts: whether the model has a target.
#}
{% macro top_of_queue(queue, columns, measure_name, count, said=none, predicts=true) -%}
SELECT
  {{ nbsql.listed_columns(nbsql.word('queue'), columns) | indent(2) }}
  {% if predicts %}
  queue.nbsql_label AS prediction,
  queue.nbsql_sure AS probability,
  {% endif %}
  queue.nbsql_measure AS {{ nbsql.word(measure_name) }},
  queue.nbsql_rows AS stands_for,
  {% if said is none %}
  queue.nbsql_reason AS reason
  {% else %}
  {{ nbsql.text(said) }} || {{ nbsql.first_three(nbsql.word('reasons.nbsql_values')) }} AS reason
  {% endif %}
FROM {{ queue }} AS queue
{% if said is not none %}
LEFT JOIN nbsql_reasons AS reasons USING (nbsql_position)
{% endif %}
WHERE queue.nbsql_position <= {{ count }} AND queue.nbsql_measure IS NOT NULL
ORDER BY nbsql_position ASC NULLS LAST
{%- endmacro %}

{# The first three of a list of texts as one. #}
{% macro first_three(texts) -%}
{{ nbsql.element(texts, 1) }} || coalesce('; ' || {{ nbsql.element(texts, 2) }}, '') || coalesce('; ' || {{ nbsql.element(texts, 3) }}, '')
{%- endmacro %}

{# The patterns ranked by their posteriors. #}
{% macro default__review(measured, order, falling, passed, named, count) -%}
WITH {{ nbsql.ranked_patterns(measured, order, falling) }}
{{ nbsql.top_of_queue(nbsql.word('nbsql_queue'), passed, named, count) }}
{%- endmacro %}

{# The relation of the patterns to explain: the first ones, and 200 of all, in even steps, to know what is usual. #}
{% macro chosen_patterns(count) -%}
{% set step %}(nbsql_patterns / {{ nbsql.number(200) }}){% endset -%}
(
  SELECT *
  FROM nbsql_queue
  WHERE nbsql_position <= {{ count }} OR floor(nbsql_position / {{ step }}) > floor((nbsql_position - 1) / {{ step }})
)
{%- endmacro %}

{#
  The patterns ranked by their evidence. explained: the query of the contribution of each value to each class, for the chosen patterns by
  nbsql_position.
#}
{% macro review_by_evidence(measured, order, explained, passed, count, predicts=true) -%}
WITH {{ nbsql.ranked_patterns(measured, order, false) }},
nbsql_explained AS {{ nbsql.subquery(explained) }},
nbsql_likeliest AS (
  SELECT nbsql_position, feature, value, max(contribution) AS contribution
  FROM nbsql_explained
  WHERE value IS NOT NULL
  GROUP BY nbsql_position, feature, value
),
nbsql_usual AS (
  {% set possible %}contribution > -{{ nbsql.infinity() }}{% endset %}
  SELECT
    feature,
    coalesce(
      avg(CASE WHEN nbsql_position > {{ count }} AND {{ possible }} THEN contribution END),
      avg(CASE WHEN {{ possible }} THEN contribution END),
      0
    ) AS usual
  FROM nbsql_likeliest
  GROUP BY feature
),
nbsql_reasons AS (
  {% set description %}feature || ' = ' || value{% endset %}
  {% set beside %}(contribution - usual){% endset %}
  {% set by %}{{ nbsql.sort_key(beside, 9) }}, feature, value{% endset %}
  SELECT nbsql_position, {{ nbsql.ordered_list(description, by) }} AS nbsql_values
  FROM nbsql_likeliest
  JOIN nbsql_usual USING (feature)
  WHERE nbsql_position <= {{ count }}
  GROUP BY nbsql_position
)
{{ nbsql.top_of_queue(nbsql.word('nbsql_queue'), passed, 'log_evidence', count, 'least likely: ', predicts) }}
{%- endmacro %}

{# The patterns ranked by their unseen values. unseen: the query of these, by nbsql_position. #}
{% macro review_by_novelty(measured, order, unseen, passed, count) -%}
WITH {{ nbsql.ranked_patterns(measured, order, false) }},
nbsql_unseen AS {{ nbsql.subquery(unseen) }},
nbsql_sets AS (
  {% set description %}feature || ' = ' || value{% endset %}
  {% set by_name %}feature, value{% endset %}
  SELECT nbsql_position, count(*) AS nbsql_unmet, {{ nbsql.ordered_list(description, by_name) }} AS nbsql_set
  FROM nbsql_unseen
  GROUP BY nbsql_position
),
nbsql_grouped AS (
  SELECT
    {{ nbsql.listed_columns(nbsql.word('source'), passed) | indent(4) }}
    source.nbsql_label,
    source.nbsql_sure,
    sets.nbsql_unmet AS nbsql_measure,
    {% set set %}sets.nbsql_set{% endset %}
    CAST(sum(source.nbsql_rows) OVER (PARTITION BY sets.nbsql_set) AS BIGINT) AS nbsql_rows,
    row_number() OVER (PARTITION BY sets.nbsql_set ORDER BY source.nbsql_position ASC NULLS LAST) AS nbsql_first,
    source.nbsql_position AS nbsql_place,
    'never seen: ' || {{ nbsql.first_three(set) }}
      || CASE WHEN sets.nbsql_unmet > 3 THEN ' and ' || CAST(sets.nbsql_unmet - 3 AS {{ nbsql.string() }}) || ' more' ELSE '' END
      AS nbsql_reason
  FROM nbsql_queue AS source
  JOIN nbsql_sets AS sets ON sets.nbsql_position = source.nbsql_position
),
nbsql_answer AS (
  SELECT *, row_number() OVER (ORDER BY nbsql_measure DESC NULLS LAST, nbsql_place ASC NULLS LAST) AS nbsql_position
  FROM nbsql_grouped
  WHERE nbsql_first = 1
)
{{ nbsql.top_of_queue(nbsql.word('nbsql_answer'), passed, 'unseen', count) }}
{%- endmacro %}

{#
  One row per row of the source (which has nbsql_position) and value or word without a lookup, each once: nbsql_position, feature, value. A
  number is never unseen.
#}
{% macro unseen_values(model, source, parameters, lookups) -%}
WITH {{ nbsql.explained_rows(model, source, parameters, lookups) }}
{% for part in model.facts.explanation_parts if part.feature.family.level -%}
{% set level %}level{{ nbsql.feature_suffix(part.feature) }}{% endset -%}
{% set value = nbsql[part.feature.family.macros.value](part.feature, nbsql.word('number')) -%}
SELECT number.nbsql_position, {{ nbsql.text(part.feature.name) }}{{ nbsql.binary() }} AS feature, {{ nbsql.explained_value(part) }} AS value
FROM {{ nbsql.with_inputs(nbsql.word('numbered'), [part.feature] if part.feature.family.parameters else []) }}
{{ nbsql.star_of_scores(model, part.feature, lookups) }}
WHERE {{ level }}.value IS NULL AND {{ value }} IS NOT NULL
{% if not loop.last or model.facts.features | selectattr('family.bag') | list %}
UNION ALL
{% endif %}
{% endfor -%}
{% for feature in model.facts.features if feature.family.bag -%}
SELECT numbered.nbsql_position, {{ nbsql.text(feature.name) }}{{ nbsql.binary() }} AS feature, tokens.value
FROM (
  SELECT DISTINCT *
  FROM {{ nbsql.subquery(nbsql.distinct_tokens(model, feature)) | indent(2) }} AS occurrences
) AS tokens
JOIN numbered ON numbered.nbsql_row = tokens.nbsql_row
LEFT JOIN (
  SELECT found.value{% if model.part_column %}, found.{{ nbsql.word(model.part_column) }}{% endif +%}
  FROM {{ lookups }} AS found
  WHERE feature = {{ nbsql.text(feature.name) }}
) AS met ON met.value = tokens.value{{ nbsql.same_part(model, nbsql.word('met'), nbsql.word('tokens')) }}
WHERE met.value IS NULL
{{- nbsql.union_all(loop) }}
{%- endfor %}
{%- endmacro %}

{# The tokens of the numbered rows, without their counts. #}
{% macro distinct_tokens(model, feature) -%}
SELECT nbsql_row, {% if model.part_column %}{{ nbsql.word(model.part_column) }}, {% endif %}value
FROM {{ nbsql.subquery(nbsql.tokens(feature, nbsql.word('numbered'), nbsql.row_key(model, nbsql.word('source')))) }} AS tokens
{%- endmacro %}
