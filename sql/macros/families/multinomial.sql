{#
  Columns of counts that share one total, such as the words of a document laid out in columns:

    sum over the columns t of  x_t ln((n_ct + alpha_t) / (n_c + sum of alpha))

  n_ct is the sum of column t in class c, n_c that of all columns. The estimate is Dirichlet's (dirichlet.sql) with the
  columns as declared levels. 0 ln 0 is 0.
#}

{% macro multinomial_inputs(feature, centre, careful, centred) -%}
{% for column in feature.columns -%}
{{ nbsql.input(feature, column, loop.index, careful=careful or feature.floating) }}
{%- if not loop.last %},
{% endif %}
{%- endfor %}
{%- endmacro %}

{% macro multinomial_aggregates(model, feature, centre, careful) -%}
{% for column in feature.columns -%}
{% set x %}nbsql_x{{ nbsql.sub(feature, loop.index) }}{% endset -%}
,
  {{ nbsql.total(model, x) }} AS sum{{ nbsql.sub(feature, loop.index) }}
{%- endfor %}
{%- endmacro %}

{% macro multinomial_cells(feature, column) -%}
{% for name in feature.columns -%}
{% set n %}sum{{ nbsql.sub(feature, loop.index) }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, value=nbsql.text(name)) }}
{%- if not loop.last %}, {% endif %}
{%- endfor %}
{%- endmacro %}

{% macro multinomial_term(feature, k, part=none) -%}
{% set columns = [part] if part is not none else range(1, feature.columns | length + 1) | list -%}
{% for block in columns | batch(50) -%}
{% if columns | length > 50 %}({% endif -%}
{% for j in block -%}
{% set x %}number.nbsql_x{{ nbsql.sub(feature, j) }}{% endset -%}
{% set weight %}parameters.weight{{ nbsql.sub(feature, j) }}{{ nbsql.of(k) }}{% endset -%}
coalesce({% if feature.family.allows_zero %}CASE WHEN {{ x }} = 0 THEN 0 ELSE {{ x }} * {{ weight }} END{% else %}{{ x }} * {{ weight }}{% endif %}, 0)
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- if columns | length > 50 %}){% endif %}
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{% macro multinomial_weights(feature, column, degree) -%}
{% for name in feature.columns -%}
{% set weight %}weight{{ nbsql.sub(feature, loop.index) }}{% endset -%}
{{ nbsql.weight_of(feature, column, weight, 'x', nbsql.text(name)) }}{% if not loop.last %}, {% endif %}
{%- endfor %}
{%- endmacro %}

{# How many of the occurrences of a row that was drawn at random (sample.sql) are of this column. #}
{% macro multinomial_drawn(feature, seed, position) -%}
len(list_filter(coalesce(bag{{ nbsql.sub(feature) }}.bag, []), lambda token: token = {{ nbsql.text(feature.columns[position]) }}))
{%- endmacro %}
