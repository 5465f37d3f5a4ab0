{#
  Scores of pairs of categories (families/pairs.sql): every value of a row is a super-parent, with the sum of the logarithms of its ratios
  to the others, and what counts is the logarithm of the mean of their products.

  Values are numbered first, and the rest goes by numbers: a row of d values meets d x d ratios.
#}

{#
  Common table expressions, the last three of which are read:

    coded     a row a row and value that was met: nbsql_row, its part, code
    numbers   a row a value that was met: value (its key), code
    ratios    a row a parent and child: parent and child (codes), and the scores of the lookups; of a parent by itself, too, which are 0
#}
{% macro pairs_coded(model, feature, lookups) -%}
{% set value %}lookups.value{% endset -%}
{% set keys = [nbsql.pairs_keys(feature, nbsql.word('source'))] -%}
looked_up AS {{ nbsql.materialized() }}(
  SELECT
    {{ nbsql.json_element(value, 0) }}{{ nbsql.binary() }} AS one,
    {{ nbsql.json_element(value, 1) }}{{ nbsql.binary() }} AS other,
    lookups.*
  FROM {{ lookups }} AS lookups
  WHERE lookups.feature = {{ nbsql.text(feature.name) }}
),
numbers AS {{ nbsql.materialized() }}(
  SELECT value, row_number() OVER (ORDER BY value ASC NULLS LAST) AS code
  FROM (
    SELECT DISTINCT coalesce(other, one) AS value FROM looked_up
  ) AS met
),
ratios AS {{ nbsql.materialized() }}(
  SELECT parents.code AS parent, children.code AS child, looked_up.*
  FROM looked_up
  JOIN numbers AS parents ON parents.value = looked_up.one
  JOIN numbers AS children ON children.value = coalesce(looked_up.other, looked_up.one)
),
coded AS {{ nbsql.materialized() }}(
  SELECT {{ nbsql.row_of(model, nbsql.word('keys')) }}, numbers.code
  FROM (
    SELECT
      {{ nbsql.row_of(model, nbsql.word('source')) }},
      {{ nbsql.unnested(keys, ['value']) | indent(6) }}
    FROM numbered AS source
  ) AS keys
  JOIN numbers ON numbers.value = keys.value
)
{%- endmacro %}

{# The relation of the rows, their parents and children, with the ratio of each two. #}
{% macro pairs_met(model) -%}
coded AS parents
JOIN coded AS children ON children.nbsql_row = parents.nbsql_row
JOIN ratios AS found
  ON found.parent = parents.code
  AND found.child = children.code{{ nbsql.same_part(model, nbsql.word('found'), nbsql.word('parents')) }}
{%- endmacro %}

{# The logarithm of the mean of some ratios, of their highest logarithm and of a list of all of them. #}
{% macro log_mean(highest, logarithms) -%}
{% set difference %}x - {{ highest }}{% endset -%}
{% set mass = nbsql.list_total(nbsql.list_mapped(logarithms, nbsql.exp(difference))) -%}
{% set mean %}{{ mass }} / {{ nbsql.list_size(logarithms) }}{% endset -%}
{{ nbsql.log_sum(highest, mean) }}
{%- endmacro %}

{# One row a row of the source: nbsql_row, and class_k, what the pairs add to the score of class k. #}
{% macro pairs_sums(model, feature, lookups) -%}
bag{{ nbsql.feature_suffix(feature) }} AS (
  WITH {{ nbsql.pairs_coded(model, feature, lookups) | indent(2) }}
  SELECT
    nbsql_row
    {%- for k in model.class_numbers %},
    {% set highest %}highest_{{ k }}{% endset %}
    {% set logarithms %}logarithms_{{ k }}{% endset %}
    {{ nbsql.log_mean(highest, logarithms) }} AS class_{{ k }}
    {%- endfor %}

  FROM (
    SELECT
      nbsql_row
      {%- for k in model.class_numbers %},
      max(class_{{ k }}) AS highest_{{ k }},
      {% set x %}class_{{ k }}{% endset %}
      {{ nbsql.ordered_list(x, nbsql.word('code')) }} AS logarithms_{{ k }}
      {%- endfor %}

    FROM (
      SELECT
        parents.nbsql_row,
        parents.code
        {%- for k in model.class_numbers %},
        sum(found.class_{{ k }}) AS class_{{ k }}
        {%- endfor %}

      FROM {{ nbsql.pairs_met(model) | indent(6) }}
      GROUP BY parents.nbsql_row, parents.code
    ) AS products
    GROUP BY nbsql_row
  ) AS rows_of_products
)
{%- endmacro %}

{#
  Common table expressions, the last two of which are read:

    products  a row a row, class and parent: nbsql_row, class_no, code, joint (the sum of the logarithms)
    means     a row a row and class: nbsql_row, class_no, term (the logarithm of their mean), parents (how many there are)

  joined: how parents meet the numbers of the classes, `parameters`.
#}
{% macro pairs_by_class(model, feature, lookups, joined) -%}
{% set class_no %}parameters.class_no{% endset -%}
{{ nbsql.pairs_coded(model, feature, lookups) }},
products AS {{ nbsql.materialized() }}(
  SELECT parents.nbsql_row, parameters.class_no, parents.code, sum({{ nbsql.element(nbsql.scores(model), class_no) }}) AS joint
  FROM {{ nbsql.pairs_met(model) | indent(2) }}
  {{ joined }}
  GROUP BY parents.nbsql_row, parameters.class_no, parents.code
),
means AS (
  {% set highest %}highest{% endset %}
  {% set logarithms %}logarithms{% endset %}
  SELECT nbsql_row, class_no, {{ nbsql.log_mean(highest, logarithms) }} AS term, {{ nbsql.list_size(logarithms) }} AS parents
  FROM (
    SELECT
      nbsql_row,
      class_no,
      max(joint) AS highest,
      {{ nbsql.ordered_list(nbsql.word('joint'), nbsql.word('code')) }} AS logarithms
    FROM products
    GROUP BY nbsql_row, class_no
  ) AS rows_of_products
)
{%- endmacro %}

{# One row a row of the source and class: nbsql_row, class_no, term. #}
{% macro pairs_terms(model, feature, parameters, lookups) -%}
{% set joined = nbsql.join_parameters(model, parameters, nbsql.word('parents')) -%}
SELECT nbsql_row, class_no, term
FROM (
  WITH {{ nbsql.pairs_by_class(model, feature, lookups, joined) | indent(2) }}
  SELECT nbsql_row, class_no, term FROM means
) AS pairs
{%- endmacro %}

{#
  The explanation, a row a value of the row. With r_i the share of super-parent i in the sum over S, what is added to a score is

    ln (1 / |S| sum over i of prod over j of r_ij) = sum over j of the sum over i of r_i ln r_ij - sum over i of r_i ln(|S| r_i)

  as of a mixture (estimating/mixture.sql): so a value j has the mean of its logarithms, each by the share of the parent, and a row without
  a value has the last sum, how far the shares are from even. That row has all of it where every product is 0.
#}
{% macro explained_pairs(model, feature, lookups) -%}
{% set joined = nbsql.join_parameters_by_class(model, nbsql.word('parents')) -%}
{% set class_no %}shares.class_no{% endset -%}
{% set difference %}products.joint - means.term{% endset -%}
SELECT nbsql_row, class_no, {{ feature.index }} AS feature_no, {{ nbsql.text(feature.name) }} AS feature, value, contribution
FROM (
  WITH {{ nbsql.pairs_by_class(model, feature, lookups, joined) | indent(2) }},
  shares AS (
    SELECT
      products.nbsql_row,
      products.class_no,
      products.code,
      means.parents,
      CASE WHEN means.term > -{{ nbsql.infinity() }} THEN {{ nbsql.exp(difference) }} / means.parents ELSE 0 END AS share
    FROM products
    JOIN means ON means.nbsql_row = products.nbsql_row AND means.class_no = products.class_no
  )
  SELECT shares.nbsql_row, shares.class_no, numbers.value, sum(shares.share * {{ nbsql.element(nbsql.scores(model), class_no) }}) AS contribution
  FROM {{ nbsql.pairs_met(model) | indent(2) }}
  JOIN numbers ON numbers.code = children.code
  JOIN shares ON shares.nbsql_row = parents.nbsql_row AND shares.code = parents.code AND shares.share > 0
  GROUP BY shares.nbsql_row, shares.class_no, numbers.value
  UNION ALL
  SELECT
    nbsql_row,
    class_no,
    NULL,
    CASE WHEN max(share) > 0 THEN -sum(CASE WHEN share > 0 THEN share * ln(share * parents) END) ELSE -{{ nbsql.infinity() }} END
  FROM shares
  GROUP BY nbsql_row, class_no
) AS pairs
{%- endmacro %}
