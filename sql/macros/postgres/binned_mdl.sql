{#
  Where bins by the minimum description length differ: a recursive query reads itself once, so that what goes from step to step is the
  list of the cuts alone, and the parts are made of it anew.
#}
{% macro postgres__binned_mdl(model, source, feature) -%}
{% set x %}CAST(source.{{ nbsql.ident(feature.column) }} AS {{ nbsql.double() }}){% endset -%}
{% set all %}SELECT unnest(made) FROM cuts{% endset -%}
WITH RECURSIVE numbers AS MATERIALIZED (
  {{ nbsql.mdl_numbers(model, source, x) | indent(2) }}
),
cuts AS (
  SELECT CAST(ARRAY[] AS {{ nbsql.double() }}[]) AS made
  UNION ALL
  SELECT cuts.made || found.next
  FROM cuts
  CROSS JOIN LATERAL (
    SELECT ARRAY(
      WITH parts AS MATERIALIZED (
        SELECT numbers.*, coalesce((SELECT max(cut) FROM unnest(cuts.made) AS cut WHERE cut < numbers.x), -{{ nbsql.infinity() }}) AS part
        FROM numbers
      )
      SELECT cut
      FROM (
        {{ nbsql.mdl_cuts(nbsql.word('parts')) | indent(8) }}
      ) AS next
    ) AS next
    OFFSET 0
  ) AS found
  WHERE cardinality(found.next) > 0
)
{{ nbsql.mdl_edges(all) }}
{%- endmacro %}

{% macro postgres__to_ten_places(x) -%}
CAST(round(CAST({{ x }} AS NUMERIC), 10) AS {{ nbsql.double() }})
{%- endmacro %}
