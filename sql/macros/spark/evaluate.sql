{# Where judging differs. #}

{% macro spark__numbered_classes(model, parameters) -%}
{% if model.class_numbers -%}
SELECT inline(array({% for k in model.class_numbers %}struct(class_{{ k }} AS class, {{ k }} AS class_no){{ nbsql.comma(loop) }}{% if not loop.last %} {% endif %}{% endfor %}))
FROM {{ parameters }} AS parameters
{%- else -%}
SELECT class, class_no FROM {{ parameters }} AS parameters
{%- endif %}
{%- if model.segmented %}

WHERE parameters.nbsql_segment = 0
{%- endif %}
{%- endmacro %}

{% macro spark__one_against_rest() -%}
one_against_rest AS (
  SELECT position + 1 AS class_no, posterior, weight, CASE WHEN position + 1 = true_no THEN weight ELSE 0 END AS positive
  FROM (
    SELECT
      judged.class_no AS true_no,
      judged.weight,
      posexplode(judged.posteriors) AS (position, posterior)
    FROM judged
  ) AS posteriors
)
{%- endmacro %}

{% macro spark__listed_metrics(overall, rates) -%}
SELECT class, metric, value
FROM (
  SELECT
    0 AS part,
    NULL AS class,
    stack({{ overall | length }}
      {%- for metric in overall %}, {{ loop.index }}, {{ nbsql.text(metric) }}, CAST({{ nbsql.word(metric) }} AS {{ nbsql.double() }}){% endfor %}) AS (position, metric, value)
  FROM overall
  UNION ALL
  SELECT
    1 AS part,
    class,
    stack({{ rates | length + 1 }}, 1, 'support', CAST(support AS {{ nbsql.double() }})
      {%- for rate in rates %}, {{ loop.index + 1 }}, {{ nbsql.text(rate) }}, CAST({{ nbsql.word(rate) }} AS {{ nbsql.double() }}){% endfor %}) AS (position, metric, value)
  FROM by_class
) AS metrics
ORDER BY part, class, position
{%- endmacro %}
