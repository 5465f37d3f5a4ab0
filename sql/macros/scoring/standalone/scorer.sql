{#
  A standalone scorer: one SELECT over the source that contains the numbers of the model, for engines in which no model lives. It is written
  in their common SQL; the forms of each dialect are in its own folder.

  The resulting columns of the source and the verb are those of predict.sql. Its steps:

    nbsql_inputs    for each feature the number or the value that its term reads, NULL if it is missing or not finite
    nbsql_coded     the same, and the codes of categories that are scored in pairs or lists, if a model has any
    nbsql_listed    these, and for each list of categories one number, made of these codes
    nbsql_steps_1   before it and nbsql_steps_2, of numbers with a covariance matrix x - m and W (x - m)
    nbsql_level_3   of a category with many values, or of pairs of categories, the term in every class
    nbsql_joint     the joint log-likelihood of every class, except for the part all share
    nbsql_best      the highest of them; minus infinity (engines/standalone/) if no class explains the row
    nbsql_evidence  the sum of their likelihoods, relative to the highest
    nbsql_odds      the calibrated posteriors, by three more steps (calibrated.sql), if a calibration needs them

  Minus infinity of the engine itself occurs only in an answer; it is NULL on engines without it.
#}
{% macro standalone_scorer(scorer, source) -%}
{% set temperature = scorer.calibration.temperature if scorer.calibration else 1 -%}
{% set is_calibrated = scorer.calibration and scorer.calibration.method != 'temperature' -%}
{% set last = nbsql.word('nbsql_calibrated' if is_calibrated else 'nbsql_evidence') -%}
{% set joined = scorer.terms | selectattr('joined') | list -%}
{% set paired = scorer.terms | selectattr('shape', 'equalto', 'pairs') | selectattr('parts') | list -%}
{% set listed = scorer.terms | selectattr('shape', 'equalto', 'lists') | list -%}
{% set matrices = scorer.terms | selectattr('shape', 'equalto', 'multivariate_gaussian') | list -%}
{% set explained %}nbsql_highest > -{{ nbsql.infinity() }}{% endset -%}
{% set materialized %}{% if scorer.traits.materializes %}MATERIALIZED {% endif %}{% endset -%}
WITH nbsql_inputs AS (
  SELECT
    {{ nbsql.standalone_inputs(scorer) | indent(4) }}
  FROM {{ source | indent(2) }} AS source
),
{% for term in joined -%}
nbsql_level_{{ term.index }} AS {{ materialized }}{{ nbsql.subquery(nbsql.literal_rows(term.kind, term.keys, term.scores)) }},
{% endfor -%}
{% if scorer.coded -%}
nbsql_coded AS {{ materialized }}(
  SELECT
    nbsql_inputs.*
    {%- for part in scorer.coded %},
    {{ nbsql[part.macro](part, 1) | indent(4) }} AS {{ nbsql.standalone_code(part) }}
    {%- endfor +%}
  FROM nbsql_inputs
),
{% endif -%}
{% for term in paired -%}
nbsql_ratios_{{ term.index }} AS {{ materialized }}{{ nbsql.subquery(nbsql.literal_rows(term.kind, term.keys, term.scores)) }},
nbsql_level_{{ term.index }} AS {{ materialized }}{{ nbsql.subquery(nbsql.standalone_means(scorer, term)) }},
{% endfor -%}
{% set read = nbsql.word('nbsql_listed' if listed else 'nbsql_coded' if scorer.coded else 'nbsql_inputs') -%}
{% if listed -%}
nbsql_listed AS {{ materialized }}(
  SELECT
    nbsql_coded.*
    {%- for term in listed %},
    {{ nbsql.standalone_list_key(term) | indent(4) }} AS {{ nbsql.of_feature('nbsql_x', term) }}
    {%- endfor +%}
  FROM nbsql_coded
),
{% endif -%}
{% for macro in ['multivariate_gaussian_first_steps', 'multivariate_gaussian_steps'] if matrices -%}
nbsql_steps_{{ loop.index }} AS {{ materialized }}(
  SELECT
    number.*
    {%- for term in matrices %},
    {{ nbsql[macro](term, scorer.classes | map(attribute='number') | list) | indent(4) }}
    {%- endfor +%}
  FROM {% if loop.first %}{{ read }}{% else %}nbsql_steps_1{% endif %} AS number
),
{% endfor -%}
nbsql_joint AS {{ materialized }}(
  SELECT
    number.*
    {%- for class in scorer.classes %},
    {{ nbsql.standalone_joint(scorer, loop.index) | indent(4) }} AS nbsql_joint_{{ class.number }}
    {%- endfor %}
    {%- if scorer.common %},
    {{ nbsql.standalone_common(scorer) | indent(4) }} AS nbsql_common
    {%- endif %}
    {%- if scorer.reasons %}
    {%- for term in scorer.terms %},
    {{ nbsql[term.macro](term, 2) | indent(4) }} AS nbsql_cost_{{ term.index }}
    {%- endfor %}
    {%- endif +%}
  FROM {% if matrices %}nbsql_steps_2{% else %}{{ read }}{% endif %} AS number
  {% for term in joined %}
  LEFT JOIN nbsql_level_{{ term.index }}
    ON {{ nbsql.exact_literal(nbsql.standalone_level(term, nbsql.word('value')), term.kind) }} = {{ nbsql.of_feature('nbsql_x', term) }}
  {% endfor %}
  {% for term in paired %}
  LEFT JOIN nbsql_level_{{ term.index }}
    ON {{ nbsql.standalone_same_codes(term) | indent(4) }}
  {% endfor %}
)
{%- if scorer.verb == 'joint_log_likelihood' +%}
SELECT
  {{ nbsql.standalone_source_columns(scorer, nbsql.word('nbsql_joint')) | indent(2) }}
  {%- for class in scorer.classes %}
  {% set joint %}nbsql_joint_{{ class.number }}{% if scorer.common %} + nbsql_common{% endif %}{% endset %}
  {% set is_possible %}nbsql_joint_{{ class.number }} > -{{ nbsql.infinity() }}{% endset %}
  {% set possible_joint %}CASE WHEN {{ is_possible }} THEN {{ joint }} ELSE -{{ scorer.infinity }} END{% endset %}
  {{ possible_joint }} AS {{ nbsql.output(class.joint) }}{{ nbsql.comma_line(loop) }}
  {%- endfor +%}
FROM nbsql_joint
{%- elif scorer.verb == 'points' %}
{{ nbsql.standalone_points(scorer) }}
{%- else %},
nbsql_best AS {{ materialized }}(
  SELECT
    nbsql_joint.*,
    {%+ call(class) nbsql.greatest_of(scorer.classes) %}nbsql_joint_{{ class.number }}{% endcall %} AS nbsql_highest
  FROM nbsql_joint
),
nbsql_evidence AS {{ materialized }}(
  SELECT
    nbsql_best.*,
    {%+ call(class) nbsql.sum_in_blocks(scorer.classes) %}{{ nbsql.standalone_ratio(class.number, temperature) }}{% endcall -%}
    {{ ' ' }}AS nbsql_relative_evidence
  FROM nbsql_best
)
{%- if is_calibrated %},
{{ nbsql.standalone_calibrated(scorer, materialized) }}
{%- endif +%}
SELECT
  {{ nbsql.standalone_source_columns(scorer, last) | indent(2) }}
  {%- if scorer.verb == 'log_evidence' %}
  {% set mass %}nbsql_relative_evidence{% endset %}
  CASE
    WHEN {{ explained }} THEN nbsql_highest + {{ nbsql.natural_log(mass) }}{% if scorer.common %} + nbsql_common{% endif +%}
    ELSE -{{ scorer.infinity }}
  END AS log_evidence
  {%- else %}
  CASE
    {% for class in scorer.classes %}
    {% if is_calibrated %}
    WHEN {{ explained }} AND nbsql_share_{{ class.number }} = nbsql_best_share THEN {{ class.literal }}
    {% else %}
    WHEN {{ explained }} AND nbsql_joint_{{ class.number }} = nbsql_highest THEN {{ class.literal }}
    {% endif %}
    {% endfor %}
  END AS prediction,
  {% set best_share -%}
  {% if is_calibrated %}{{ nbsql.standalone_share(scorer, 'best_share') }}{% else %}1 / nbsql_relative_evidence{% endif %}
  {%- endset %}
  CASE WHEN {{ explained }} THEN {{ best_share }} END AS probability
  {%- if scorer.verb == 'predict_proba' %}
  {%- for class in scorer.classes %},
  {% set share -%}
  {% if is_calibrated %}{{ nbsql.standalone_share(scorer, 'share_' ~ class.number) }}
  {%- else %}{{ nbsql.standalone_ratio(class.number, temperature) }} / nbsql_relative_evidence{% endif %}
  {%- endset %}
  CASE WHEN {{ explained }} THEN {{ share }} END AS {{ nbsql.output(class.probability) }}
  {%- endfor %}
  {%- endif %}
  {%- endif +%}
FROM {{ last }}
{%- endif %}
{%- endmacro %}

{# The columns of the source to return, from a step that has others besides, each followed by a comma. #}
{% macro standalone_source_columns(scorer, step) -%}
{% if scorer.passed is none -%}
{% set helpers %}{% for name in scorer.helpers %}{{ nbsql.word(name) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ step }}.* {% if scorer.traits.all_but == 'EXCEPT' %}EXCEPT{% else %}EXCLUDE{% endif %} ({{ helpers }}),
{% else -%}
{% for column in scorer.passed %}{{ step }}.{{ nbsql.ident(column) }},
{% endfor %}
{%- endif %}
{% endmacro %}

{# The prior and the terms of the features. #}
{% macro standalone_joint(scorer, k) -%}
{% set terms -%}
{% call(term) nbsql.sum_in_lines(scorer.terms) -%}
{{ nbsql.standalone_unless_known(term, nbsql[term.macro](term, k)) }}
{%- endcall %}
{%- endset -%}
{{ nbsql.number(scorer.classes[k - 1].log_prior) }}{% if scorer.terms +%}
  + {{ terms | indent(2) }}{% endif %}
{%- endmacro %}

{# A term that counts only where the list of its column's values is not known, if it has such a list. #}
{% macro standalone_unless_known(term, score) -%}
{% if term.backoff %}CASE WHEN nbsql_level_{{ term.backoff }}.value IS NULL THEN {{ score }} ELSE 0 END{% else %}{{ score }}{% endif %}
{%- endmacro %}

{# The part that all classes share. #}
{% macro standalone_common(scorer) -%}
{% for term in scorer.common -%}
{{ nbsql.standalone_unless_known(term, nbsql[term.common_macro](term, 1)) }}{% if not loop.last +%}
  + {% endif %}{% endfor %}
{%- endmacro %}

{# A score, or a code, which is a whole number; NULL for the code of a missing value. #}
{% macro standalone_number(value) -%}
{% if value is none %}NULL{% elif value is integer %}{{ value }}{% elif value == 0 %}0{% else %}{{ nbsql.number(value) }}{% endif %}
{%- endmacro %}

{# The likelihood of a class, relative to the highest, at a temperature. #}
{% macro standalone_ratio(number, temperature=1) -%}
{% set difference -%}
{% if temperature == 1 %}nbsql_joint_{{ number }} - nbsql_highest
{%- else %}(nbsql_joint_{{ number }} - nbsql_highest) / {{ nbsql.number(temperature) }}{% endif %}
{%- endset -%}
{{ nbsql.exp(difference) }}
{%- endmacro %}

{# Rows of literals: value (of a category, or a pair of codes), and class_1, class_2, ..., its term in each class, as numbers. #}
{% macro literal_rows(kind, keys, scores) -%}
{% set columns = namespace(names=['value']) -%}
{% for _ in scores[0] %}{% set columns.names = columns.names + ['class_' ~ loop.index] %}{% endfor -%}
{% set rows -%}
{% for key in keys -%}
{% set numbers %}{% for score in scores[loop.index0] %}, {{ nbsql.number(score) }}{% endfor %}{% endset -%}
{{ nbsql.row_keyword() }}({{ key }}{{ numbers }}){{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endset -%}
SELECT {{ nbsql.literal_value(kind) }} AS value{% for _ in scores[0] %}, class_{{ loop.index }}{% endfor +%}
FROM {{ nbsql.named_values(rows, 'literals', columns.names) }}
{%- endmacro %}

{# The same as a union, for engines that cannot select from VALUES. #}
{% macro literal_union(kind, keys, scores) -%}
{% for key in keys -%}
{% set first = loop.first -%}
{% set value %}{% if first and kind == 'text' %}CAST({{ key }} AS {{ nbsql.string() }}){% else %}{{ key }}{% endif %}{% endset -%}
SELECT {{ value }}{% if first %} AS value{% endif %}
{%- for score in scores[loop.index0] -%}
, {{ nbsql.number(score) }}{% if first %} AS class_{{ loop.index }}{% endif %}
{%- endfor %}
{%- if not loop.last %} UNION ALL
{% endif %}
{%- endfor %}
{%- endmacro %}
