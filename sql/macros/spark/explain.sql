{#
  Where an explanation differs. A row's number is its place in this answer: from 1, in the order in which Spark reads the rows, which
  is theirs only where they are read by one worker. The id columns tell which row is which.
#}

{% macro spark__explained(model, source, parameters, lookups, numbered=false) -%}
WITH {% if model.backoffs %}unmasked{% else %}numbered{% endif %} AS (
  {% set rows -%}
  SELECT row_number() OVER (ORDER BY nbsql_read) AS nbsql_row, source.*
  FROM (
    {% if model.joins %}
    SELECT source.nbsql_row AS nbsql_read, source.* EXCEPT (nbsql_row) FROM {{ source }} AS source
    {% else %}
    SELECT {{ nbsql.row_id() }} AS nbsql_read, source.* FROM {{ source }} AS source
    {% endif %}
  ) AS source
  {%- endset %}
  {% if model.segmented %}
  {% set rows %}(
    {{ rows | indent(2) }}
  ){% endset %}
  {{ nbsql.in_segments(rows, parameters) | indent(2) }}
  {%- else %}
  {{ rows }}
  {%- endif %}

),
{%- if model.backoffs %}

{{ nbsql.masked(model, lookups) }},
{%- endif %}

parameters AS (
  {{ nbsql.parameters_by_class(model.parts, parameters) | indent(2) }}
),
{% if model.mixed %}contributions_of_members{% else %}contributions{% endif %} AS (
  SELECT /*+ BROADCAST(parameters) */
    source.nbsql_row,
    parameters.class_no,
    0 AS feature_no,
    CAST(NULL AS {{ nbsql.string() }}) AS feature,
    CAST(NULL AS {{ nbsql.string() }}) AS value,
    parameters.log_prior AS contribution
  FROM numbered AS source
  {{ nbsql.meets(model, nbsql.word('source')) }}
  {%- for block in model.explained | batch(20) %}

  UNION ALL
  {{ nbsql.explained_block(model.parts, block, lookups) | indent(2) }}
  {%- endfor %}
  {%- for feature in model.features | selectattr('family.bag') %}

  UNION ALL
  {{ nbsql.explained_tokens(model.parts, feature, lookups) | indent(2) }}
  {%- endfor %}

)
{%- if model.mixed %},
{{ nbsql.mixed_contributions() }}
{%- endif %}

SELECT /*+ BROADCAST(parameters) */
  contributions.nbsql_row AS row_id,
  {%- for column in model.id %}

  source.{{ nbsql.ident(column) }},
  {%- endfor %}

  parameters.class,
  {% if numbered %}
  contributions.class_no,
  {% endif %}
  contributions.feature,
  contributions.value,
  contributions.contribution
FROM contributions
JOIN parameters ON parameters.class_no = contributions.class_no{% if model.segmented %} AND parameters.nbsql_segment = 0{% endif %}

{%- if model.id %}

JOIN numbered AS source ON source.nbsql_row = contributions.nbsql_row
{%- endif %}

{%- endmacro %}

{% macro spark__scores(model) -%}
array({% for k in model.class_numbers %}found.class_{{ k }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %})
{%- endmacro %}

{% macro spark__explained_block(model, parts, lookups) -%}
{% set features = parts | map(attribute='feature') | unique(attribute='index') | list -%}
SELECT /*+ BROADCAST(parameters{% for feature in features | selectattr('family.level') %}, level{{ nbsql.sub(feature) }}{% endfor %}) */
  number.nbsql_row,
  parameters.class_no,
  inline(array(
    {% for part in parts %}
    struct(
      {{ part.feature.index }} AS feature_no,
      {{ nbsql.text(part.feature.name) }} AS feature,
      CAST({{ nbsql.explained_value(part) }} AS {{ nbsql.string() }}) AS value,
      CAST({{ nbsql.explained_term(part) }} AS {{ nbsql.double() }}) AS contribution
    ){{ nbsql.comma(loop) }}
    {% endfor %}
  ))
FROM {{ nbsql.with_inputs(nbsql.word('numbered'), features | selectattr('family.parameters') | list) }}
{{ nbsql.meets(model, nbsql.word('number')) }}
{%- for feature in features | selectattr('family.level') %}

{{ nbsql.star(model, feature, lookups) }}
{%- endfor %}
{%- endmacro %}
