{#
  Spark's form of the mean of |z|^4 (families/ledoit_wolf.sql). A window over the rows of a class would send them all to one worker. So
  the rows are read once a step, and each step sends one row a class to all workers: its smallest numbers, its means, its variances.
#}

{# One row a class: label, and fourth, the mean of the fourth power of the length of its rows, scaled to variances of 1. #}
{% macro spark__fourth_powers(model, source, feature) -%}
{% set p = feature.columns | length -%}
{% set weight %}{% if model.weight %}numbers.weight{% else %}1{% endif %}{% endset -%}
{% set numbers = nbsql.whole_rows(model, source, feature) -%}
SELECT /*+ BROADCAST(variances) */
  CAST(class AS {{ nbsql.string() }}) AS label,
  sum({{ weight }} * square * square) / sum({{ weight }}) AS fourth
FROM (
  SELECT
    numbers.*,
    {% for j in range(1, p + 1) %}
    coalesce((x_{{ j }} - mean_{{ j }}) * (x_{{ j }} - mean_{{ j }}) / nullif(variance_{{ j }}, 0), 0){% if not loop.last %} +{% endif %}

    {% endfor %}
    AS square
  FROM {{ numbers | indent(2) }}
  JOIN (
    SELECT /*+ BROADCAST(means) */
      numbers.class AS of_class
      {%- for j in range(1, p + 1) %},
      max(mean_{{ j }}) AS mean_{{ j }},
      sum({{ weight }} * (x_{{ j }} - mean_{{ j }}) * (x_{{ j }} - mean_{{ j }})) / sum({{ weight }}) AS variance_{{ j }}
      {%- endfor %}

    FROM {{ numbers | indent(4) }}
    JOIN (
      SELECT /*+ BROADCAST(lows) */
        numbers.class AS of_class
        {%- for j in range(1, p + 1) %},
        sum({{ weight }} * (x_{{ j }} - least_{{ j }})) / sum({{ weight }}) + max(least_{{ j }}) AS mean_{{ j }}
        {%- endfor %}

      FROM {{ numbers | indent(6) }}
      JOIN (
        SELECT class AS of_class{% for j in range(1, p + 1) %}, min(x_{{ j }}) AS least_{{ j }}{% endfor %}

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
  One row a row of the source with all numbers, where a missing one is replaced by the mean over all rows if it is imputed: class, weight,
  x_1, ...
#}
{% macro whole_rows(model, source, feature) -%}
(
  SELECT *
  FROM (
    SELECT
      {{ nbsql.target(model) }} AS class
      {%- if model.weight %},
      {{ nbsql.weight(model) }} AS weight
      {%- endif %}
      {%- for column in feature.columns %},
      {% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset %}
      {% set finite = nbsql.finite(x) %}
      {% set mean %}overall.mean_{{ loop.index }}{% endset %}
      {%+ if feature.family.impute %}coalesce({{ finite }}, {{ mean }}){% else %}{{ finite }}{%+ endif %} AS x_{{ loop.index }}
      {%- endfor %}

    FROM {{ source }} AS source
    {% if feature.family.impute %}
    CROSS JOIN (
      SELECT
        {% for column in feature.columns %}
        {% set x %}CAST(source.{{ nbsql.ident(column) }} AS {{ nbsql.double() }}){% endset %}
        avg({{ nbsql.finite(x) }}) AS mean_{{ loop.index }}{{ nbsql.comma(loop) }}
        {% endfor %}
      FROM {{ source }} AS source
      WHERE {{ nbsql.is_counted(model) }}
    ) AS overall
    {% endif %}
    WHERE {{ nbsql.is_counted(model) }}
  ) AS numbers
  WHERE {% for j in range(1, feature.columns | length + 1) %}x_{{ j }} IS NOT NULL{% if not loop.last %} AND {% endif %}{% endfor %}

) AS numbers
{%- endmacro %}
