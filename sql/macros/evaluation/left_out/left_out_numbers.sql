{#
  Numbers with a row left out. Subtracting a value from a mean and a sum of squares would cancel digits if that value holds most of the
  squares, as an outlier does. So the moments of a class are kept in three parts, its smallest value, its largest value and those between,
  and combined again without the row (Chan, Golub and LeVeque 1983). A value removed from the inner part is never farther out than the
  ends that stay, and the values removed from an end are copies of one number.

    ends  one row per class: class, and for every number low and n_low (how many have the smallest value), high and n_high, and for the
          numbers between n_inner, mean_inner, m2_inner
#}

{# One row per class: for each number its lowest and highest value, how often each occurs, and n, mean and m2 of those between. #}
{% macro outermost_values(model, source, features) -%}
{% set rows -%}
(
  {% set counted %}(SELECT * FROM {{ source }} AS source WHERE {{ nbsql.is_counted(model) }}){% endset -%}
  {{ nbsql.scan_inputs(model, counted, features, careful=true) | indent(2) }}
)
{%- endset -%}
{% set w %}{% if model.spec.weight %}rows.weight{% else %}1{% endif %}{% endset -%}
WITH outermost AS (
  SELECT
    class
    {%- for feature in features %}
    {%- set i = nbsql.feature_suffix(feature) %},
    min(nbsql_x{{ i }}) AS low{{ i }},
    max(nbsql_x{{ i }}) AS high{{ i }}
    {%- endfor +%}
  FROM {{ rows }} AS rows
  GROUP BY class
),
middles AS (
  SELECT
    rows.class
    {%- for feature in features %}
    {%- set i = nbsql.feature_suffix(feature) %},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * (rows.nbsql_x{{ i }} - outermost.low{{ i }}) END)
      / sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} END)
      + {{ nbsql.common_value(nbsql.word('outermost') ~ '.low' ~ i) }} AS middle{{ i }}
    {%- endfor +%}
  FROM {{ rows }} AS rows
  JOIN outermost ON outermost.class = rows.class
  GROUP BY rows.class
)
SELECT
  class
  {%- for feature in features %}
  {%- set i = nbsql.feature_suffix(feature) %},
  low{{ i }},
  high{{ i }},
  n_low{{ i }},
  n_high{{ i }},
  n_inner{{ i }},
  middle{{ i }} + sum_inner{{ i }} / n_inner{{ i }} AS mean_inner{{ i }},
  greatest(squares_inner{{ i }} - sum_inner{{ i }} * sum_inner{{ i }} / n_inner{{ i }}, 0) AS m2_inner{{ i }}
  {%- endfor +%}
FROM (
  SELECT
    rows.class
    {%- for feature in features %}
    {%- set i = nbsql.feature_suffix(feature) %}
    {%- set x %}rows.nbsql_x{{ i }}{% endset %}
    {%- set gap %}({{ x }} - middles.middle{{ i }}){% endset %},
    {{ nbsql.common_value(nbsql.word('outermost') ~ '.low' ~ i) }} AS low{{ i }},
    {{ nbsql.common_value(nbsql.word('outermost') ~ '.high' ~ i) }} AS high{{ i }},
    {{ nbsql.common_value(nbsql.word('middles') ~ '.middle' ~ i) }} AS middle{{ i }},
    sum(CASE WHEN {{ x }} = outermost.low{{ i }} THEN {{ w }} ELSE 0 END) AS n_low{{ i }},
    {% set is_high %}{{ x }} = outermost.high{{ i }} AND outermost.high{{ i }} > outermost.low{{ i }}{% endset %}
    sum(CASE WHEN {{ is_high }} THEN {{ w }} ELSE 0 END) AS n_high{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} END) AS n_inner{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * {{ gap }} END) AS sum_inner{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * {{ gap }} * {{ gap }} END) AS squares_inner{{ i }}
    {%- endfor +%}
  FROM {{ rows }} AS rows
  JOIN outermost ON outermost.class = rows.class
  JOIN middles ON middles.class = rows.class
  GROUP BY rows.class
) AS sums
{%- endmacro %}

