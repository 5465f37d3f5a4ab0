{# Where counting differs: a list has one type, and what overflows, or comes too near 0, is an error. #}

{#
  Labels of text are compared byte by byte, whatever the collation of their database, so that ties and the order of the classes are
  the same everywhere.
#}
{% macro postgres__target(model) -%}
source.{{ nbsql.ident(model.target) }}{% if model.target_type in ('text', 'character varying', 'character', 'name', 'citext') %} COLLATE "C"{% endif %}
{%- endmacro %}

{# Guarded in every scan. #}
{% macro postgres__input(feature, column, j=none, centre=none, careful=false) -%}
{% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset -%}
{{ nbsql.finite(x) }}{% if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature, j) }}
{%- endmacro %}

{% macro postgres__breaks_binary(column) -%}
CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}) NOT IN (0, 1)
{%- endmacro %}

{% macro postgres__summed_cells(model, scan, features) -%}
SELECT
  scan.class,
  {% if model.slice_by %}
  scan.slice,
  {% endif %}
  {% for column in ['index', 'feature', 'value', 'n', 'centre', 'total', 'squares'] %}
  unnest(CAST(ARRAY[
    {%- for feature in features -%}
    {{ nbsql[feature.family.name ~ '_cells'](feature, column) }}{% if not loop.last %}, {% endif %}
    {%- endfor -%}
  ] AS {% if column == 'index' %}INTEGER{% elif column in ('feature', 'value') %}{{ nbsql.string() }}{% else %}{{ nbsql.double() }}{% endif %}[])) AS {{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ scan }} AS scan
WHERE scan.class IS NOT NULL
{%- endmacro %}

{% macro postgres__centres(source, features) -%}
SELECT index, percentile_disc(0.5) WITHIN GROUP (ORDER BY x) AS centre
FROM (
  SELECT
    unnest(ARRAY[{% for feature in features %}{{ feature.index }}{{ nbsql.comma(loop) }}{% endfor %}]) AS index,
    unnest(ARRAY[{% for sub in nbsql.centred_numbers(features).split() %}nbsql_x{{ sub }}{{ nbsql.comma(loop) }}{% endfor %}]) AS x
  FROM (
    SELECT
      {% for feature in features %}
      {{ nbsql[feature.family.name ~ '_inputs'](feature, none, false, false) }}{{ nbsql.comma(loop) }}
      {% endfor %}
    FROM (SELECT * FROM {{ source }} AS source LIMIT 500) AS source
  ) AS sample
) AS sample
WHERE abs(x) <= 1e150
GROUP BY index
{%- endmacro %}

{% macro postgres__gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}nbsql_x{{ i }}{% endset -%}
{% set square %}({{ nbsql.square(x) }}){% endset -%}
,
  {%+ if careful %}max(centre{{ i }}){% else %}{{ centre }}{%+ endif %} AS centre{{ i }},
  {{ nbsql.tally(model, x) }} AS n{{ i }},
  {{ nbsql.total(model, x) }} AS sum{{ i }},
  sum({% if model.weight %}weight * {% endif %}CASE WHEN {{ x }} IS NOT NULL THEN {{ square }} END) AS squares{{ i }}
{%- endmacro %}

{# A column of whole numbers is read as whole numbers, whichever type it has: 1.0 must find the value 1. #}
{% macro postgres__categorical_value(feature, relation) -%}
{% set x %}CAST({{ relation }}.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
{% if feature.whole %}regexp_replace({{ x }}, '\.0+$', ''){% else %}{{ x }}{% endif %} COLLATE "C"
{%- endmacro %}

{# A number or a yes or no, by its text, because PostgreSQL casts neither into the other. #}
{% macro postgres__bernoulli_inputs(feature, centre, careful, centred) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
CASE
      WHEN {{ x }} IN ('true', '1') THEN TRUE
      WHEN {{ x }} IN ('false', '0') THEN FALSE
      ELSE CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN TRUE WHEN 0 THEN FALSE END
    END AS nbsql_x{{ nbsql.sub(feature) }}
{%- endmacro %}

{# The logarithm of 0 is an error; a number that has none counts as missing in the sums, and the rule above 0 refuses it. #}
{% macro postgres__lognormal_inputs(feature, centre, careful, centred) -%}
{% if centred %}{% set centre %}means.centre{{ nbsql.sub(feature) }}{% endset %}{% endif -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
CASE WHEN {{ x }} > 0 AND {{ x }} < {{ nbsql.infinity() }} THEN ln({{ x }}) WHEN {{ x }} <= 0 THEN {% if centre is none %}-{{ nbsql.infinity() }}{% else %}NULL{% endif %} END
{%- if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ nbsql.sub(feature) }}
{%- if centred %},
  {{ centre }} AS centre{{ nbsql.sub(feature) }}
{%- endif %}
{%- endmacro %}
