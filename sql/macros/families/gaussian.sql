{#
  A number with a normal density in every class:

    ln p(x | c) = -ln(2 pi v_c) / 2 - (x - m_c)^2 / (2 v_c)

  m_c is the mean and v_c the variance m2 / n (or m2 / (n - 1), the sample variance), never under `floor` times the variance
  of the feature over all classes. With a shared variance v_c is that within the classes, the same for all: the sum of m2 over the
  sum of n, or over that of n - 1. A class without a value takes the mean and variance over all classes. A number that never
  varies says nothing and is left out of the score; with a floor of 0, one that varies in other classes only is all but certain.
#}

{% macro gaussian_inputs(feature, centre, careful, centred) -%}
{% if centred %}{% set centre %}means.centre{{ nbsql.sub(feature) }}{% endset %}{% endif -%}
{{ nbsql.input(feature, feature.column, centre=centre, careful=careful) }}
{%- if centred %},
{{ centre }} AS centre{{ nbsql.sub(feature) }}
{%- endif %}
{%- endmacro %}

{% macro gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}nbsql_x{{ i }}{% endset -%}
{% set square %}nbsql_x{{ i }} * nbsql_x{{ i }}{% endset -%}
,
  {%+ if careful %}max(centre{{ i }}){% else %}{{ centre }}{%+ endif %} AS centre{{ i }},
  {{ nbsql.tally(model, x) }} AS n{{ i }},
  {{ nbsql.total(model, x) }} AS sum{{ i }},
  {{ nbsql.total(model, square) }} AS squares{{ i }}
{%- endmacro %}

{% macro gaussian_cells(feature, column) -%}
{% set i = nbsql.sub(feature) -%}
{% set n %}n{{ i }}{% endset -%}
{% set centre %}centre{{ i }}{% endset -%}
{% set total %}sum{{ i }}{% endset -%}
{% set squares %}squares{{ i }}{% endset -%}
{{ nbsql.summed_cell(feature, column, n, centre=centre, total=total, squares=squares) }}
{%- endmacro %}

{% macro gaussian_likelihoods(features) -%}
{% set shared = features | selectattr('family.shared_variance') | list -%}
{% set own -%}
CASE
  WHEN cells.n > 0 THEN CASE WHEN cells.n > options.lost THEN cells.m2 / (cells.n - options.lost) ELSE 0 END
  WHEN pooled.n > options.lost THEN pooled.m2 / (pooled.n - options.lost)
END
{%- endset -%}
{% set variance %}greatest(variance, floor * total_variance, CASE WHEN total_variance > 0 THEN 1e-300 ELSE 0 END){% endset -%}
SELECT
  {{ nbsql.number_likelihood(mean=nbsql.word('mean'), variance=variance) }}
FROM (
  SELECT
    classes.class,
    options.feature,
    options.floor,
    pooled.m2 / pooled.n AS total_variance,
    CASE WHEN cells.n > 0 THEN cells.mean ELSE pooled.mean END AS mean,
    {% if shared %}
    CASE WHEN options.shared THEN CASE WHEN within_classes.n > options.lost * within_classes.classes THEN within_classes.m2 / (within_classes.n - options.lost * within_classes.classes) ELSE 0 END ELSE {{ own | indent(4) }} END
    {%- else %}
    {{ own | indent(4) }}
    {%- endif %} AS variance
  FROM classes
  CROSS JOIN (
    VALUES
      {% for feature in features %}
      ({{ nbsql.text(feature.name) }}, {{ nbsql.number(feature.family.floor) }}, {% if feature.family.variance == 'sample' %}1{% else %}0{% endif %}{% if shared %}, {% if feature.family.shared_variance %}TRUE{% else %}FALSE{% endif %}{% endif %}){{ nbsql.comma(loop) }}
      {% endfor %}
  ) AS options(feature, floor, lost{% if shared %}, shared{% endif %})
  LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
  LEFT JOIN (
    {{ nbsql.pooled(nbsql.word('moments'), ['feature']) | indent(4) }}
  ) AS pooled ON pooled.feature = options.feature
  {%- if shared %}

  LEFT JOIN (
    SELECT feature, sum(m2) AS m2, sum(n) AS n, count(*) AS classes FROM moments GROUP BY feature
  ) AS within_classes ON within_classes.feature = options.feature
  {%- endif %}

) AS estimates
{%- endmacro %}

{% macro gaussian_quantities() %}

WHEN 'mean' THEN smoothed.mean
WHEN 'peak' THEN CASE WHEN smoothed.variance > 0 THEN -0.5 * ln({{ nbsql.number(6.283185307179586) }} * smoothed.variance) END
WHEN 'precision' THEN CASE WHEN smoothed.variance > 0 THEN 0.5 / smoothed.variance END
{%- endmacro %}

{% macro gaussian_term(feature, k, part=none) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}number.nbsql_x{{ i }}{% endset -%}
{% set c %}{{ i }}{{ nbsql.of(k) }}{% endset -%}
coalesce(parameters.peak{{ c }} - parameters.precision{{ c }} * ({{ x }} - parameters.mean{{ c }}) * ({{ x }} - parameters.mean{{ c }}), 0)
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
  CASE WHEN parameters.peaks_{{ k }} IS NOT NULL THEN {% if model.own %}{{ nbsql.terms_of(model.complete, k) | indent(2) }}{% else %}{{ nbsql.listed_terms_of_numbers(model, k) | indent(2) }}{% endif %} END,
  0
)
{%- endmacro %}

