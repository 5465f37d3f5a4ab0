{#
  Scores of pairs of categories (families/pairs.sql). Every value of a row is a super-parent, with the sum of the logarithms of its ratios
  to the others, and the score is the logarithm of the mean of their products.

  A row of d values needs d x d ratios, which no join finds as fast as a place in a list. So the values are numbered, and the logarithms
  of all ratios are one list, in which a class and parent have a stretch, and each child a place in it. The one row that holds this list
  is joined with rows whose parents are lists, too: an engine may copy it for every thousand rows or so, or for each in a join on keys.
#}

{#
  Common table expressions, of which all but the first are read:

    numbers  one row per value that the fit saw, of each part: value (its key), code, stretch (the place before its first one in the
             list), is_parent
    ratios   one row: logarithms, a list by class, stretch and code, 0 where there is none; size (of the stretch of a class)
    met      one row per row of the source and its value: nbsql_row, and the columns of numbers
    products one row per row of the source and class: nbsql_row, class_no, and of its super-parents places (the place before the first
             child of each, a list) and joints (the sums of the logarithms, a list)

  The values of other features are not lists, and an engine may parse them before it filters them out: hence the CASE.
#}
{% macro pairs_scored(model, feature, lookups) -%}
{% set value %}CASE WHEN found.feature = {{ nbsql.text(feature.name) }} THEN found.value END{% endset -%}
{% set part %}{% if model.part_column %}{{ nbsql.word(model.part_column) }}, {% endif %}{% endset -%}
{% set keys = [nbsql.pairs_keys(feature, nbsql.word('source'))] -%}
{% set place %}class_no, place{% endset -%}
{% set code %}code{% endset -%}
{% set stretch %}CASE WHEN is_parent = 1 THEN stretch END{% endset -%}
{% set rows %}count(*){% endset -%}
{% set distinct %}nullif(count(DISTINCT class_no), 0){% endset -%}
{% set place_of_parent %}ratios.size * (rows_of_classes.class_no - 1) + x{% endset -%}
{% set place_of_child %}place + x{% endset -%}
{% set of_children = nbsql.list_mapped(nbsql.word('codes'), nbsql.element(nbsql.word('logarithms'), place_of_child)) -%}
scores AS {{ nbsql.materialized() }}(
  SELECT
    {{ part }}{{ nbsql.json_element(value, 0) }}{{ nbsql.binary() }} AS parent,
    {{ nbsql.json_element(value, 1) }}{{ nbsql.binary() }} AS child,
    {{ nbsql.found_scores(model) }} AS scores
  FROM {{ lookups }} AS found
  WHERE found.feature = {{ nbsql.text(feature.name) }}
),
classes AS {{ nbsql.materialized() }}(
  SELECT DISTINCT class_no
  FROM (
    SELECT {{ nbsql.unnested_with_places(nbsql.word('scores'), 'class_no', 'score') }} FROM scores WHERE child IS NULL
  ) AS places
),
numbers AS {{ nbsql.materialized() }}(
  SELECT *, max(code) OVER () * (row_number() OVER (ORDER BY {{ part }}value ASC NULLS LAST) - 1) AS stretch
  FROM (
    SELECT
      {{ part }}value,
      row_number() OVER ({% if part %}PARTITION BY {{ nbsql.word(model.part_column) }} {% endif %}ORDER BY value ASC NULLS LAST) AS code,
      max(parents) AS is_parent
    FROM (
      SELECT {{ part }}parent AS value, 1 AS parents FROM scores WHERE child IS NULL
      UNION ALL
      SELECT {{ part }}child, 0 FROM scores WHERE child IS NOT NULL
    ) AS keys
    GROUP BY {{ part }}value
  ) AS coded
),
ratios AS {{ nbsql.materialized() }}(
  SELECT
    {{ nbsql.whole_quotient(rows, distinct) }} AS size,
    {{ nbsql.ordered_list(nbsql.word('score'), place) }} AS logarithms
  FROM (
    {% set score = nbsql.element(nbsql.word('scores.scores'), nbsql.word('classes.class_no')) %}
    SELECT classes.class_no, numbers.stretch + codes.code AS place, coalesce({{ score }}, 0) AS score
    FROM numbers
    JOIN (SELECT DISTINCT code FROM numbers) AS codes ON TRUE
    LEFT JOIN numbers AS children ON children.code = codes.code{{ nbsql.same_part(model, nbsql.word('children'), nbsql.word('numbers')) }}
    LEFT JOIN scores
      ON scores.parent = numbers.value
      AND scores.child = children.value{{ nbsql.same_part(model, nbsql.word('scores'), nbsql.word('numbers')) }}
    CROSS JOIN classes
  ) AS places
),
met AS {{ nbsql.materialized() }}(
  SELECT keys.nbsql_row, numbers.value, numbers.code, numbers.stretch, numbers.is_parent
  FROM (
    SELECT
      {{ nbsql.row_key(model, nbsql.word('source')) }},
      {{ nbsql.unnested(keys, ['value']) | indent(6) }}
    FROM numbered AS source
  ) AS keys
  JOIN numbers ON numbers.value = keys.value{{ nbsql.same_part(model, nbsql.word('numbers'), nbsql.word('keys')) }}
),
products AS {{ nbsql.materialized() }}(
  SELECT nbsql_row, class_no, places, {{ nbsql.list_mapped(nbsql.word('places'), nbsql.list_total(of_children), 'place') }} AS joints
  FROM (
    SELECT
      rows_of_classes.nbsql_row,
      rows_of_classes.class_no,
      rows_of_classes.codes,
      {{ nbsql.list_mapped(nbsql.word('rows_of_classes.stretches'), place_of_parent) }} AS places,
      ratios.logarithms
    FROM (
      SELECT nbsql_row, codes, stretches, {{ nbsql.unnested([nbsql.word('class_nos')], ['class_no']) }}
      FROM (
        SELECT nbsql_row, {{ nbsql.collected(code) }} AS codes, {{ nbsql.without_nulls(nbsql.collected(stretch)) }} AS stretches
        FROM met
        GROUP BY nbsql_row
      ) AS coded
      CROSS JOIN (
        SELECT {{ nbsql.collected(nbsql.word('class_no')) }} AS class_nos FROM classes
      ) AS classes
      WHERE {{ nbsql.list_size(nbsql.word('stretches')) }} > 0
    ) AS rows_of_classes
    CROSS JOIN ratios
  ) AS placed
)
{%- endmacro %}

{# One row per row of the source and class: nbsql_row, class_no, term (the logarithm of the mean product), parents (their number). #}
{% macro pairs_means() -%}
{% set difference %}x - highest{% endset -%}
{% set mean %}{{ nbsql.list_total(nbsql.list_mapped(nbsql.word('joints'), nbsql.exp(difference))) }} / parents{% endset -%}
{% set joints = nbsql.word('joints') -%}
SELECT nbsql_row, class_no, parents, {{ nbsql.log_sum(nbsql.word('highest'), mean) }} AS term
FROM (
  SELECT nbsql_row, class_no, {{ nbsql.list_size(joints) }} AS parents, {{ nbsql.list_highest(joints) }} AS highest, joints
  FROM products
) AS products
{%- endmacro %}

{# One row per row of the source and class: nbsql_row, class_no, term. #}
{% macro pairs_terms(model, feature, lookups) -%}
SELECT nbsql_row, class_no, term
FROM (
  WITH {{ nbsql.pairs_scored(model, feature, lookups) | indent(2) }}
  {{ nbsql.pairs_means() | indent(2) }}
) AS means
{%- endmacro %}

{# One row per row of the source: nbsql_row, and class_k, the term of the pairs in class k. #}
{% macro pairs_sums(model, feature, lookups) -%}
bag{{ nbsql.feature_suffix(feature) }} AS (
  SELECT
    nbsql_row,
    {{ nbsql.scores_by_class(model, nbsql.word('term'), nbsql.word('class_no')) | indent(2) }}
  FROM {{ nbsql.subquery(nbsql.pairs_terms(model, feature, lookups)) | indent(2) }} AS terms
  GROUP BY nbsql_row
)
{%- endmacro %}

{#
  The explanation, one row per value of the row. With r_i the share of super-parent i in the sum over S, the score is

    ln (1 / |S| sum over i of prod over j of r_ij) = sum over j of the sum over i of r_i ln r_ij - sum over i of r_i ln(|S| r_i)

  as for a mixture (estimating/mixture.sql). So a value j has the mean of its logarithms, weighted by the shares of the parents, and a row
  without a value has the last sum, the divergence of the shares from equal ones. If every product is 0, that row holds the whole score.
#}
{% macro explained_pairs(model, feature, lookups) -%}
{% set difference %}parents.joint - means.term{% endset -%}
{% set logarithms %}ratios.logarithms{% endset -%}
{% set place_of_child %}shares.place + met.code{% endset -%}
{% set lists = [nbsql.word('places'), nbsql.word('joints')] -%}
SELECT nbsql_row, class_no, {{ feature.index }} AS feature_no, {{ nbsql.text(feature.name) }} AS feature, value, contribution
FROM (
  WITH {{ nbsql.pairs_scored(model, feature, lookups) | indent(2) }},
  shares AS {{ nbsql.materialized() }}(
    SELECT
      parents.nbsql_row,
      parents.class_no,
      parents.place,
      means.parents,
      CASE WHEN means.term > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(difference) }} / means.parents ELSE 0 END AS share
    FROM (
      SELECT nbsql_row, class_no, {{ nbsql.unnested(lists, ['place', 'joint']) | indent(6) }} FROM products
    ) AS parents
    JOIN (
      {{ nbsql.pairs_means() | indent(6) }}
    ) AS means ON means.nbsql_row = parents.nbsql_row AND means.class_no = parents.class_no
  )
  SELECT shares.nbsql_row, shares.class_no, met.value, sum(shares.share * {{ nbsql.element(logarithms, place_of_child) }}) AS contribution
  FROM shares
  JOIN met ON met.nbsql_row = shares.nbsql_row
  CROSS JOIN ratios
  WHERE shares.share > 0
  GROUP BY shares.nbsql_row, shares.class_no, met.value
  UNION ALL
  SELECT
    nbsql_row,
    class_no,
    {{ nbsql.no_text() }},
    CASE WHEN max(share) > 0 THEN -sum(CASE WHEN share > 0 THEN share * ln(share * parents) END) ELSE -{{ nbsql.infinity() }} END
  FROM shares
  GROUP BY nbsql_row, class_no
) AS pairs
{%- endmacro %}
