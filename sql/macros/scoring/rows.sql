{# The rows of a source, numbered and with the inputs of the features, as the statements that score them read them. #}

{#
  A relation with the columns that the terms of some features read. A number that is not finite is NULL. It is a sub-select, not a lateral
  join, which DuckDB takes far longer to plan.
#}
{% macro with_inputs(relation, features) -%}
{% if features -%}
{% set inputs -%}
SELECT
  source.*,
  {% for feature in features %}
  {{ nbsql.inputs(feature, none, true, false) | indent(2) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ relation }} AS source
{%- endset -%}
{{ nbsql.subquery(nbsql.completed_inputs(inputs, features)) }} AS number
{%- else -%}
{{ relation }} AS number
{%- endif %}
{%- endmacro %}

{#
  The same with the columns of inputs and parameters that some terms name more than once. Two steps of their own halve those terms twice.
#}
{% macro with_steps(model, relation, features, parameters) -%}
{% if model.form.features_with_steps -%}
(
  SELECT{{ nbsql.small_relations_hint(model) }}
    number.*
    {%- for feature in model.form.features_with_steps %},
    {{ nbsql[feature.family.macros.steps](feature, model.form.class_numbers) | indent(4) }}
    {%- endfor +%}
  FROM (
    SELECT{{ nbsql.small_relations_hint(model) }}
      number.*
      {%- for feature in model.form.features_with_steps %},
      {{ nbsql[feature.family.macros.first_steps](feature, model.form.class_numbers) | indent(6) }}
      {%- endfor +%}
    FROM {{ nbsql.with_inputs(relation, features) | indent(4) }}
    {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(4) }}
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS number
  {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS number
{%- else -%}
{{ nbsql.with_inputs(relation, features) }}
{%- endif %}
{%- endmacro %}

{# Only the columns that a block of features reads, because planning to read all of them takes time, too. #}
{% macro columns_of_block(model, features) -%}
{% set columns = features | map(attribute='columns') | sum(start=()) | unique -%}
(SELECT nbsql_row
{%- if model.part_column %}, {{ nbsql.word(model.part_column) }}{% endif %}
{%- for column in columns %}, numbered.{{ nbsql.ident(column) }}{% endfor %} FROM numbered)
{%- endmacro %}

{#
  The source, read once, with a row number, which it may already have. No later query may name the source, because a CTE might shadow it.
#}
{% macro numbered_source(model, source, parameters, lookups, has_number=false) -%}
{% set number -%}
{% if not (model.options.joins or has_number
  or 'nbsql_row' in model.options.columns | default([])) %}{{ nbsql.source_row_id(model) }} AS nbsql_row, {% endif %}
{%- endset -%}
{% set rows %}SELECT {{ number }}source.* FROM {{ source }} AS source{% endset -%}
{% if model.facts.backoffs %}unmasked{% else %}numbered{% endif %} AS {{ nbsql.materialized() }}(
  {% if model.facts.has_segments %}
  {% set rows %}(
    {{ rows }}
  ){% endset %}
  {{ nbsql.with_segments(rows, parameters) | indent(2) }}
  {%- else %}
  {{ rows }}
  {%- endif +%}
)
{%- if model.facts.backoffs %},
{{ nbsql.masked_source(model, lookups) }}
{%- endif %}
{%- endmacro %}

{#
  Features that count only if several columns together have an unseen value read columns of their own, nbsql_backoff_3. These are NULL, as
  if the value were missing, in all other rows.
#}
{% macro masked_source(model, lookups) -%}
numbered AS {{ nbsql.materialized() }}(
  SELECT
    source.*
    {%- for backoff in model.facts.backoffs %}
    {%- for feature, name in backoff.masked %},
    {% set seen %}seen{{ nbsql.feature_suffix(backoff.feature) }}{% endset %}
    CASE WHEN {{ seen }}.value IS NULL THEN source.{{ nbsql.ident(feature.column) }} END AS {{ nbsql.ident(name) }}
    {%- endfor %}
    {%- endfor +%}
  FROM unmasked AS source
  {%- for backoff in model.facts.backoffs %}
  {%- set seen %}seen{{ nbsql.feature_suffix(backoff.feature) }}{% endset +%}
  LEFT JOIN (
    SELECT value{% if model.part_column %}, {{ nbsql.word(model.part_column) }}{% endif +%}
    FROM {{ lookups }} AS lookups
    WHERE feature = {{ nbsql.text(backoff.feature.name) }}
  ) AS {{ seen }}
    ON {{ seen }}.value = {{ nbsql.joint_value(backoff.feature, nbsql.word('source')) }}
    {{- nbsql.same_part(model, seen, nbsql.word('source')) }}
  {%- endfor +%}
)
{%- endmacro %}

{# The columns that identify a row, including the model it belongs to, if rows have models of their own. #}
{% macro row_key(model, relation) -%}
{{ relation }}.nbsql_row{% if model.part_column %}, {{ relation }}.{{ nbsql.word(model.part_column) }}{% endif %}
{%- endmacro %}

{# Rows with the number of their segment, nbsql_segment: 0 if the model has not seen it. #}
{% macro with_segments(relation, parameters) -%}
SELECT source.*, coalesce(segments.nbsql_segment, 0) AS nbsql_segment
FROM {{ relation }} AS source
LEFT JOIN (
  SELECT DISTINCT nbsql_segment, segment_name FROM {{ parameters }} AS parameters
) AS segments ON segments.segment_name = source.nbsql_slice
{%- endmacro %}

{# A query of the inputs of some features and of the log-factorial of each count, which is computed once a row. #}
{% macro default__completed_inputs(inputs, features) -%}
{% set counts = features | selectattr('family.name', 'equalto', 'poisson') | list -%}
{% if counts -%}
SELECT
  counted.*
  {%- for feature in counts %},
  {% set x %}counted.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset %}
  {{ nbsql.log_factorial(x) | indent(2) }} AS nbsql_log_factorial{{ nbsql.feature_suffix(feature) }}
  {%- endfor +%}
FROM (
  {{ inputs | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS counted
{{- nbsql.optimisation_fence() }}
{%- else -%}
{{ inputs }}
{{- nbsql.optimisation_fence() }}
{%- endif %}
{%- endmacro %}
