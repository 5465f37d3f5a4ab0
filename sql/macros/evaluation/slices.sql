{#
  An evaluation by slices: the metrics of intervals.sql for each value of some columns of the source, or combination of values; NULL is
  one. The rows of `judged` (evaluate.sql) have these columns as nbsql_by_1, nbsql_by_2, ... by: their names in the source and whether
  each is a text, which is sorted byte by byte.
#}

{# To stand in a SELECT, GROUP BY or PARTITION BY: the slice columns, each followed by a comma, except the last unless `more`. #}
{% macro slice_columns(sliced, more=true) -%}
{% for place in range(1, sliced + 1) %}nbsql_by_{{ place }}{% if more or not loop.last %}, {% endif %}{% endfor %}
{%- endmacro %}

{# The same under their names in the source, one a line. #}
{% macro named_slice_columns(by) -%}
{% for name, _ in by -%}
nbsql_by_{{ loop.index }} AS {{ nbsql.ident(name) }},{% if not loop.last +%}
{% endif %}
{%- endfor %}
{%- endmacro %}

{# To stand in an ORDER BY: the slice columns, the last one without a direction. #}
{% macro order_of_slices(by) -%}
{% for _, is_text in by %}
{% set column %}nbsql_by_{{ loop.index }}{% endset %}
{{ nbsql.as_text_if(column, is_text) }}{% if not loop.last %} ASC NULLS LAST, {% endif %}
{% endfor %}
{%- endmacro %}

{#
  One row per slice: its columns, rows, weight, accuracy with its low and high, log_loss, brier, roc_auc, precision, selection_rate,
  false_positive_rate, false_negative_rate. With two classes the last five are those of the larger label. With more, roc_auc is the mean
  over the classes, and the other four, which are of one class, are NULL.

  The slice that is most certainly worst comes first: the one with the lowest upper end of the interval of its accuracy, which is high for
  a slice of few rows. It is compared to twelve digits, so that equally good slices are sorted by their values.
#}
{% macro sliced_metrics(judged, by) -%}
{% set sliced = by | length -%}
{% set of_larger = ['precision', 'selection_rate', 'false_positive_rate', 'false_negative_rate'] -%}
WITH {{ judged }},
{{ nbsql.all_numbers(sliced) }},
{{ nbsql.interval_bounds() }},
larger_label AS (
  SELECT CASE WHEN count(*) = 2 THEN {{ nbsql.maximum(nbsql.word('class')) }} END AS larger FROM known
),
sized AS (
  SELECT {{ nbsql.slice_columns(sliced) }}class, metric, value, low, high FROM bounded
  UNION ALL
  SELECT {{ nbsql.slice_columns(sliced) }}NULL, 'rows', 1e0 * count(*), NULL, NULL
  FROM judged
  GROUP BY {{ nbsql.slice_columns(sliced, false) }}
  UNION ALL
  SELECT {{ nbsql.slice_columns(sliced) }}NULL, 'weight', sum(weight), NULL, NULL
  FROM judged
  GROUP BY {{ nbsql.slice_columns(sliced, false) }}
),
slices AS (
  SELECT
    {{ nbsql.slice_columns(sliced) }}
    CAST({{ nbsql.slice_metric('rows') }} AS BIGINT) AS {{ nbsql.ident('rows') }},
    {{ nbsql.slice_metric('weight') }} AS weight,
    {{ nbsql.slice_metric('accuracy') }} AS accuracy,
    {{ nbsql.slice_metric('accuracy', 'low') }} AS low,
    {{ nbsql.slice_metric('accuracy', 'high') }} AS high,
    {{ nbsql.slice_metric('log_loss') }} AS log_loss,
    {{ nbsql.slice_metric('brier') }} AS brier,
    CASE
      WHEN count(larger) = 0 THEN avg(CASE WHEN class IS NOT NULL AND metric = 'roc_auc' THEN value END)
      ELSE max(CASE WHEN class = larger AND metric = 'roc_auc' THEN value END)
    END AS roc_auc
    {%- for metric in of_larger %},
    max(CASE WHEN class = larger AND metric = {{ nbsql.text(metric) }} THEN value END) AS {{ nbsql.word(metric) }}
    {%- endfor +%}
  FROM sized
  CROSS JOIN larger_label
  GROUP BY {{ nbsql.slice_columns(sliced, false) }}
)
SELECT
  {{ nbsql.named_slice_columns(by) | indent(2) }}
  {{ nbsql.ident('rows') }},
  weight,
  accuracy,
  low,
  high,
  log_loss,
  brier,
  roc_auc
  {%- for metric in of_larger %},
  {{ nbsql.word(metric) }}
  {%- endfor +%}
FROM slices
ORDER BY {{ nbsql.sort_key(nbsql.word('high'), 12) }} ASC NULLS LAST, {{ nbsql.order_of_slices(by) | indent(2) }} ASC NULLS LAST
{%- endmacro %}

{# To stand in a SELECT grouped by slices: a metric of all classes. #}
{% macro slice_metric(metric, column='value') -%}
max(CASE WHEN class IS NULL AND metric = {{ nbsql.text(metric) }} THEN {{ nbsql.word(column) }} END)
{%- endmacro %}

{#
  Two slices side by side, for one class against the rest. One row per share (accuracy, precision, recall, selection_rate,
  false_positive_rate, false_negative_rate): metric, value, other, difference (value - other) with low and high, ratio (value / other)
  with ratio_low and ratio_high.

    difference  the hybrid score interval, of the Wilson intervals of the two (Newcombe, Statistics in Medicine 17, 1998, method 10)
    ratio       the normal interval of its logarithm (Katz, Baptista, Azen and Pike, Biometrics 34, 1978); NULL if either share is 0

  a, b: the values of the slice columns as texts, or none for NULL. label: the class as text; none: the larger of two.
#}
{% macro slice_comparison(judged, a, b, label) -%}
{% set sliced = a | length -%}
{% set larger %}(SELECT {{ nbsql.maximum(nbsql.word('class')) }} FROM known HAVING count(*) = 2){% endset -%}
WITH {{ judged }},
{{ nbsql.counted_shares(sliced) }},
numbers AS {{ nbsql.subquery(nbsql.numbers_of_shares(sliced)) }},
{{ nbsql.interval_bounds() }},
sides AS (
  SELECT
    metric,
    position
    {%- for side, values in [('value', a), ('other', b)] %}
    {%- set in_slice %}CASE WHEN {{ nbsql.is_slice(values) }} THEN{% endset %},
    max({{ in_slice }} value END) AS {{ nbsql.word(side) }},
    max({{ in_slice }} low END) AS {{ nbsql.word(side) }}_low,
    max({{ in_slice }} high END) AS {{ nbsql.word(side) }}_high,
    max({{ in_slice }} of_rows END) AS {{ nbsql.word(side) }}_rows
    {%- endfor +%}
  FROM bounded
  WHERE class IS NULL OR {% if label is none %}class = {{ larger }}
  {%- else %}{{ nbsql.as_text_if(nbsql.word('class'), true) }} = {{ nbsql.text(label) }}{% endif +%}
  GROUP BY metric, position
)
SELECT
  metric,
  value,
  other,
  value - other AS difference,
  value - other - sqrt((value - value_low) * (value - value_low) + (other_high - other) * (other_high - other)) AS low,
  value - other + sqrt((value_high - value) * (value_high - value) + (other - other_low) * (other - other_low)) AS high,
  value / nullif(other, 0) AS ratio,
  value / nullif(other, 0) * exp(-{{ nbsql.error_of_log_ratio() }}) AS ratio_low,
  value / nullif(other, 0) * exp({{ nbsql.error_of_log_ratio() }}) AS ratio_high
FROM sides
ORDER BY position ASC NULLS LAST
{%- endmacro %}

{# z times the standard error of ln(value / other). #}
{% macro error_of_log_ratio() -%}
{{ nbsql.normal_quantile() }} * sqrt((1 - value) / (nullif(value, 0) * value_rows) + (1 - other) / (nullif(other, 0) * other_rows))
{%- endmacro %}

{# Whether a row is in the slice with these values. #}
{% macro is_slice(values) -%}
{% for value in values -%}
{% set column %}nbsql_by_{{ loop.index }}{% endset -%}
{% if value is none %}{{ column }} IS NULL{% else %}{{ nbsql.as_text_if(column, true) }} = {{ nbsql.text(value) }}{% endif %}
{%- if not loop.last %} AND {% endif %}
{%- endfor %}
{%- endmacro %}

{# One row per slice of a source: its values as texts. #}
{% macro slice_values(source, names) -%}
SELECT DISTINCT
  {% for name in names %}
  {% set column %}source.{{ nbsql.ident(name) }}{% endset %}
  {{ nbsql.as_text_if(column, true) }} AS nbsql_by_{{ loop.index }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ source }} AS source
{%- endmacro %}
