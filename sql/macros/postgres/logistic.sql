{# Where logistic regression differs: a recursive query reads itself once, so that a step is one of a whole matrix. #}

{# What has less than 1e-100 of the likelihood has none: products of such shares would be below every double, which is an error. #}
{% macro postgres__logistic_share(below) -%}
CASE WHEN {{ below }} < -230 THEN 0 ELSE exp({{ below }}) END
{%- endmacro %}

{#
  Gaussian elimination of the Hessian with the gradient as a last column: k columns are done, and rest is what is left below and right
  of them. Its first rows are D L' and D L^-1 gradient, of the factors of the Hessian, L D L'.
#}
{% macro postgres__logistic_factor(size) -%}
{% set share %}rest[i + 1][1] / rest[1][1]{% endset -%}
{% set ahead %}rest[1][j + 1]{% endset -%}
SELECT 0 AS k, array_agg(rows.entries || last.entries[rows.a] ORDER BY rows.a) AS rest
FROM rows
JOIN rows AS last ON last.a = {{ size + 1 }}
WHERE rows.a <= {{ size }}
UNION ALL
SELECT
  k + 1,
  ARRAY(
    SELECT ARRAY(SELECT rest[i + 1][j + 1] - {{ nbsql.product(share, ahead, true) }} FROM generate_series(1, {{ size }} - k) AS j ORDER BY j)
    FROM generate_series(1, {{ size - 1 }} - k) AS i
    ORDER BY i
  )
FROM factor
WHERE k < {{ size }} AND rest[1][1] > 1e-13
{%- endmacro %}

{% macro postgres__logistic_sides(size) -%}
SELECT
  k + 1 AS k,
  ARRAY(SELECT rest[1][j] FROM generate_series(2, {{ size }} - k) AS j ORDER BY j DESC) AS below,
  rest[1][1] AS diagonal,
  rest[1][{{ size + 1 }} - k] AS y
FROM factor
WHERE k < {{ size }} AND rest[1][1] > 1e-13
{%- endmacro %}

{# A yes or no is no number there. #}
{% macro postgres__weighted_number(feature) -%}
{% if feature.family.binary -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.string() }}){% endset -%}
CASE
  WHEN {{ x }} IN ('true', '1') THEN {{ nbsql.number(1) }}
  WHEN {{ x }} IN ('false', '0') THEN {{ nbsql.number(0) }}
  ELSE CASE CAST({{ x }} AS {{ nbsql.double() }}) WHEN 1 THEN {{ nbsql.number(1) }} WHEN 0 THEN {{ nbsql.number(0) }} END
END
{%- else -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
{{ nbsql.finite(x) }}
{%- endif %}
{%- endmacro %}
