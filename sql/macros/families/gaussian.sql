{#
  A number with a normal density in every class:

    ln p(x | c) = -ln(2 pi v_c) / 2 - (x - m_c)^2 / (2 v_c)

  m_c is the mean and v_c the variance m2 / n (or m2 / (n - 1), the sample variance), at least `floor` times the variance of the feature
  over all classes. With a shared variance, v_c is the variance within the classes, the same for all: the sum of m2 over the sum of n, or
  over that of n - 1. A class without a value takes the mean and variance over all classes. A number that never varies is left out of the
  score. With a floor of 0, a number that does not vary in one class but does in others is all but certain there.
#}

{% macro gaussian_inputs(feature, centre, careful, centred) -%}
{{ nbsql.centred_input(feature, nbsql.scan_value(nbsql.number_of(feature.column), careful), centre, centred) }}
{%- endmacro %}

{# A number of a row less its centre, as a column, and in a careful scan the centre. x: the number. #}
{% macro centred_input(feature, x, centre, centred) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% if centred %}{% set centre %}means.centre{{ i }}{% endset %}{% endif -%}
{{ x }}{% if centre is not none %} - {{ centre }}{% endif %} AS nbsql_x{{ i }}
{%- if centred %},
{{ centre }} AS centre{{ i }}
{%- endif %}
{%- endmacro %}

{# The aggregates of a scan: the centre of a number, and about it n, the sum and the sum of squares. #}
{% macro gaussian_aggregates(model, feature, centre, careful) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set x %}nbsql_x{{ i }}{% endset -%}

,
  {%+ if careful %}max(centre{{ i }}){% else %}{{ centre }}{%+ endif %} AS centre{{ i }},
  {{ nbsql.weighted_count(model, x) }} AS n{{ i }},
  {{ nbsql.class_total(model, x) }} AS sum{{ i }},
  {{ nbsql.summed_squares(model, x, careful) }} AS squares{{ i }}
{%- endmacro %}

{# One column of its single cell (`summed_cell`). #}
{% macro gaussian_cells(feature, column) -%}
{% if column in ['n', 'centre', 'squares'] %}{{ nbsql.of_feature(column, feature) }}
{%- elif column == 'total' %}{{ nbsql.of_feature('sum', feature) }}
{%- else %}{{ nbsql.summed_cell(feature, column, none) }}
{%- endif %}
{%- endmacro %}

{# The mean or the variance of a class, or of all classes if it has no value. #}
{% macro gaussian_estimate(quantity, get) -%}
{% if quantity == 'mean' -%}
CASE WHEN {{ get('n') }} > 0 THEN {{ get('mean') }} ELSE {{ get('pooled_mean') }} END
{%- elif quantity == 'variance' -%}
{{ nbsql.floored_variance(nbsql.variance_of_class(get), get) }}
{%- endif %}
{%- endmacro %}

{# The variance of a class, or of all classes if it has no value; 0 if there are too few values. #}
{% macro variance_of_class(get) -%}
{% set n, lost = get('n'), get('lost') -%}
CASE
  WHEN {{ n }} > 0 THEN CASE WHEN {{ n }} > {{ lost }} THEN {{ get('m2') }} / ({{ n }} - {{ lost }}) ELSE 0 END
  WHEN {{ get('pooled_n') }} > {{ get('lost') }} THEN {{ get('pooled_m2') }} / ({{ get('pooled_n') }} - {{ get('lost') }})
END
{%- endmacro %}

{#
  Adds a share of the largest variance over all classes that any number of this distribution has: scikit-learn's var_smoothing. get also
  has `largest`.
#}
{% macro smoothed_gaussian_estimate(quantity, get) -%}
{% if quantity == 'variance' %}{{ nbsql.variance_of_class(get) }} + {{ get('smoothing') }} * {{ get('largest') }}
{%- else %}{{ nbsql.gaussian_estimate(quantity, get) }}
{%- endif %}
{%- endmacro %}

{# get also has the sums of n and m2 within the classes and the number of classes: within_n, within_m2, within_classes. #}
{% macro shared_gaussian_estimate(quantity, get) -%}
{% set counted %}({{ get('within_n') }} - {{ get('lost') }} * {{ get('within_classes') }}){% endset -%}
{% set variance %}CASE WHEN {{ counted }} > 0 THEN {{ get('within_m2') }} / {{ counted }} ELSE 0 END{% endset -%}
{% if quantity == 'variance' %}{{ nbsql.floored_variance(variance, get) }}{% else %}{{ nbsql.gaussian_estimate(quantity, get) }}{% endif %}
{%- endmacro %}

{# A variance, at least `floor` times the variance over all classes; above 0 unless the number never varies. #}
{% macro floored_variance(variance, get) -%}
{% set total %}{{ get('pooled_m2') }} / nullif({{ get('pooled_n') }}, 0){% endset -%}
{% set floor %}{{ get('floor') }} * {{ total }}{% endset -%}
{% set tiny %}CASE WHEN {{ total }} > 0 THEN 1e-300 ELSE 0 END{% endset -%}
{{ nbsql.largest([variance, floor, tiny]) }}
{%- endmacro %}

{#
  The mean and the variance of a class, or of all classes if it has no number, for a density that these determine. The variance is at
  least 1e-10 times `scale` and at most `most`, if the density has such bounds, and 0 for a number that never varies.
#}
{% macro moments_estimate(quantity, get, scale=none, most=none) -%}
{% set variance -%}
CASE WHEN {{ get('n') }} > 0 THEN {{ get('m2') }} / {{ get('n') }} ELSE {{ get('pooled_m2') }} / nullif({{ get('pooled_n') }}, 0) END
{%- endset -%}
{% if quantity == 'mean' -%}
{{ nbsql.gaussian_estimate('mean', get) }}
{%- elif quantity == 'variance' -%}
{% set floored = nbsql.floored_variance(variance, get) -%}
{% set bounded -%}
{% if scale is not none -%}
{% set lowest %}{{ nbsql.number(1e-10) }} * {{ scale }}{% endset -%}
{{ nbsql.smallest([nbsql.largest([floored, lowest]), most]) }}
{%- endif %}
{%- endset -%}
CASE WHEN {{ get('pooled_m2') }} > 0 THEN {{ floored if scale is none else bounded }} ELSE 0 END
{%- endif %}
{%- endmacro %}

{# A parameter of the density of a class: mean, peak (its logarithm at the mean) or precision, half of 1 / variance. #}
{% macro gaussian_parameter(quantity, get) -%}
{% set variance = get('variance') -%}
{% if quantity == 'mean' %}{{ get('mean') }}
{%- elif quantity == 'peak' %}CASE WHEN {{ variance }} > 0 THEN -0.5 * ln({{ nbsql.number(6.283185307179586) }} * {{ variance }}) END
{%- elif quantity == 'precision' %}CASE WHEN {{ variance }} > 0 THEN 0.5 / {{ variance }} END
{%- endif %}
{%- endmacro %}

{% macro gaussian_density(x, get) -%}
{% set deviation %}({{ x }} - {{ get('mean') }}){% endset -%}
{{ get('peak') }} - {{ nbsql.weighted_square(get('precision'), deviation) }}
{%- endmacro %}

{#
  The sum of the terms of several numbers that no row of the fit lacked. In DuckDB a guard takes as long as the term. So the terms are
  added without guards, and a second time with one guard a term for a row that does lack a number.
#}
{% macro unguarded_terms(model, k) -%}
coalesce({% call(feature) nbsql.sum_in_blocks(model.form.unguarded_numbers) -%}
{% set x %}number.nbsql_x{{ nbsql.feature_suffix(feature) }}{% endset -%}
{% call(name) nbsql.density(feature.family, x) %}{{ nbsql.parameter_column(feature, name, k) }}{% endcall %}
{%- endcall %}, {{ nbsql.sum_of_terms(model.form.unguarded_numbers, k) | indent(2) }})
{%- endmacro %}

{#
  The sum of those terms for which no class is far from another. They are expanded in powers of the distance d of a row from an origin,
  the mean of the first class:

    ln p(x | c) = peak - precision (x - m_c)^2 = constant_c + 2 precision (m_c - m_1) d - precision d^2,    d = x - m_1

  So a class takes two products of lists, and the first class one, however many numbers there are. DuckDB plans and computes these in a
  fraction of the time of the terms. If m_c - m_1 is many standard deviations, digits would cancel. Then, and for a row that lacks a number,
  the terms are added one by one.
#}
{% macro expanded_terms(model, k) -%}
{% set above %}above{% endset -%}
CASE
  WHEN number.nbsql_whole THEN parameters.constant_{{ k }}
    {% if k != 1 %}
    + list_inner_product(number.nbsql_above, parameters.slopes_{{ k }})
    {% endif %}
    {%- if not model.form.shares_squares +%}
    - list_inner_product(number.nbsql_squares, parameters.precisions_{{ k }})
    {%- endif +%}
  ELSE coalesce(list_sum(list_transform(
    number.nbsql_above,
    {% set density %}
    {% call(name) nbsql.density(model.form.numbers_in_lists[0].family, above) -%}
    {% if name == 'mean' %}(parameters.means_{{ k }}[place] - parameters.origins[place])
    {%- else %}parameters.{{ nbsql.word(name) }}s_{{ k }}[place]
    {%- endif %}
    {%- endcall %}
    {%- endset %}
    lambda above, place: CASE WHEN abs(above) <= 1e150 THEN {{ density | trim }} END
  )), 0)
END
{%- endmacro %}

{# What these terms leave out, if the squares say the same in all classes. #}
{% macro expanded_common() -%}
CASE WHEN number.nbsql_whole THEN -list_inner_product(number.nbsql_squares, parameters.precisions_1) ELSE 0 END
{%- endmacro %}

{#
  Rows with the lists that `expanded_terms` multiplies, nbsql_above and nbsql_squares, and nbsql_whole, whether the row has all numbers. The
  lists are assembled where the numbers are read, because every column of a query costs DuckDB planning time. A missing number is replaced
  by infinity, because a product of lists rejects a NULL even in a row that it need not multiply. The product of the list with itself then
  shows whether all numbers are present.
#}
{% macro with_powers(model, relation, parameters) -%}
(
  SELECT
    number.*,
    list_transform(number.nbsql_above, lambda above: above * above) AS nbsql_squares,
    parameters.is_near AND list_inner_product(number.nbsql_above, number.nbsql_above) <= 1e300 AS nbsql_whole
  FROM (
    SELECT
      source.*,
      [
        {% for feature in model.form.numbers_in_lists %}
        {% set is_omitted = feature.index in model.form.omitted_numbers %}
        {% set x %}{% if is_omitted %}NULL{% else %}source.{{ nbsql.ident(feature.column) }}{% endif %}{% endset %}
        {% set given %}coalesce(CAST({{ x }} AS {{ nbsql.double() }}), {{ nbsql.infinity() }}){% endset %}
        {{ given }} - parameters.origins[{{ loop.index }}]{{ nbsql.comma(loop) }}
        {% endfor %}
      ] AS nbsql_above
    FROM {{ relation | indent(4) }} AS source
    {{- nbsql.join_parameters(model, parameters, nbsql.word('source')) | indent(4) }}
  ) AS number
  {{- nbsql.join_parameters(model, parameters, nbsql.word('number')) | indent(2) }}
)
{%- endmacro %}

{#
  The parameters of these numbers, in one row: means, peaks and precisions, each a list by class of lists by number, and what
  `expanded_terms` reads beside them: is_near, whether no class is more than a hundred standard deviations from the first; origins, with 0
  where one class is; constants by class; and slopes by class and number. They are computed in steps, because an expression that another one
  names is computed again, and before the classes become columns, because each column of a query costs DuckDB planning time.
#}
{% macro expanded_parameters(model) -%}
{% set quantities = ['mean', 'peak', 'precision'] -%}
{% set above %}(mean - origins[place]){% endset -%}
{% set fall %}precisions[class_no][place] * {{ nbsql.square(above) }}{% endset -%}
SELECT
  *,
  list_transform(means, lambda means, class_no: list_sum(list_transform(
    means, lambda mean, place: peaks[class_no][place] - {{ fall }}
  ))) AS constants,
  list_transform(means, lambda means, class_no: list_transform(
    means, lambda mean, place: 2 * precisions[class_no][place] * {{ above }}
  )) AS slopes
FROM (
  SELECT * REPLACE (CASE WHEN is_near THEN origins ELSE list_transform(origins, lambda mean: 0.0) END AS origins)
  FROM (
    SELECT
      *,
      list_bool_and(list_transform(means, lambda means, class_no: len(means) = len(list_filter(
        means, lambda mean, place: {{ fall }} <= 5000
      )))) AS is_near
    FROM (
      SELECT
        {% for quantity in quantities %}
        {% set name %}{{ nbsql.word(quantity) }}s{% endset %}
        {{ nbsql.ordered_list(name, nbsql.word('class_no')) }} AS {{ name }},
        {% endfor %}
        arg_min(means, class_no) AS origins
      FROM (
        SELECT
          classes.class_no
          {%- for quantity in quantities %}
          {%- set is_weighted = model.options.weights and quantity != 'mean' %}
          {%- set number -%}
          {%+ if is_weighted %}weights.weight * {%+ endif %}
          {%- call(name) nbsql.parameter_of(model.form.numbers_in_lists[0].family, quantity) %}smoothed.{{ nbsql.word(name) }}{% endcall %}
          {%- endset %},
          {{ nbsql.ordered_list(number, nbsql.word('place')) }} AS {{ nbsql.word(quantity) }}s
          {%- endfor +%}
        FROM classes
        JOIN (
          SELECT
            unnest([
              {%- for feature in model.form.numbers_in_lists -%}
              {{ nbsql.text(feature.name) }}{{ nbsql.comma_blank(loop) }}
              {%- endfor -%}
            ]) AS feature,
            unnest([{% for feature in model.form.numbers_in_lists %}{{
              loop.index }}{{ nbsql.comma_blank(loop) }}{% endfor %}]) AS place
        ) AS numbers ON TRUE
        LEFT JOIN smoothed ON smoothed.class = classes.class AND smoothed.feature = numbers.feature
        {% if model.options.weights %}
        LEFT JOIN weights ON weights.class_no = classes.class_no AND weights.feature = numbers.feature
        {% endif %}
        GROUP BY classes.class_no
      ) AS of_classes
    ) AS listed
  ) AS listed
) AS listed
{%- endmacro %}

{% macro gaussian_drawn(feature, seed, position) -%}
{% set i = nbsql.feature_suffix(feature) -%}
numbers.mean{{ i }} + sqrt(numbers.variance{{ i }}) * {{ nbsql.standard_normal(seed, feature) }}
{%- endmacro %}

{# The powers of (x - m)^2. #}
{% macro gaussian_weights(feature, column, degree) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set constant %}peak{{ i }} - precision{{ i }} * mean{{ i }} * mean{{ i }}{% endset -%}
{% set slope %}2 * precision{{ i }} * mean{{ i }}{% endset -%}
{% set curve %}-precision{{ i }}{% endset -%}
{{ nbsql.linear_weight(feature, column, constant, '1') }}, {{ nbsql.linear_weight(feature, column, slope) }}
{%- if feature.family.degree == 2 %}, {{ nbsql.linear_weight(feature, column, curve, 'x^2') }}{% endif %}
{%- endmacro %}