{# Whether a number is neither the smallest nor the largest of its class. #}
{% macro is_inner(i) -%} rows.nbsql_x{{ i }} > outermost.low{{ i }} AND rows.nbsql_x{{ i }} < outermost.high{{ i }} {%- endmacro %}

{#
  Rows with own_n, own_mean and own_m2, of their class without them, and all_n, all_mean and all_m2, of all classes without them; in
  steps, each of which needs the one before.
#}
{% macro left_out_moments(features, values, classes) -%}
SELECT
  rows.*
  {%- for feature in features %}
  {%- set i = nbsql.feature_suffix(feature) %},
  rows.own_m2{{ i }} + rows.others_m2{{ i }}
    + CASE
      WHEN rows.own_n{{ i }} > 0 AND rows.others_n{{ i }} > 0
        THEN (rows.own_mean{{ i }} - rows.others_mean{{ i }}) * (rows.own_mean{{ i }} - rows.others_mean{{ i }})
          * rows.own_n{{ i }} * rows.others_n{{ i }} / rows.all_n{{ i }}
      ELSE 0
    END AS all_m2{{ i }},
  CASE
    WHEN rows.own_n{{ i }} > 0 AND rows.others_n{{ i }} > 0
      THEN rows.others_mean{{ i }} + rows.own_n{{ i }} * (rows.own_mean{{ i }} - rows.others_mean{{ i }}) / rows.all_n{{ i }}
    WHEN rows.own_n{{ i }} > 0 THEN rows.own_mean{{ i }}
    ELSE rows.others_mean{{ i }}
  END AS all_mean{{ i }}
  {%- endfor +%}
FROM (
  SELECT
    rows.*
    {%- for feature in features %}
    {%- set i = nbsql.feature_suffix(feature) %},
    rows.own_n{{ i }} + rows.others_n{{ i }} AS all_n{{ i }},
    coalesce(
      rows.m2_inner{{ i }}
        + rows.n_inner{{ i }} * (rows.mean_inner{{ i }} - rows.own_mean{{ i }}) * (rows.mean_inner{{ i }} - rows.own_mean{{ i }})
        + rows.n_low{{ i }} * (rows.low{{ i }} - rows.own_mean{{ i }}) * (rows.low{{ i }} - rows.own_mean{{ i }})
        + rows.n_high{{ i }} * (rows.high{{ i }} - rows.own_mean{{ i }}) * (rows.high{{ i }} - rows.own_mean{{ i }}),
      0
    ) AS own_m2{{ i }}
    {%- endfor +%}
  FROM (
    SELECT
      rows.*
      {%- for feature in features %}
      {%- set i = nbsql.feature_suffix(feature) %}
      {%- set n %}rows.n_inner{{ i }} + rows.n_low{{ i }} + rows.n_high{{ i }}{% endset %}
      {# A value of a part that remains. Means are taken about it, so that copies of one number have exactly that mean and no variance. #}
      {%- set left -%}
      CASE
        WHEN rows.n_low{{ i }} > 0 THEN rows.low{{ i }}
        WHEN rows.n_inner{{ i }} > 0 THEN rows.mean_inner{{ i }}
        ELSE rows.high{{ i }}
      END
      {%- endset %},
      {{ n }} AS own_n{{ i }},
      {{ left }} + (
        {%- for part in ['low', 'high', 'mean_inner'] %}
        {%- set x %}rows.{{ nbsql.word(part) }}{{ i }}{% endset %}
        {% if not loop.first %} + {% endif %}rows.n_{{ nbsql.word(part | replace('mean_', '')) }}{{ i }} * ({{ x }} - {{ left }})
        {%- endfor %}) / nullif({{ n }}, 0) AS own_mean{{ i }}
      {%- endfor +%}
    FROM (
      SELECT
        rows.*
        {%- for feature in features %},
        {{ nbsql.left_out_ends(feature) | indent(8) }}
        {%- endfor +%}
      FROM {{ nbsql.subquery(values) | indent(6) }} AS rows
      JOIN {{ classes }} AS own ON own.class_no = rows.nbsql_own
    ) AS rows
    {{- nbsql.optimisation_fence() | indent(4) }}
  ) AS rows
) AS rows
{%- endmacro %}

{# The parts of the row's own class without the row, and the numbers of the others that it needs. #}
{% macro left_out_ends(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% set x %}rows.nbsql_x{{ i }}{% endset -%}
{% set w = nbsql.word('rows.nbsql_weight') -%}
{% set inside %}{{ x }} > own.low{{ i }} AND {{ x }} < own.high{{ i }}{% endset -%}
{% set n %}coalesce(own.n_inner{{ i }}, 0){% endset -%}
{% set taken %}CASE WHEN {{ inside }} THEN {{ w }} ELSE 0 END{% endset -%}
own.low{{ i }},
own.high{{ i }},
{% for end in ['low', 'high'] %}
{% set n_end %}coalesce(own.n_{{ nbsql.word(end) }}{{ i }}, 0){% endset %}
{% set taken_end %}CASE WHEN {{ x }} = own.{{ nbsql.word(end) }}{{ i }} THEN {{ w }} ELSE 0 END{% endset %}
{{ nbsql.remaining_count(n_end, taken_end) }} AS n_{{ nbsql.word(end) }}{{ i }},
{% endfor %}
{{ nbsql.remaining_count(n, taken) }} AS n_inner{{ i }},
coalesce(
  own.mean_inner{{ i }} - CASE
    WHEN {{ inside }} THEN {{ w }} * ({{ x }} - own.mean_inner{{ i }}) / nullif(own.n_inner{{ i }} - {{ w }}, 0)
    ELSE 0
  END,
  own.low{{ i }}
) AS mean_inner{{ i }},
coalesce(
  greatest(
    own.m2_inner{{ i }} - CASE
      WHEN {{ inside }}
        THEN {{ w }} * ({{ x }} - own.mean_inner{{ i }}) * ({{ x }} - own.mean_inner{{ i }})
          * own.n_inner{{ i }} / nullif(own.n_inner{{ i }} - {{ w }}, 0)
      ELSE 0
    END,
    0
  ),
  0
) AS m2_inner{{ i }},
coalesce(own.others_n{{ i }}, 0) AS others_n{{ i }},
own.others_mean{{ i }},
coalesce(own.others_m2{{ i }}, 0) AS others_m2{{ i }}
{%- if feature.family.distribution == 'shared_gaussian' %},
coalesce(own.within_m2{{ i }}, 0) AS within_m2{{ i }},
coalesce(own.within_classes{{ i }}, 0) AS within_classes{{ i }}
{%- endif %}
{%- endmacro %}

{# The moments of a class: without the row for the row's own, unchanged for the others. #}
{% macro left_out_cells(feature) -%}
{% set i = nbsql.feature_suffix(feature) -%}
{% for quantity in ['n', 'mean', 'm2'] -%}
{% set q = nbsql.word(quantity) -%}
{% set of_class %}{% if quantity == 'mean' %}classes.mean{{ i }}{% else %}coalesce(classes.{{ q }}{{ i }}, 0){% endif %}{% endset -%}
{% set given %}CASE WHEN classes.class_no = rows.nbsql_own THEN rows.own_{{ q }}{{ i }} ELSE {{ of_class }} END{% endset -%}
{{ given }} AS {{ q }}{{ i }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- if feature.family.zeros %}
{%- set zeros %}coalesce(classes.zeros{{ i }}, 0){% endset %}
{%- set taken %}CASE WHEN rows.nbsql_zero{{ i }} = 1 THEN {{ nbsql.word('rows.nbsql_weight') }} ELSE 0 END{% endset %},
{{ nbsql.remaining_count(zeros, nbsql.removed_from_own_class(taken)) }} AS zeros{{ i }}
{%- endif %}
{%- endmacro %}

{#
  A family's estimates for a class without the row: new_mean, new_variance and new_rate, as far as it has them, each with a comma before.
#}
{% macro left_out_estimate(feature) -%}
{% for quantity in ['mean', 'variance', 'rate'] -%}
{% set estimate -%}
{% call(name) nbsql.estimate_of(feature.family, quantity) %}{{ nbsql.left_out_estimate_input(feature, name) }}{% endcall %}
{%- endset -%}
{% if estimate %},
{{ estimate }} AS new_{{ nbsql.word(quantity) }}{{ nbsql.feature_suffix(feature) }}
{%- endif %}
{%- endfor %}
{%- endmacro %}

{# A known number of an estimate (families/numbers.sql). #}
{% macro left_out_estimate_input(feature, name) -%}
{% set i, options = nbsql.feature_suffix(feature), feature.family.estimate_options -%}
{% if name in options %}{{ nbsql.number_or_null(options[name]) }}
{%- elif name == 'within_n' %}number.all_n{{ i }}
{%- elif name == 'within_m2' %}(number.within_m2{{ i }} + number.own_m2{{ i }})
{%- elif name == 'within_classes' %}(number.within_classes{{ i }} + CASE WHEN number.own_n{{ i }} > 0 THEN 1 ELSE 0 END)
{%- else %}number.{{ nbsql.word(name | replace('pooled_', 'all_')) }}{{ i }}
{%- endif %}
{%- endmacro %}

{# The parameters that its term reads. #}
{% macro left_out_number_parameters(feature) -%}
{% for parameter in feature.family.parameters -%}
{% set value -%}
{% call(name) nbsql.parameter_of(feature.family, parameter.quantity) -%}
number.new_{{ nbsql.word(name) }}{{ nbsql.feature_suffix(feature) }}
{%- endcall %}
{%- endset -%}
{{ nbsql.packed_parameter(nbsql.word(parameter.name) ~ nbsql.feature_suffix(feature), value) }}{{ nbsql.comma_line(loop) }}
{%- endfor %}
{%- endmacro %}
