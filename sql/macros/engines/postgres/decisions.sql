{# PostgreSQL's forms of decisions: a list of lists is a two-dimensional array, and each rank is a row of its own. #}

{# The list of the expected costs of the decisions. It is written out, because a two-dimensional array cannot be indexed by row. #}
{% macro postgres__expected_costs(costs) -%}
ARRAY[
    {% for column in costs %}
    {% for cost in column -%}
    nbsql_posteriors[{{ loop.index }}] * {{ nbsql.number(cost) }}{% if not loop.last %} + {% endif %}
    {%- endfor %}{{ nbsql.comma(loop) }}
    {% endfor %}
  ]
{%- endmacro %}

{# One row per row of the source and one of its most probable classes: the columns of the source, prediction, probability, rank. #}
{% macro postgres__predict_top_k(model, scored, parameters, top_k) -%}
SELECT
  {{ nbsql.passed_columns(model) }}source.nbsql_labels[ranked.k] AS prediction,
  ranked.p AS probability,
  coalesce(ranked.rank, 1) AS rank
FROM {{ nbsql.subquery(nbsql.with_posteriors(model, scored, parameters)) }} AS source
LEFT JOIN LATERAL (
  SELECT each.p, each.k, row_number() OVER (ORDER BY each.p DESC NULLS LAST, each.k ASC NULLS LAST) AS rank
  FROM unnest(source.nbsql_posteriors) WITH ORDINALITY AS each(p, k)
  ORDER BY each.p DESC NULLS LAST, each.k ASC NULLS LAST
  LIMIT {{ top_k }}
) AS ranked ON source.nbsql_highest > -{{ nbsql.infinity() }}{{ nbsql.in_order_of_source(model, 'rank') }}
{%- endmacro %}
