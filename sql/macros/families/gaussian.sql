{#
  A number with a normal density in every class:

    ln p(x | c) = -ln(2 pi v_c) / 2 - (x - m_c)^2 / (2 v_c)

  m_c is the mean and v_c the variance m2 / n (or m2 / (n - 1), the sample variance), never under `floor` times the variance
  of the feature over all classes. With a shared variance v_c is that within the classes, the same for all: the sum of m2 over the
  sum of n, or over that of n - 1. A class without a value takes the mean and variance over all classes. A number that never
  varies says nothing and is left out of the score; with a floor of 0, one that varies in other classes only is all but certain.
#}

{# A number of a row less its centre, as a column, and in a careful scan the centre. #}
{% macro gaussian_inputs(feature, centre, careful, centred) -%}
{% if centred %}{% set centre %}means.centre{{ nbsql.feature_suffix(feature) }}{% endset %}{% endif -%}
{{ nbsql.input(feature, feature.column, centre=centre, careful=careful) }}
{%- if centred %},
{{ centre }} AS centre{{ nbsql.feature_suffix(feature) }}
{%- endif %}
{%- endmacro %}

{# Columns of a scan: the centre of a number, and about it n, its sum and the sum of its squares. #}
{% macro gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set x %}nbsql_x{{ i }}{% endset -%}

,
  {%+ if careful %}max(centre{{ i }}){% else %}{{ centre }}{%+ endif %} AS centre{{ i }},
  {{ nbsql.weighted_count(model, x) }} AS n{{ i }},
  {{ nbsql.class_total(model, x) }} AS sum{{ i }},
  {{ nbsql.summed_squares(model, x, careful) }} AS squares{{ i }}
{%- endmacro %}

{# One column of its one cell (`summed_cell`). #}
{% macro gaussian_cells(feature, column) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set n %}n{{ i }}{% endset -%}
{% set centre %}centre{{ i }}{% endset -%}
{% set total %}sum{{ i }}{% endset -%}
{% set squares %}squares{{ i }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, centre=centre, total=total, squares=squares) }}
{%- endmacro %}

{# The mean or the variance of a class; those of all classes, where it has no value. #}
{% macro gaussian_estimate(quantity, of) -%}
{% if quantity == 'mean' -%}
CASE WHEN {{ of('n') }} > 0 THEN {{ of('mean') }} ELSE {{ of('pooled_mean') }} END
{%- elif quantity == 'variance' -%}
{{ nbsql.floored_variance(nbsql.variance_of_class(of), of) }}
{%- endif %}
{%- endmacro %}

{# The variance of a class, of all classes where it has no value; 0 of too few values. #}
{% macro variance_of_class(of) -%}
CASE
  WHEN {{ of('n') }} > 0 THEN CASE WHEN {{ of('n') }} > {{ of('lost') }} THEN {{ of('m2') }} / ({{ of('n') }} - {{ of('lost') }}) ELSE 0 END
  WHEN {{ of('pooled_n') }} > {{ of('lost') }} THEN {{ of('pooled_m2') }} / ({{ of('pooled_n') }} - {{ of('lost') }})
END
{%- endmacro %}

{#
  With a share of the largest variance over all classes that any number of this distribution has: scikit-learn's var_smoothing. of also
  knows it: largest.
#}
{% macro smoothed_gaussian_estimate(quantity, of) -%}
{% if quantity == 'variance' %}{{ nbsql.variance_of_class(of) }} + {{ of('smoothing') }} * {{ of('largest') }}
{%- else %}{{ nbsql.gaussian_estimate(quantity, of) }}
{%- endif %}
{%- endmacro %}

{# of also knows the sums of n and m2 within the classes, and how many classes there are: within_n, within_m2, within_classes. #}
{% macro shared_gaussian_estimate(quantity, of) -%}
{% set counted %}({{ of('within_n') }} - {{ of('lost') }} * {{ of('within_classes') }}){% endset -%}
{% set variance %}CASE WHEN {{ counted }} > 0 THEN {{ of('within_m2') }} / {{ counted }} ELSE 0 END{% endset -%}
{% if quantity == 'variance' %}{{ nbsql.floored_variance(variance, of) }}{% else %}{{ nbsql.gaussian_estimate(quantity, of) }}{% endif %}
{%- endmacro %}

{% macro floored_variance(variance, of) -%}
{% set total %}{{ of('pooled_m2') }} / nullif({{ of('pooled_n') }}, 0){% endset -%}
greatest({{ variance }}, {{ of('floor') }} * {{ total }}, CASE WHEN {{ total }} > 0 THEN 1e-300 ELSE 0 END)
{%- endmacro %}

{#
  The mean and the variance of a class, of all classes where it has no number, for a density known by these: the variance is at least
  1e-10 times `scale`, at most `most`, and 0 of a number that never varies.
#}
{% macro moments_estimate(quantity, of, scale, most) -%}
{% set variance -%}
CASE WHEN {{ of('n') }} > 0 THEN {{ of('m2') }} / {{ of('n') }} ELSE {{ of('pooled_m2') }} / nullif({{ of('pooled_n') }}, 0) END
{%- endset -%}
{% if quantity == 'mean' -%}
{{ nbsql.gaussian_estimate('mean', of) }}
{%- elif quantity == 'variance' -%}
CASE WHEN {{ of('pooled_m2') }} > 0 THEN least(
  greatest({{ nbsql.floored_variance(variance, of) }}, {{ nbsql.number(1e-10) }} * {{ scale }}),
  {{ most }}
) ELSE 0 END
{%- endif %}
{%- endmacro %}

{# A parameter of the density of a class: mean, peak (its logarithm at the mean) or precision, half of 1 / variance. #}
{% macro gaussian_parameter(quantity, of) -%}
{% set variance = of('variance') -%}
{% if quantity == 'mean' %}{{ of('mean') }}
{%- elif quantity == 'peak' %}CASE WHEN {{ variance }} > 0 THEN -0.5 * ln({{ nbsql.number(6.283185307179586) }} * {{ variance }}) END
{%- elif quantity == 'precision' %}CASE WHEN {{ variance }} > 0 THEN 0.5 / {{ variance }} END
{%- endif %}
{%- endmacro %}

{% macro gaussian_density(x, of) -%}
{% set deviation %}({{ x }} - {{ of('mean') }}){% endset -%}
{{ of('peak') }} - {{ nbsql.weighted_square(of('precision'), deviation) }}
{%- endmacro %}


{#
  The terms of several numbers that no row lacked when the model was fitted. A guard takes DuckDB as long as the term; so they are added
  without one, and again with one a term for a row that does lack a number.
#}
{% macro far_terms(model, k) -%}
coalesce({% for block in model.far | batch(50) %}
{%+ if not loop.first %} + {%+ endif %}({% for feature in block -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% call(name) nbsql.density(feature.family, x) %}{{ nbsql.parameter_column(feature, name, k) }}{% endcall %}
{%- if not loop.last %} + {% endif %}{% endfor %}){% endfor %}, {{ nbsql.terms_of(model.far, k) | indent(2) }})
{%- endmacro %}

{#
  Those of them of which no class is far from another, in powers of how much a row is above the mean of the first class, d:

    ln p(x | c) = peak - precision (x - m_c)^2 = constant_c + 2 precision (m_c - m_1) d - precision d^2

  So a class takes one product of lists however many they are, which DuckDB plans and computes in a fraction of the time of the terms.
  Digits would cancel where m_c - m_1 is many standard deviations; then, and of a row that lacks a number, the terms are added one by one.
#}
{% macro near_terms(model, k) -%}
CASE
  WHEN number.nbsql_given IS NULL THEN parameters.constant_{{ k }}
    + list_inner_product(number.nbsql_above, parameters.slopes_{{ k }})
    - list_inner_product(number.nbsql_squares, parameters.precisions_{{ k }})
  {% if model.part_column %}
  ELSE {{ nbsql.terms_of(model.near, k) | indent(2) }}
  {% else %}
  {% set x %}given[1]{% endset %}
  {% set place %}given[2]{% endset %}
  ELSE coalesce(list_sum(list_transform(number.nbsql_given, lambda given: {% call(name) nbsql.density(model.near[0].family, x) -%}
  parameters.numbers[{{ nbsql.listed_parameter(model, name, k, place) }}]
  {%- endcall %})), 0)
  {% endif %}
END
{%- endmacro %}

{# Where in the list of all parameters one of class k is, by the place of the mean of its feature in the first class. #}
{% macro listed_parameter(model, name, k, place) -%}
{% set further = (k - 1) * (model.parameters | length) + {'mean': 0, 'peak': 1, 'precision': 2}[name] -%}
{{ place }}{% if further %} + {{ further }}{% endif %}
{%- endmacro %}

{# Where in the list of all parameters the means of these features in the first class are. #}
{% macro places_of_means(model) -%}
[{% for place in model.near_places %}{{ place }}{% if not loop.last %}, {% endif %}{% endfor %}]
{%- endmacro %}

{#
  Rows with the lists that `near_terms` multiplies, nbsql_above and nbsql_squares, and nbsql_given for a row whose terms are added one by
  one: its numbers, and the places of their means. The columns of the numbers end here, as every one of a query costs DuckDB time to plan;
  but where rows have parameters of their own, it is the columns that are added, and nbsql_given is empty: a list of all parameters would
  be copied for every row.
#}
{% macro with_powers(model, relation, parameters) -%}
{% set all = model.features | length == model.near | length -%}
{% set others %} NOT SIMILAR TO 'nbsql_x_
{%- if all %}.*{% else %}({% for feature in model.near %}{{ feature.index }}{% if not loop.last %}|{% endif %}{% endfor %}){% endif %}'
{%- endset -%}
(
  SELECT number.*, list_transform(number.nbsql_above, lambda above: above * above) AS nbsql_squares
  FROM (
    SELECT
      number.*{% if not model.part_column %}{{ others }}{% endif %},
      [
      {%- for feature in model.near %}
      {%- set i = nbsql.feature_suffix(feature) -%}
      coalesce(number.nbsql_x{{ i }} - parameters.mean{{ i }}_1, 0){% if not loop.last %}, {% endif %}
      {%- endfor -%}
      ] AS nbsql_above,
      CASE WHEN NOT parameters.is_near OR ({% for block in model.near | batch(50) -%}
      ({% for feature in block %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% if not loop.last %} + {% endif %}{% endfor %})
      {%- if not loop.last %} + {% endif %}
      {%- endfor %}) IS NULL THEN
      {%- if model.part_column %} []
      {%- else %} list_zip(
        [{% for feature in model.near %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% if not loop.last %}, {% endif %}{% endfor %}],
        {{ nbsql.places_of_means(model) }}
      )
      {%- endif %} END AS nbsql_given
    FROM {{ relation | indent(4) }}
    {{ nbsql.join_parameters(model, parameters, nbsql.word('number')) }}
  ) AS number
) AS number
{%- endmacro %}

{#
  The columns of the parameters that `near_terms` reads beside those of each number: whether no class is more than a hundred standard
  deviations from the first, by class a constant and its lists, and the list of all parameters. Of relations with that list, numbers,
  and the places of the means of the first class in it, places.
#}
{% macro near_parameters(model) -%}
{% set place %}place{% endset -%}
{% set first %}numbers[place]{% endset -%}
{% for k in model.class_numbers -%}
{% set above %}(numbers[{{ nbsql.listed_parameter(model, 'mean', k, place) }}] - {{ first }}){% endset -%}
{% set precision %}numbers[{{ nbsql.listed_parameter(model, 'precision', k, place) }}]{% endset -%}
{% set squares %}{{ precision }} * {{ nbsql.square(above) }}{% endset -%}
{%+ if not loop.first %}    AND {%+ endif %}len(list_filter(places, lambda place: {{ squares }} <= 5000)) = len(places)
{%- endfor %} AS is_near
{%- for k in model.class_numbers %}
{%- set above %}(numbers[{{ nbsql.listed_parameter(model, 'mean', k, place) }}] - {{ first }}){% endset %}
{%- set peak %}numbers[{{ nbsql.listed_parameter(model, 'peak', k, place) }}]{% endset %}
{%- set precision %}numbers[{{ nbsql.listed_parameter(model, 'precision', k, place) }}]{% endset %},
  list_sum(list_transform(places, lambda place: {{ peak }} - {{ precision }} * {{ nbsql.square(above) }})) AS constant_{{ k }},
  CASE WHEN is_near THEN list_transform(places, lambda place: 2 * {{ precision }} * {{ above }}) END AS slopes_{{ k }},
  CASE WHEN is_near THEN list_transform(places, lambda place: {{ precision }}) END AS precisions_{{ k }}
{%- endfor %}
{%- if not model.part_column %},
  numbers
{%- endif %}
{%- endmacro %}

{% macro gaussian_drawn(feature, seed, position) -%}
{% set i = nbsql.feature_suffix(feature) -%}
numbers.mean{{ i }} + sqrt(numbers.variance{{ i }}) * {{ nbsql.standard_normal(seed, feature) }}
{%- endmacro %}

{# (x - m)^2 in its powers. #}
{% macro gaussian_weights(feature, column, degree) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set constant %}peak{{ i }} - precision{{ i }} * mean{{ i }} * mean{{ i }}{% endset -%}
{% set slope %}2 * precision{{ i }} * mean{{ i }}{% endset -%}
{% set curve %}-precision{{ i }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, slope) }}
{%- if feature.family.degree == 2 %}, {{ nbsql.weight_of(feature, column, curve, 'x^2') }}{% endif %}
{%- endmacro %}
