{#
  Categories with a row left out, estimated as in families/dirichlet.sql. A value that no other row has is gone without
  the row, also from K and the sum of the pseudo-counts, unless it is declared; then it counts as never seen. So is one of which too few are
  left (min_count), with its counts in other rows.
#}

{# The value of a category, as the lookups have it. #}
{% macro left_out_value(feature, relation) -%}
{% if feature.family.level -%}
{{ nbsql[feature.family.macros.value](feature, relation) }}
{%- else -%}
{% set x %}{{ relation }}.{{ nbsql.ident(feature.column) }}{% endset -%}
{{ nbsql.yes_or_no(x, nbsql.text('true'), nbsql.text('false')) }}
{%- endif %}
{%- endmacro %}

{# NULL is in the lookups if, and only if, missing values are a category. #}
{% macro left_out_lookup(feature, lookups, name) -%}
{% set relation %}{{ name }}{{ nbsql.feature_suffix(feature) }}{% endset -%}
LEFT JOIN (
  SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
) AS {{ relation }} ON {{ relation }}.value IS NOT DISTINCT FROM {{ nbsql.left_out_value(feature, nbsql.word('source')) }}
{%- endmacro %}

{# Columns of a row: whether its value is counted, gone without the row, or too rare with it, and its counts. #}
{% macro left_out_level_columns(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set level %}level{{ i }}{% endset -%}
{% set count %}{{ level }}.n{% endset -%}
{% set least = feature.family.least_count -%}
{{ level }}.feature IS NOT NULL AS found{{ i }},
coalesce(NOT {{ level }}.declared AND {{ level }}.n - source.nbsql_weight <= {{ nbsql.left_out_rounding(count) }}, FALSE)
{%- if least %}
  OR coalesce({{ level }}.n - source.nbsql_weight < {{ least }}, FALSE)
{%- endif %} AS gone{{ i }},
{%- if least %}
{% set has_category %}{{ nbsql.left_out_value(feature, nbsql.word('source')) }} IS NOT NULL{% endset %}
{{ level }}.feature IS NULL{% if feature.family.nulls != 'category' %} AND {{ has_category }}{% endif %} AS rare{{ i }},
{%- endif %}
{% set own_alpha %}{{ level }}.alpha{% endset -%}
{% set alpha %}coalesce({{ own_alpha }}, {{ nbsql.number(feature.family.added_count) }}){% endset -%}
{{ alpha if least else own_alpha }} AS alpha{{ i }},
{{ level }}.ns AS ns{{ i }}
{%- endmacro %}

{# Columns of a row and class: the count of the value, and the sum that divides it. #}
{% macro left_out_level_cells(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set taken = nbsql.removed_from_own_class() -%}
{% set counts %}rows.ns{{ i }}{% endset -%}
{% set n = nbsql.element(counts, nbsql.word('classes.class_no')) -%}
{% set taken -%}
{% if feature.family.least_count %}CASE WHEN rows.gone{{ i }} THEN coalesce({{ n }}, 0) ELSE {{ taken }} END{% else %}{{ taken }}{% endif %}
{%- endset -%}
{% set taken_if_found %}CASE WHEN rows.found{{ i }} THEN {{ taken }} ELSE 0 END{% endset -%}
{% set total %}coalesce(classes.total{{ i }}, 0){% endset -%}
{{ nbsql.remaining_count(n, taken) }} AS n{{ i }},
{{ nbsql.remaining_count(total, taken_if_found) }} + classes.a{{ i }}
    - CASE WHEN rows.gone{{ i }} THEN rows.alpha{{ i }} ELSE 0 END AS total{{ i }},
classes.k{{ i }} - CASE WHEN rows.gone{{ i }} THEN 1 ELSE 0 END AS k{{ i }}
{%- endmacro %}

{# The term of a category. A value that is gone without the row has no count left, like an unseen one. #}
{% macro left_out_level(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set n %}number.n{{ i }}{% endset -%}
{% set alpha %}number.alpha{{ i }}{% endset -%}
{% set total %}number.total{{ i }}{% endset -%}
{% set k %}number.k{{ i }}{% endset -%}
CASE
  {% set smooth = feature.family.unseen == 'smooth' %}
  WHEN NOT {% if smooth and feature.family.least_count %}(number.found{{ i }} OR number.rare{{ i }}){% else %}number.found{{ i }}{% endif %}
  {% if not smooth %} OR number.gone{{ i }}{% endif %} OR {{ k }} = 0 THEN 0
  ELSE {{ nbsql.safe_ln(nbsql.dirichlet_likelihood(n, alpha, total, k)) }}
END
{%- endmacro %}
