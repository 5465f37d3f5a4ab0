{#
  Numbers with a row left out. To subtract a value from a mean and a sum of squares would cancel digits where that value holds most of
  the squares, as an outlier does. So the moments of a class are kept in three parts, its least value, its greatest and those between,
  and put together again without the row (Chan, Golub and LeVeque 1983): a value that is taken out of the inner part is never farther
  out than the ends that stay, and what is taken out of an end are copies of one number.

    ends  a row a class: class, and for every number low and n_low (how many have the least value), high and n_high, and of the
          numbers between n_inner, mean_inner, m2_inner
#}

{% macro ends(model, source, features) -%}
{% set rows -%}
(
  {% set counted %}(SELECT * FROM {{ source }} AS source WHERE {{ nbsql.counted(model) }}){% endset -%}
  {{ nbsql.projected(model, counted, features, careful=true) | indent(2) }}
)
{%- endset -%}
{% set w %}{% if model.weight %}rows.weight{% else %}1{% endif %}{% endset -%}
WITH outermost AS (
  SELECT
    class
    {%- for feature in features %}
    {%- set i = nbsql.sub(feature) %},
    min(nbsql_x{{ i }}) AS low{{ i }},
    max(nbsql_x{{ i }}) AS high{{ i }}
    {%- endfor %}

  FROM {{ rows }} AS rows
  GROUP BY class
),
middles AS (
  SELECT
    rows.class
    {%- for feature in features %}
    {%- set i = nbsql.sub(feature) %},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * (rows.nbsql_x{{ i }} - outermost.low{{ i }}) END)
      / sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} END) + {{ nbsql.any_of(nbsql.word('outermost') ~ '.low' ~ i) }} AS middle{{ i }}
    {%- endfor %}

  FROM {{ rows }} AS rows
  JOIN outermost ON outermost.class = rows.class
  GROUP BY rows.class
)
SELECT
  class
  {%- for feature in features %}
  {%- set i = nbsql.sub(feature) %},
  low{{ i }},
  high{{ i }},
  n_low{{ i }},
  n_high{{ i }},
  n_inner{{ i }},
  middle{{ i }} + sum_inner{{ i }} / n_inner{{ i }} AS mean_inner{{ i }},
  greatest(squares_inner{{ i }} - sum_inner{{ i }} * sum_inner{{ i }} / n_inner{{ i }}, 0) AS m2_inner{{ i }}
  {%- endfor %}

FROM (
  SELECT
    rows.class
    {%- for feature in features %}
    {%- set i = nbsql.sub(feature) %}
    {%- set x %}rows.nbsql_x{{ i }}{% endset %}
    {%- set gap %}({{ x }} - middles.middle{{ i }}){% endset %},
    {{ nbsql.any_of(nbsql.word('outermost') ~ '.low' ~ i) }} AS low{{ i }},
    {{ nbsql.any_of(nbsql.word('outermost') ~ '.high' ~ i) }} AS high{{ i }},
    {{ nbsql.any_of(nbsql.word('middles') ~ '.middle' ~ i) }} AS middle{{ i }},
    sum(CASE WHEN {{ x }} = outermost.low{{ i }} THEN {{ w }} ELSE 0 END) AS n_low{{ i }},
    sum(CASE WHEN {{ x }} = outermost.high{{ i }} AND outermost.high{{ i }} > outermost.low{{ i }} THEN {{ w }} ELSE 0 END) AS n_high{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} END) AS n_inner{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * {{ gap }} END) AS sum_inner{{ i }},
    sum(CASE WHEN {{ nbsql.is_inner(i) }} THEN {{ w }} * {{ gap }} * {{ gap }} END) AS squares_inner{{ i }}
    {%- endfor %}

  FROM {{ rows }} AS rows
  JOIN outermost ON outermost.class = rows.class
  JOIN middles ON middles.class = rows.class
  GROUP BY rows.class
) AS sums
{%- endmacro %}

{% macro is_inner(i) -%}
rows.nbsql_x{{ i }} > outermost.low{{ i }} AND rows.nbsql_x{{ i }} < outermost.high{{ i }}
{%- endmacro %}

