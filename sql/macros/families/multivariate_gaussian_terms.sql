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
{{ nbsql.matrix_columns_by_class(feature, class_numbers, 'nbsql_d', nbsql.deviation_from_mean) }}
{%- endmacro %}

{# W (x - m) of a row in each class, or, shared, about the middle: columns nbsql_z. #}
{% macro multivariate_gaussian_steps(feature, class_numbers) -%}
{{ nbsql.matrix_columns_by_class(feature, class_numbers, 'nbsql_z', nbsql.whitened_value) }}
{%- endmacro %}

{# One column per class, or a single one if they share a matrix, and column j of the feature. value: the macro of its expression. #}
{% macro matrix_columns_by_class(feature, class_numbers, name, value) -%}
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
{{ nbsql.list_as_text(nbsql.list_of(numbers, nbsql.double())) }}
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

{#
  The same terms of features of many columns, whose means, slopes and rows of W are lists of a class: one product of lists for each row of
  W, however many columns there are. The lists are NULL if a class lacks one of their numbers, and then the term is 0.
#}
{% macro matrix_terms(model, k) -%}
{% for feature in model.form.matrices_in_lists -%}
{% set rest -%}
{% if not feature.family.shared %}{{ nbsql.matrix_distance(feature, k) }}
{%- else %}list_dot_product({{ nbsql.parameter_column(feature, 'slopes', k) }}, {{ nbsql.of_feature('number.nbsql_d', feature) }}_1)
{%- endif %}
{%- endset -%}
CASE WHEN {{ nbsql.of_feature('number.nbsql_whole', feature) }} THEN coalesce(
  {{ nbsql.parameter_column(feature, 'peak', k) }} + {{ rest }}, 0
) ELSE 0 END{% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# Of classes that share W, the part of the term that they share. #}
{% macro matrix_common(feature) -%}
CASE WHEN {{ nbsql.of_feature('number.nbsql_whole', feature) }} THEN coalesce({{ nbsql.matrix_distance(feature, 1) }}, 0) ELSE 0 END
{%- endmacro %}

{# -|W (x - m)|^2 / 2 from such lists. #}
{% macro matrix_distance(feature, k) -%}
{% set row %}list_dot_product(white, {{ nbsql.of_feature('number.nbsql_d', feature) }}_{{ k }}){% endset -%}
{% set whitened = nbsql.list_mapped(nbsql.parameter_column(feature, 'whites', k), row, 'white') -%}
-0.5 * {{ nbsql.sum_of_whitened_squares(whitened) }}
{%- endmacro %}

{#
  Rows with the list x - m of such a feature for each class, or, shared, about the middle: columns nbsql_d; and whether the row has all
  numbers, nbsql_whole. A missing one deviates by 0, because a product of lists rejects a NULL even in a row that it need not multiply.
#}
{% macro with_deviations(model, relation, parameters) -%}
(
  SELECT
    number.*
    {%- for feature in model.form.matrices_in_lists %}
    {%- set given = nbsql.of_feature('number.nbsql_given', feature) %},
    list_count({{ given }}) = {{ feature.columns | length }} AS {{ nbsql.of_feature('nbsql_whole', feature) }}
    {%- for k in ([1] if feature.family.shared else model.form.class_numbers) %},
    {% set deviation %}coalesce(x - {{ nbsql.parameter_column(feature, 'means', k) }}[place], 0){% endset %}
    {{ nbsql.list_mapped(given, deviation, place='place') }} AS {{ nbsql.of_feature('nbsql_d', feature) }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM (
    SELECT
      source.*
      {%- for feature in model.form.matrices_in_lists %},
      {% set numbers %}{% for column in feature.columns %}{{ nbsql.number_of(column) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
      {% set means %}{% for mean in feature.family.means or [] %}{{ nbsql.number(mean) }}{{ nbsql.comma(loop) }}{% endfor %}{% endset %}
      {% set x = nbsql.finite(nbsql.word('x')) %}
      {% set x %}{% if means %}coalesce({{ x }}, [{{ means }}][place]){% else %}{{ x }}{% endif %}{% endset %}
      {{ nbsql.list_mapped('[' ~ numbers ~ ']', x, place='place') }} AS {{ nbsql.of_feature('nbsql_given', feature) }}
      {%- endfor +%}
    FROM {{ relation | indent(4) }} AS source
  ) AS number
  {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(2) }}
)
{%- endmacro %}

{#
  A list of a class from the list of all parameters: those that follow the first one, at a place; of a matrix the rows, each completed by
  zeros. It is NULL if one of them is. A part of a list keeps all elements, of which a product of lists rejects a NULL, until it is mapped.
#}
{% macro parameters_of_matrix(item, place) -%}
{% set p = item.feature.columns | length -%}
{% set paired = item.parameter.paired -%}
{% set count = p * (p + 1) // 2 if paired else p -%}
{% set all %}numbers[{{ place }}:{{ place + count - 1 }}]{% endset -%}
{% set row %}numbers[{{ place }} + j * (j - 1) // 2:{{ place - 1 }} + j * (j + 1) // 2]{% endset -%}
{% set row %}list_resize({{ row }}, {{ p }}){% endset -%}
{% set known %}coalesce(x, 0){% endset -%}
{% set row = nbsql.list_mapped(row, known) -%}
CASE WHEN list_count({{ all }}) = {{ count }} THEN {% if paired -%}
{{ nbsql.list_mapped(nbsql.list_of_whole_numbers(1, p + 1), row, 'j') }}
{%- else %}{{ nbsql.list_mapped(all, known) }}{% endif %} END
{%- endmacro %}

{# An element of these lists, one row per class. #}
{% macro unnested_parameter_of_matrix(model, item) -%}
{% set column = item.parameter.column -%}
{% set j = (((8 * column + 1) ** 0.5 - 1) / 2) | round(method='ceil') | int if item.parameter.paired else none -%}
{% set element %}{% if j %}[{{ j }}][{{ column - j * (j - 1) // 2 }}]{% else %}[{{ column }}]{% endif %}{% endset -%}
{% set name = nbsql.of_feature(item.parameter.name ~ 's', item.feature) -%}
{% if item.parameter.common %}{{ name }}_1{{ element }}
{%- else -%}
unnest({% call(k) nbsql.array_of_each(model.form.class_numbers) %}{{ name }}_{{ k }}{{ element }}{% endcall %})
{%- endif %}
{%- endmacro %}
