{#
  Categories and count columns with a row left out, estimated as in families/dirichlet.sql: a value that no other row has is gone with
  the row, from K and the sum of the pseudo-counts too, unless it is declared; then it is as if it had never been seen.
#}

{# The value of a category as the lookups have it. #}
{% macro left_out_value(feature, relation) -%}
{% if feature.family.level -%}
{{ nbsql[feature.family.name ~ '_value'](feature, relation) }}
{%- else -%}
CASE CAST({{ relation }}.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}) WHEN 1 THEN 'true' WHEN 0 THEN 'false' END
{%- endif %}
{%- endmacro %}

{# NULL is among the lookups where missing values are a category, and only there. #}
{% macro left_out_lookup(feature, lookups, name) -%}
{% set relation %}{{ name }}{{ nbsql.sub(feature) }}{% endset -%}
LEFT JOIN (
  SELECT * FROM {{ lookups }} AS lookups WHERE feature = {{ nbsql.text(feature.name) }}
) AS {{ relation }} ON {{ relation }}.value IS NOT DISTINCT FROM {{ nbsql.left_out_value(feature, nbsql.word('source')) }}
{%- endmacro %}

{# Of a row: whether its value is counted, whether it goes with the row, and its counts. #}
{% macro left_out_found(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set level %}level{{ i }}{% endset -%}
{{ level }}.feature IS NOT NULL AS found{{ i }},
coalesce(NOT {{ level }}.declared AND {{ level }}.n - source.nbsql_weight <= 1e-12 * {{ level }}.n, FALSE) AS gone{{ i }},
{{ level }}.alpha AS alpha{{ i }},
{{ level }}.ns AS ns{{ i }}
{%- endmacro %}

{# Of a row and class: the count of the value, and the sum that it is divided by. #}
{% macro left_out_level_cells(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set taken = nbsql.own_only(nbsql.left_out_row_weight()) -%}
{% set taken_if_found %}CASE WHEN rows.found{{ i }} THEN {{ taken }} ELSE 0 END{% endset -%}
{% set counts %}rows.ns{{ i }}{% endset -%}
{% set class_no %}classes.class_no{% endset -%}
{% set n = nbsql.at(counts, class_no) -%}
{% set total %}coalesce(classes.total{{ i }}, 0){% endset -%}
{{ nbsql.left_over(n, taken) }} AS n{{ i }},
{{ nbsql.left_over(total, taken_if_found) }} + classes.a{{ i }} - CASE WHEN rows.gone{{ i }} THEN rows.alpha{{ i }} ELSE 0 END AS total{{ i }},
classes.k{{ i }} - CASE WHEN rows.gone{{ i }} THEN 1 ELSE 0 END AS k{{ i }}
{%- endmacro %}

{# What a category adds. #}
{% macro left_out_level(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set seen %}(number.n{{ i }} + number.alpha{{ i }}) / number.total{{ i }}{% endset -%}
{% set unseen %}{{ nbsql.number(feature.family.added_count) }} / number.total{{ i }}{% endset -%}
CASE
  WHEN NOT number.found{{ i }}{% if not (feature.family.level and feature.family.unseen == 'smooth') %} OR number.gone{{ i }}{% endif %} OR number.k{{ i }} = 0 THEN 0
  WHEN number.total{{ i }} <= 0 THEN -ln(number.k{{ i }})
  {% if feature.family.level and feature.family.unseen == 'smooth' %}
  WHEN number.gone{{ i }} THEN {{ nbsql.log(unseen) }}
  {% endif %}
  ELSE {{ nbsql.log(seen) }}
END
{%- endmacro %}


{# Of a row and class: what the count columns of a feature sum up to. #}
{% macro left_out_totals(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set total %}coalesce(classes.total{{ i }}, 0){% endset -%}
{% set sum %}rows.nbsql_weight * ({% for column in feature.columns %}coalesce(rows.nbsql_x{{ nbsql.sub(feature, loop.index) }}, 0){% if not loop.last %} + {% endif %}{% endfor %}){% endset -%}
{{ nbsql.left_over(total, nbsql.taken_from(feature, sum)) }} + classes.a{{ i }} AS total{{ i }}
{%- for column in feature.columns %}
{%- set j = nbsql.sub(feature, loop.index) %}
{%- set n %}coalesce(classes.n{{ j }}, 0){% endset %}
{%- set x %}rows.nbsql_weight * coalesce(rows.nbsql_x{{ j }}, 0){% endset %},
{{ nbsql.left_over(n, nbsql.taken_from(feature, x)) }} AS n{{ j }}
{%- endfor %}
{%- endmacro %}

{# A row is counted in its own class, or, where a class is estimated from all others, in these. #}
{% macro taken_from(feature, taken) -%}
CASE WHEN classes.class_no {% if feature.family.complement %}<>{% else %}={% endif %} rows.nbsql_own THEN {{ taken }} ELSE 0 END
{%- endmacro %}

{# The weights of the count columns, as the terms read them. #}
{% macro left_out_weights(feature) -%}
{% set i, k = nbsql.sub(feature), feature.columns | length -%}
{% for column, alpha in feature.family.declared -%}
{% set likelihood %}(number.n{{ nbsql.sub(feature, loop.index) }} + {{ nbsql.number(alpha) }}) / number.total{{ i }}{% endset -%}
{% set weight %}CASE WHEN number.total{{ i }} > 0 THEN {{ nbsql.log(likelihood) }} ELSE -ln({{ k }}) END{% endset -%}
{% set name %}weight{{ nbsql.sub(feature, loop.index) }}{% endset -%}
{% set given %}{% if feature.family.complement %}-({{ weight }}){% else %}{{ weight }}{% endif %}{% endset -%}
{{ nbsql.packed(name, given) }}
{%- if not loop.last %},
{% endif %}
{%- endfor %}
{%- endmacro %}
