{#
  Columns of counts that share one total, such as the words of a document laid out in columns:

    sum over the columns t of  x_t ln((n_ct + alpha_t) / (n_c + sum of alpha))

  n_ct is the sum of column t in class c, n_c that of all columns. The estimate is Dirichlet's (dirichlet.sql) with the columns as
  declared levels. 0 ln 0 is 0.
#}

{# The counts of a row, as columns. #}
{% macro multinomial_inputs(feature, centre, careful, centred) -%}
{% for column in feature.columns -%}
{{ nbsql.number_input(feature, column, loop.index, careful=careful or feature.floating) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}

{# The aggregates of a scan: the sum of each count. #}
{% macro multinomial_aggregates(model, feature, centre, careful) -%}
{% for column in feature.columns -%}
,
  {{ nbsql.class_total(model, nbsql.of_feature('nbsql_x', feature, loop.index)) }} AS sum{{ nbsql.feature_suffix(feature, loop.index) }}
{%- endfor %}
{%- endmacro %}

{# One column of its cells, one cell a count: the elements of a list. #}
{% macro multinomial_cells(feature, column) -%}
{% for name in feature.columns -%}
{{ nbsql.summed_cell(feature, column, nbsql.of_feature('sum', feature, loop.index), value=nbsql.text(name)) }}
{{- nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endmacro %}

{# The sum of the counts of a row, each times its weight in class k, or of the count with the number `part` alone. #}
{% macro multinomial_term(feature, k, part=none) -%}
{% call(j) nbsql.sum_in_blocks([part] if part is not none else range(1, feature.columns | length + 1) | list) -%}
{% set x, weight = nbsql.of_feature('number.nbsql_x', feature, j), nbsql.parameter_column(feature, 'weight', k, j) -%}
{% set impossible = weight == nbsql.number(-1e305) -%} {# minus infinity, in a standalone scorer #}
{% set product %}{% if not impossible %}{{ x }} * {% endif %}{{ weight }}{% endset -%}
{% set counted %}CASE WHEN {{ x }} <> 0 THEN {{ product }} END{% endset -%}
coalesce({% if feature.family.allows_zero or impossible %}{{ counted }}{% else %}{{ product }}{% endif %}, 0)
{%- endcall %}
{%- endmacro %}

{# Its weights in a linear form, one a count. #}
{% macro multinomial_weights(feature, column, degree) -%}
{% for name in feature.columns -%}
{% set weight %}weight{{ nbsql.feature_suffix(feature, loop.index) }}{% endset -%}
{{ nbsql.linear_weight(feature, column, weight, 'x', nbsql.text(name)) }}{{ nbsql.comma_blank(loop) }}
{%- endfor %}
{%- endmacro %}

{# The number of occurrences of this column in a row drawn at random (sample.sql). #}
{% macro default__multinomial_drawn(feature, seed, position) -%}
{% set bag %}coalesce(bag{{ nbsql.feature_suffix(feature) }}.bag, []){% endset -%}
len(list_filter({{ bag }}, lambda token: token = {{ nbsql.text(feature.columns[position]) }}))
{%- endmacro %}
