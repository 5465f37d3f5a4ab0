{#
  The shrinkage of Ledoit and Wolf (A well-conditioned estimator for large-dimensional covariance matrices, Journal of Multivariate
  Analysis 88, 2004) of each class's correlations R, as in scikit-learn with shrinkage="auto": (1 - s) R + s t I, t = tr(R) / p,

    s = min(b, d) / d     d = (sum of R_ij^2 - p t^2) / p     b = (mean of |z|^4 - sum of R_ij^2) / (p n)

  z are the numbers standardised in the class; the result is then put back into the units of the columns. |z|^4 is not a sum of cells, so
  a fit queries it.
#}

{#
  One row per class: label, as text, and fourth, the mean of |z|^4. The rows are read once a step, and each step has one row per class: its
  smallest numbers, its means, its variances. Windows would keep all rows, and on Spark send those of a class to a single worker.
#}
{% macro fourth_powers(model, source, feature) -%}
{% set p = feature.columns | length -%}
{% set weight %}{% if model.spec.weight %}numbers.weight{% else %}1{% endif %}{% endset -%}
{% set numbers = nbsql.whole_rows(model, source, feature) -%}
SELECT{{ nbsql.broadcast_hint(nbsql.word('variances')) }}
  {{ nbsql.text_of(nbsql.word('class')) }} AS label,
  sum({{ weight }} * square * square) / sum({{ weight }}) AS fourth
FROM (
  SELECT
    numbers.*,
    {% for j in range(1, p + 1) %}
    coalesce((x_{{ j }} - mean_{{ j }}) * (x_{{ j }} - mean_{{ j }}) / nullif(variance_{{ j }}, 0), 0){% if not loop.last %} +{% endif +%}
    {% endfor %}
    AS square
  FROM {{ numbers | indent(2) }}
  JOIN (
    SELECT{{ nbsql.broadcast_hint(nbsql.word('means')) }}
      numbers.class AS of_class
      {%- for j in range(1, p + 1) %},
      max(mean_{{ j }}) AS mean_{{ j }},
      sum({{ weight }} * (x_{{ j }} - mean_{{ j }}) * (x_{{ j }} - mean_{{ j }})) / sum({{ weight }}) AS variance_{{ j }}
      {%- endfor +%}
    FROM {{ numbers | indent(4) }}
    JOIN (
      SELECT{{ nbsql.broadcast_hint(nbsql.word('lows')) }}
        numbers.class AS of_class
        {%- for j in range(1, p + 1) %},
        sum({{ weight }} * (x_{{ j }} - least_{{ j }})) / sum({{ weight }}) + max(least_{{ j }}) AS mean_{{ j }}
        {%- endfor +%}
      FROM {{ numbers | indent(6) }}
      JOIN (
        SELECT class AS of_class{% for j in range(1, p + 1) %}, min(x_{{ j }}) AS least_{{ j }}{% endfor +%}
        FROM {{ numbers | indent(8) }}
        GROUP BY class
      ) AS lows ON lows.of_class = numbers.class
      GROUP BY numbers.class
    ) AS means ON means.of_class = numbers.class
    GROUP BY numbers.class
  ) AS variances ON variances.of_class = numbers.class
) AS numbers
GROUP BY class
{%- endmacro %}

{#
  One row per row of the source with all numbers, where a missing one is replaced by the mean over all rows if it is imputed: class, weight,
  x_1, ...
#}
{% macro whole_rows(model, source, feature) -%}
(
  SELECT *
  FROM (
    SELECT
      {{ nbsql.target(model) }} AS class
      {%- if model.spec.weight %},
      {{ nbsql.weight(model) }} AS weight
      {%- endif %}
      {%- for column in feature.columns %},
      {% set finite = nbsql.finite(nbsql.number_of(column)) %}
      {% set mean %}overall.mean_{{ loop.index }}{% endset %}
      {%+ if feature.family.impute %}coalesce({{ finite }}, {{ mean }}){% else %}{{ finite }}{%+ endif %} AS x_{{ loop.index }}
      {%- endfor +%}
    FROM {{ source }} AS source
    {% if feature.family.impute %}
    CROSS JOIN (
      SELECT
        {% for column in feature.columns %}
        avg({{ nbsql.finite(nbsql.number_of(column)) }}) AS mean_{{ loop.index }}{{ nbsql.comma(loop) }}
        {% endfor %}
      FROM {{ source }} AS source
      WHERE {{ nbsql.is_counted(model) }}
    ) AS overall
    {% endif %}
    WHERE {{ nbsql.is_counted(model) }}
  ) AS numbers
  WHERE {% for j in range(1, feature.columns | length + 1) %}x_{{ j }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor +%}
) AS numbers
{%- endmacro %}

{# The shrunk covariances within the classes, in the columns of `of_classes`. #}
{% macro ledoit_wolf(feature) -%}
{% set p = feature.columns | length -%}
SELECT
  of_classes.class,
  of_classes.i,
  of_classes.j,
  of_classes.n,
  of_classes.covariance
    * CASE WHEN of_classes.i = of_classes.j THEN 1 - shrinkages.s + shrinkages.s * shrinkages.t ELSE 1 - shrinkages.s END AS covariance
FROM of_classes
JOIN (
  SELECT class, t, CASE WHEN b <= 0 OR d <= 0 THEN 0 ELSE least(b, d) / d END AS s
  FROM (
    SELECT
      correlations.class,
      trace / {{ p }} AS t,
      (squares - trace * trace / {{ p }}) / {{ p }} AS d,
      (powers.fourth - squares) / ({{ p }} * n) AS b
    FROM (
      SELECT
        of_classes.class,
        max(of_classes.n) AS n,
        sum(CASE WHEN of_classes.i = of_classes.j AND of_classes.covariance > 0 THEN {{ nbsql.unit_weight() }} ELSE 0 END) AS trace,
        sum(
          CASE WHEN of_classes.i = of_classes.j THEN 1 ELSE 2 END
            * coalesce(of_classes.covariance / nullif(of_i.covariance, 0) * (of_classes.covariance / nullif(of_j.covariance, 0)), 0)
        ) AS squares
      FROM of_classes
      JOIN of_classes AS of_i ON of_i.class = of_classes.class AND of_i.i = of_classes.i AND of_i.j = of_classes.i
      JOIN of_classes AS of_j ON of_j.class = of_classes.class AND of_j.i = of_classes.j AND of_j.j = of_classes.j
      GROUP BY of_classes.class
    ) AS correlations
    LEFT JOIN (
      {% if not feature.family.fourth %}
      SELECT '', 0 WHERE FALSE
      {% else %}
      VALUES
        {% for label, fourth in feature.family.fourth.items() %}
        ({{ nbsql.text(label) }}, {{ nbsql.number(fourth) }}){{ nbsql.comma(loop) }}
        {% endfor %}
      {% endif %}
    ) AS powers(label, fourth) ON powers.label = {{ nbsql.text_of(nbsql.word('correlations.class')) }}
  ) AS distances
) AS shrinkages ON shrinkages.class = of_classes.class
{%- endmacro %}
