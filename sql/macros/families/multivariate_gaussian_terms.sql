{# How numbers with a covariance matrix (multivariate_gaussian.sql) score rows, and their weights in a linear form. #}

{#
  The term in class k. Shared: the linear part of each class, about the middle of the classes, and the square that all classes have in
  common; in the wide form scoring keeps that square apart.
#}
{% macro multivariate_gaussian_term(feature, k, part=none) -%}
{% set shared = feature.family.shared -%}
{% set shared_k = none if k is none else 1 -%}
coalesce({{ nbsql.parameter_column(feature, 'peak', k) }}
{%- if shared %}
{%- for j in range(1, feature.columns | length + 1) %} + {{ nbsql.parameter_column(feature, 'slope', k, j) }}
{{- ' * ' }}{{ nbsql.deviation(feature, j, shared_k) }}
{%- endfor %}
{%- endif %}
{%- if k is none or not shared %} + {{ nbsql.whitened_distance(feature, k) }}{% endif %}, 0)
{%- endmacro %}

{% macro multivariate_gaussian_common(feature, k) -%} coalesce({{ nbsql.whitened_distance(feature, k) }}, 0) {%- endmacro %}

{#
  -|W (x - m)|^2 / 2, with the matrix and mean of class k. In the wide form x - m and W (x - m) are columns of earlier steps, because they
  would otherwise be written out in dozens of terms. In the long form W (x - m) is a list, whose sum ignores a missing number.
#}
{% macro whitened_distance(feature, k) -%}
{% set numbers = range(1, feature.columns | length + 1) -%}
{% if k is none -%}
{% set whites %}{% for j in numbers %}{{ nbsql.whitened_value(feature, j, none) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset -%}
-0.5 * {{ nbsql.sum_of_whitened_squares(nbsql.list_of(whites, nbsql.double())) }} + 0 * (
{%- for j in numbers %}number.nbsql_x{{ nbsql.feature_suffix(feature, j) }}{% if not loop.last %} + {% endif %}{% endfor %})
{%- else -%}
-0.5 * (
{%- for j in numbers -%}
{% set z %}number.nbsql_z{{ nbsql.feature_suffix(feature, j) }}_{{ k }}{% endset -%}
{{ nbsql.square_of_whitened(z) }}{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- endif %}
{%- endmacro %}

{# The deviations x - m of a row from the mean of each class, or, shared, from the middle: columns nbsql_d. #}
{% macro multivariate_gaussian_first_steps(feature, class_numbers) -%}
{{ nbsql.columns_by_class(feature, class_numbers, 'nbsql_d', nbsql.deviation_from_mean) }}
{%- endmacro %}

{# W (x - m) of a row in each class, or, shared, about the middle: columns nbsql_z. #}
{% macro multivariate_gaussian_steps(feature, class_numbers) -%}
{{ nbsql.columns_by_class(feature, class_numbers, 'nbsql_z', nbsql.whitened_value) }}
{%- endmacro %}

{# One column per class, or a single one if they share a matrix, and column j of the feature. value: the macro of its expression. #}
{% macro columns_by_class(feature, class_numbers, name, value) -%}
{% for k in ([1] if feature.family.shared else class_numbers) -%}
{% set last = loop.last -%}
{% for j in range(1, feature.columns | length + 1) -%}
{{ value(feature, j, k) }} AS {{ nbsql.of_feature(name, feature, j) }}_{{ k }}{% if not (last and loop.last) %},
{% endif %}
{%- endfor %}
{%- endfor %}
{%- endmacro %}

{# Row j of W (x - m). #}
{% macro whitened_value(feature, j, k) -%}
{% for i in range(1, j + 1) -%}
{{ nbsql.parameter_column(feature, 'white', k, j * (j - 1) // 2 + i) }} * {{ nbsql.deviation(feature, i, k) }}
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# x_j - m_j; in the wide form the column of the step. #}
{% macro deviation(feature, j, k) -%}
{% if k is none %}{{ nbsql.deviation_from_mean(feature, j, none) }}{% else %}number.nbsql_d_{{ feature.index }}_{{ j }}_{{ k }}{% endif %}
{%- endmacro %}

{% macro deviation_from_mean(feature, j, k) -%}
(number.nbsql_x{{ nbsql.feature_suffix(feature, j) }} - {{ nbsql.parameter_column(feature, 'mean', k, j) }})
{%- endmacro %}

{# The numbers of a row as the text of a list, for an explanation. #}
{% macro multivariate_gaussian_value(feature, relation) -%}
{% set numbers -%}
{% for column in feature.columns %}CAST({{ relation }}.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){{ nbsql.comma(loop) }}{% endfor %}
{%- endset -%}
CAST([{{ numbers }}] AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endmacro %}

{#
  Its weights in a linear form: those of x and, if each class has its own matrix, of its products. With P = W'W,
  ln p is -x'Px / 2 + m'Px - m'Pm / 2.
#}
{% macro multivariate_gaussian_weights(feature, column, degree) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set p = feature.columns | length -%}
{% set constant -%}
peak{{ i }}
{%- for j in range(1, p + 1) %}
{%- if feature.family.shared %} - slope{{ nbsql.feature_suffix(feature, j) }} * mean{{ nbsql.feature_suffix(feature, j) }}
{%- else %} - 0.5 * pow({{ nbsql.whitened_mean(feature, j) }}, 2){% endif %}
{%- endfor %}
{%- endset -%}
{{ nbsql.linear_weight(feature, column, constant, '1') }}
{%- for name in feature.columns %}
{%- set a = loop.index %}
{%- set slope -%}
{% if feature.family.shared -%}
slope{{ nbsql.feature_suffix(feature, a) }}
{%- else -%}
{% for j in range(a, p + 1) -%}
{{ nbsql.whitening_column(feature, j, a) }} * {{ nbsql.whitened_mean(feature, j) }}{% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endif %}
{%- endset -%}
, {{ nbsql.linear_weight(feature, column, slope, 'x', nbsql.text(name)) }}
{%- if not feature.family.shared %}
{%- for other in feature.columns[:a] %}
{%- set b = loop.index %}
{%- set product -%}
-{% if a == b %}0.5{% else %}1{% endif %} * (
{%- for j in range(a, p + 1) -%}
{{ nbsql.whitening_column(feature, j, a) }} * {{ nbsql.whitening_column(feature, j, b) }}{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- endset -%}
, {{ nbsql.linear_weight(feature, column, product, 'x^2' if a == b else 'x y', nbsql.text(name), none if a == b else nbsql.text(other)) }}
{%- endfor %}
{%- endif %}
{%- endfor %}
{%- endmacro %}

{# The parameter in row j and column i of W, a triangle whose elements are numbered row by row. #}
{% macro whitening_column(feature, j, i) -%} white{{ nbsql.feature_suffix(feature, j * (j - 1) // 2 + i) }} {%- endmacro %}

{# Row j of W m. #}
{% macro whitened_mean(feature, j) -%}
({% for i in range(1, j + 1) -%}
{{ nbsql.whitening_column(feature, j, i) }} * mean{{ nbsql.feature_suffix(feature, i) }}{% if not loop.last %} + {% endif %}
{%- endfor %})
{%- endmacro %}