{#
  Rows with own_n, own_mean and own_m2, of their class without them, and all_n, all_mean and all_m2, of all classes without them; in
  steps, each of which needs the one before.
#}
{% macro left_out_moments(features, values, classes) -%}
SELECT
  rows.*
  {%- for feature in features %}
  {%- set i = nbsql.sub(feature) %},
  rows.own_m2{{ i }} + rows.others_m2{{ i }}
    + CASE WHEN rows.own_n{{ i }} > 0 AND rows.others_n{{ i }} > 0 THEN (rows.own_mean{{ i }} - rows.others_mean{{ i }}) * (rows.own_mean{{ i }} - rows.others_mean{{ i }}) * rows.own_n{{ i }} * rows.others_n{{ i }} / rows.all_n{{ i }} ELSE 0 END AS all_m2{{ i }},
  CASE
    WHEN rows.own_n{{ i }} > 0 AND rows.others_n{{ i }} > 0 THEN rows.others_mean{{ i }} + rows.own_n{{ i }} * (rows.own_mean{{ i }} - rows.others_mean{{ i }}) / rows.all_n{{ i }}
    WHEN rows.own_n{{ i }} > 0 THEN rows.own_mean{{ i }}
    ELSE rows.others_mean{{ i }}
  END AS all_mean{{ i }}
  {%- endfor %}

FROM (
  SELECT
    rows.*
    {%- for feature in features %}
    {%- set i = nbsql.sub(feature) %},
    rows.own_n{{ i }} + rows.others_n{{ i }} AS all_n{{ i }},
    coalesce(
      rows.m2_inner{{ i }}
        + rows.n_inner{{ i }} * (rows.mean_inner{{ i }} - rows.own_mean{{ i }}) * (rows.mean_inner{{ i }} - rows.own_mean{{ i }})
        + rows.n_low{{ i }} * (rows.low{{ i }} - rows.own_mean{{ i }}) * (rows.low{{ i }} - rows.own_mean{{ i }})
        + rows.n_high{{ i }} * (rows.high{{ i }} - rows.own_mean{{ i }}) * (rows.high{{ i }} - rows.own_mean{{ i }}),
      0
    ) AS own_m2{{ i }}
    {%- endfor %}

  FROM (
    SELECT
      rows.*
      {%- for feature in features %}
      {%- set i = nbsql.sub(feature) %},
      rows.n_inner{{ i }} + rows.n_low{{ i }} + rows.n_high{{ i }} AS own_n{{ i }},
      rows.low{{ i }} + (rows.n_inner{{ i }} * (rows.mean_inner{{ i }} - rows.low{{ i }}) + rows.n_high{{ i }} * (rows.high{{ i }} - rows.low{{ i }}))
        / nullif(rows.n_inner{{ i }} + rows.n_low{{ i }} + rows.n_high{{ i }}, 0) AS own_mean{{ i }}
      {%- endfor %}

    FROM (
      SELECT
        rows.*
        {%- for feature in features %},
        {{ nbsql.left_out_ends(feature) | indent(8) }}
        {%- endfor %}

      FROM (
        {{ values | indent(8) }}
      ) AS rows
      JOIN {{ classes }} AS own ON own.class_no = rows.nbsql_own
    ) AS rows
  ) AS rows
) AS rows
{%- endmacro %}

{# The parts of the row's own class without the row, and what it needs of the others. #}
{% macro left_out_ends(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set x %}rows.nbsql_x{{ i }}{% endset -%}
{% set w = nbsql.left_out_row_weight() -%}
{% set inside %}{{ x }} > own.low{{ i }} AND {{ x }} < own.high{{ i }}{% endset -%}
{% set n %}coalesce(own.n_inner{{ i }}, 0){% endset -%}
{% set taken %}CASE WHEN {{ inside }} THEN {{ w }} ELSE 0 END{% endset -%}
own.low{{ i }},
own.high{{ i }},
{% for end in ['low', 'high'] %}
{% set n_end %}coalesce(own.n_{{ nbsql.word(end) }}{{ i }}, 0){% endset %}
{% set taken_end %}CASE WHEN {{ x }} = own.{{ nbsql.word(end) }}{{ i }} THEN {{ w }} ELSE 0 END{% endset %}
{{ nbsql.left_over(n_end, taken_end) }} AS n_{{ nbsql.word(end) }}{{ i }},
{% endfor %}
{{ nbsql.left_over(n, taken) }} AS n_inner{{ i }},
coalesce(
  own.mean_inner{{ i }} - CASE WHEN {{ inside }} THEN {{ w }} * ({{ x }} - own.mean_inner{{ i }}) / nullif(own.n_inner{{ i }} - {{ w }}, 0) ELSE 0 END,
  own.low{{ i }}
) AS mean_inner{{ i }},
coalesce(
  greatest(
    own.m2_inner{{ i }} - CASE WHEN {{ inside }} THEN {{ w }} * ({{ x }} - own.mean_inner{{ i }}) * ({{ x }} - own.mean_inner{{ i }}) * own.n_inner{{ i }} / nullif(own.n_inner{{ i }} - {{ w }}, 0) ELSE 0 END,
    0
  ),
  0
) AS m2_inner{{ i }},
coalesce(own.others_n{{ i }}, 0) AS others_n{{ i }},
own.others_mean{{ i }},
coalesce(own.others_m2{{ i }}, 0) AS others_m2{{ i }}
{%- if feature.family.distribution == 'gaussian' and feature.family.shared_variance %},
coalesce(own.within_m2{{ i }}, 0) AS within_m2{{ i }},
coalesce(own.within_classes{{ i }}, 0) AS within_classes{{ i }}
{%- endif %}
{%- endmacro %}

{# The moments of a class: of the row's own without it, of the others as they are. #}
{% macro left_out_cells(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% for quantity in ['n', 'mean', 'm2'] -%}
{% set q = nbsql.word(quantity) -%}
CASE WHEN classes.class_no = rows.nbsql_own THEN rows.own_{{ q }}{{ i }} ELSE {% if quantity == 'mean' %}classes.mean{{ i }}{% else %}coalesce(classes.{{ q }}{{ i }}, 0){% endif %} END AS {{ q }}{{ i }}
{%- if not loop.last %},
{% endif %}
{%- endfor %}
{%- endmacro %}


{#
  What the families estimate from n, mean and m2 of a class, and all_n, all_mean and all_m2, as their <distribution>_likelihoods do:
  first what others follow from, then the parameters of their terms.
#}

{% macro gaussian_left_out(feature) -%}
{% set i, family = nbsql.sub(feature), feature.family -%}
{% set lost %}{% if family.variance == 'sample' %}1{% else %}0{% endif %}{% endset -%}
{% set pooled %}number.all_m2{{ i }} / nullif(number.all_n{{ i }}, 0){% endset -%}
{% set within %}(number.all_n{{ i }} - {{ lost }} * (number.within_classes{{ i }} + CASE WHEN number.own_n{{ i }} > 0 THEN 1 ELSE 0 END)){% endset -%}
CASE WHEN number.n{{ i }} > 0 THEN number.mean{{ i }} ELSE number.all_mean{{ i }} END AS centre{{ i }},
greatest(
  {% if family.shared_variance %}
  CASE WHEN {{ within }} > 0 THEN (number.within_m2{{ i }} + number.own_m2{{ i }}) / {{ within }} ELSE 0 END
  {%- else %}
  CASE
    WHEN number.n{{ i }} > 0 THEN CASE WHEN number.n{{ i }} > {{ lost }} THEN number.m2{{ i }} / (number.n{{ i }} - {{ lost }}) ELSE 0 END
    WHEN number.all_n{{ i }} > {{ lost }} THEN number.all_m2{{ i }} / (number.all_n{{ i }} - {{ lost }})
  END
  {%- endif %},
  {{ nbsql.number(family.floor) }} * {{ pooled }},
  CASE WHEN {{ pooled }} > 0 THEN 1e-300 ELSE 0 END
) AS variance{{ i }}
{%- endmacro %}

{% macro gaussian_left_out_parameters(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set variance %}number.variance{{ i }}{% endset -%}
{% set mean %}number.centre{{ i }}{% endset -%}
{% set peak %}CASE WHEN {{ variance }} > 0 THEN -0.5 * ln({{ nbsql.number(6.283185307179586) }} * {{ variance }}) END{% endset -%}
{% set precision %}CASE WHEN {{ variance }} > 0 THEN 0.5 / {{ variance }} END{% endset -%}
{{ nbsql.packed(nbsql.word('mean') ~ i, mean) }},
{{ nbsql.packed(nbsql.word('peak') ~ i, peak) }},
{{ nbsql.packed(nbsql.word('precision') ~ i, precision) }}
{%- endmacro %}

{% macro normal_inverse_gamma_left_out(feature) -%}
{% set i, family = nbsql.sub(feature), feature.family -%}
{% set prior = family.prior -%}
{% set kappa, a = nbsql.number(prior.kappa), nbsql.number(prior.a) -%}
{% set centre %}{% if prior.mean is none %}number.all_mean{{ i }}{% else %}{{ nbsql.number(prior.mean) }}{% endif %}{% endset -%}
{% set pooled %}number.all_m2{{ i }} / nullif(number.all_n{{ i }}, 0){% endset -%}
{% set gap %}(number.mean{{ i }} - {{ centre }}){% endset -%}
CASE WHEN number.n{{ i }} > 0 THEN {{ centre }} + number.n{{ i }} * {{ gap }} / ({{ kappa }} + number.n{{ i }}) ELSE {{ centre }} END AS centre{{ i }},
CASE WHEN number.all_n{{ i }} > 0 THEN greatest(
  ({% if prior.b is none %}({{ a }} + {{ nbsql.number(family.divisor) }}) * {{ pooled }}{% else %}{{ nbsql.number(prior.b) }}{% endif %} + number.m2{{ i }} / 2
    + CASE WHEN number.n{{ i }} > 0 THEN {{ kappa }} * number.n{{ i }} * {{ gap }} * {{ gap }} / (2 * ({{ kappa }} + number.n{{ i }})) ELSE 0 END)
    / ({{ a }} + number.n{{ i }} / 2 + {{ nbsql.number(family.divisor) }}),
  {{ nbsql.number(family.floor) }} * {{ pooled }}
) END AS variance{{ i }}
{%- endmacro %}

{% macro normal_inverse_gamma_left_out_parameters(feature) -%}
{{ nbsql.gaussian_left_out_parameters(feature) }}
{%- endmacro %}

{# n + a and the sum of x, + b, for the families of one rate. #}
{% macro left_out_rated(feature, a, b) -%}
{% set i, family = nbsql.sub(feature), feature.family -%}
number.n{{ i }} + {{ a }} AS counted{{ i }},
CASE WHEN number.n{{ i }} > 0 THEN number.n{{ i }} * number.mean{{ i }} ELSE 0 END + {{ b }} AS total{{ i }}
{%- endmacro %}

{% macro poisson_left_out(feature) -%}
{{ nbsql.left_out_rated(feature, nbsql.number(feature.family.added_b), nbsql.number(feature.family.added_a)) }}
{%- endmacro %}

{% macro poisson_left_out_parameters(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set rate %}CASE WHEN number.counted{{ i }} > 0 THEN number.total{{ i }} / number.counted{{ i }} ELSE number.all_mean{{ i }} END{% endset -%}
{{ nbsql.packed(nbsql.word('rate') ~ i, rate) }},
{{ nbsql.packed(nbsql.word('log_rate') ~ i, nbsql.log(rate)) }}
{%- endmacro %}

{% macro exponential_left_out(feature) -%}
{{ nbsql.left_out_rated(feature, nbsql.number(feature.family.added_a), nbsql.number(feature.family.added_b)) }}
{%- endmacro %}

{% macro exponential_left_out_parameters(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set mean %}CASE WHEN number.counted{{ i }} > 0 THEN number.total{{ i }} / number.counted{{ i }} ELSE number.all_mean{{ i }} END{% endset -%}
{% set rate %}1 / nullif(greatest({{ mean }}, 1e-9 * number.all_mean{{ i }}), 0){% endset -%}
{{ nbsql.packed(nbsql.word('rate') ~ i, rate) }},
{{ nbsql.packed(nbsql.word('log_rate') ~ i, nbsql.log(rate)) }}
{%- endmacro %}

{% macro geometric_left_out(feature) -%}
{{ nbsql.left_out_rated(feature, nbsql.number(feature.family.added_a), nbsql.number(feature.family.added_b)) }}
{%- endmacro %}

{# 1 - q as the mean times q, as in geometric.sql. #}
{% macro geometric_left_out_parameters(feature) -%}
{% set i = nbsql.sub(feature) -%}
{% set sum %}(number.counted{{ i }} + number.total{{ i }}){% endset -%}
{% set rate %}CASE WHEN {{ sum }} > 0 THEN number.counted{{ i }} / {{ sum }} ELSE 1 / (1 + number.all_mean{{ i }}) END{% endset -%}
{% set mean %}CASE WHEN {{ sum }} > 0 THEN number.total{{ i }} / nullif(number.counted{{ i }}, 0) ELSE number.all_mean{{ i }} END{% endset -%}
{% set failure %}coalesce(({{ mean }}) * ({{ rate }}), 1){% endset -%}
{% set log_failure %}CASE WHEN {{ rate }} IS NOT NULL THEN {{ nbsql.log(failure) }} END{% endset -%}
{{ nbsql.packed(nbsql.word('success') ~ i, nbsql.log(rate)) }},
{{ nbsql.packed(nbsql.word('failure') ~ i, log_failure) }}
{%- endmacro %}
