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
  The terms of several numbers that no row lacked when the model was fitted. A guard takes DuckDB as long as the term; so they are
  added without one, the peaks as one number, and only for a row that does lack a number, one by one. That sum stands in a CASE,
  because DuckDB takes what several classes have in common out of a coalesce, here the list of the numbers, and computes it for
  every row, but not out of a CASE: an eighth of the time of a prediction. Where rows meet parameters of their own, lists would be
  copied for every row; there it is as long as it would be without all this.
#}
{% macro complete_terms(model, k) -%}
coalesce(
  parameters.peaks_{{ k }} - ({{ nbsql.complete_squares(model.complete, k) }}),
  CASE WHEN parameters.peaks_{{ k }} IS NOT NULL THEN
  {%- if model.part_column %} {{ nbsql.terms_of(model.complete, k) | indent(2) }}
  {%- else %} {{ nbsql.listed_terms_of_numbers(model, k) | indent(2) }}
  {%- endif %} END,
  0
)
{%- endmacro %}

{# The sum of the terms of the numbers that a row has, as short as it can be. #}
{% macro listed_terms_of_numbers(model, k) -%}
{% set further = {'mean': 0, 'peak': 1, 'precision': 2} -%}
list_sum(list_transform(
  list_zip(
    [{% for feature in model.complete %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% if not loop.last %}, {% endif %}{% endfor %}],
    {{ nbsql.complete_places(model, k) }}
  ),
  lambda pair: {% call(name) nbsql.density(model.complete[0].family, nbsql.word('pair') ~ '[1]') -%}
  parameters.numbers[pair[2]{% if further[name] %} + {{ further[name] }}{% endif %}]
  {%- endcall %}

))
{%- endmacro %}

{# Where in the list of all parameters the mean of each of these numbers in class k is; 1 further is its peak, and 2 its precision. #}
{% macro complete_places(model, k, further=0) -%}
{% set before_class = (k - 1) * (model.parameters | length) -%}
[{% for place in model.complete_places %}{{ before_class + place + further }}{% if not loop.last %}, {% endif %}{% endfor %}]
{%- endmacro %}

{# The sum of the weighted squares of some numbers in class k; in blocks, because an expression may not nest as deep. #}
{% macro complete_squares(features, k) -%}
{% for block in features | batch(50) -%}
{% if features | length > 50 %}({% endif -%}
{% for feature in block -%}
{% set c %}{{ nbsql.feature_suffix(feature) }}_{{ k }}{% endset -%}
{% set precision %}parameters.precision{{ c }}{% endset -%}
{% set deviation %}(number.nbsql_x{{ nbsql.feature_suffix(feature) }} - parameters.mean{{ c }}){% endset -%}
{{ nbsql.weighted_square(precision, deviation) }}{% if not loop.last %} + {% endif %}
{%- endfor %}
{%- if features | length > 50 %}){% endif %}
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# The parameters that `complete_terms` reads beside those of each number: by class the sum of the peaks, and the list of all parameters. #}
{% macro complete_parameters(model) -%}
{% for k in model.class_numbers -%}
{%+ if not loop.first %}  {%+ endif %}list_sum(list_select(numbers, {{ nbsql.complete_places(model, k, 1) }})) AS peaks_{{ k }}
{%- if not loop.last or not model.part_column %},
{% endif %}
{%- endfor %}
{%- if not model.part_column %}
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