{# The sum of the terms of the numbers that a row has, as short as it can be. #}
{% macro listed_terms_of_numbers(model, k) -%}
list_sum(list_transform(
  list_zip(
    [{% for feature in model.complete %}number.nbsql_x{{ nbsql.sub(feature) }}{{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}],
    {{ nbsql.complete_places(model, k) }}
  ),
  lambda pair: parameters.numbers[pair[2] + 1] - parameters.numbers[pair[2] + 2] * (pair[1] - parameters.numbers[pair[2]]) * (pair[1] - parameters.numbers[pair[2]])
))
{%- endmacro %}

{# Where in the list of all parameters the mean of each of these numbers in class k is; 1 further is its peak, and 2 its precision. #}
{% macro complete_places(model, k, further=0) -%}
[{% for place in model.complete_places %}{{ (k - 1) * (model.parameters | length) + place + further }}{% if not loop.last %}, {% endif %}{% endfor %}]
{%- endmacro %}

{% macro complete_squares(features, k) -%}
{% for block in features | batch(50) -%}
{% if features | length > 50 %}({% endif -%}
{% for feature in block -%}
{% set c %}{{ nbsql.sub(feature) }}_{{ k }}{% endset -%}
{% set deviation %}(number.nbsql_x{{ nbsql.sub(feature) }} - parameters.mean{{ c }}){% endset -%}
parameters.precision{{ c }} * {{ deviation }} * {{ deviation }}{% if not loop.last %} + {% endif %}
{%- endfor %}
{%- if features | length > 50 %}){% endif %}
{%- if not loop.last %} + {% endif %}
{%- endfor %}
{%- endmacro %}

{# What these read beside the parameters of each number: by class the sum of the peaks, and the list of all parameters. #}
{% macro complete_parameters(model) -%}
{% for k in model.class_numbers -%}
{%+ if not loop.first %}  {%+ endif %}list_sum(list_select(numbers, {{ nbsql.complete_places(model, k, 1) }})) AS peaks_{{ k }}{% if not loop.last or not model.own %},
{% endif %}
{%- endfor %}
{%- if not model.own %}
  numbers
{%- endif %}
{%- endmacro %}

{% macro gaussian_drawn(feature, seed, position) -%}
numbers.mean{{ nbsql.sub(feature) }} + sqrt(numbers.variance{{ nbsql.sub(feature) }}) * {{ nbsql.standard_normal(seed, feature) }}
{%- endmacro %}

{# (x - m)^2 in its powers. #}
{% macro gaussian_weights(feature, column, degree) -%}
{% set i = nbsql.sub(feature) -%}
{% set constant %}peak{{ i }} - precision{{ i }} * mean{{ i }} * mean{{ i }}{% endset -%}
{% set slope %}2 * precision{{ i }} * mean{{ i }}{% endset -%}
{% set curve %}-precision{{ i }}{% endset -%}
{{ nbsql.weight_of(feature, column, constant, '1') }}, {{ nbsql.weight_of(feature, column, slope) }}
{%- if feature.family.degree == 2 %}, {{ nbsql.weight_of(feature, column, curve, 'x^2') }}{% endif %}
{%- endmacro %}
