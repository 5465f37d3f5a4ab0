{#
  A class with several components is a mixture of them:

    p(x, c) = sum over the components j of class c of P(c) n_cj / n_c p(x | c, j)

  A pair of class and component is a `member`. The macros of the families estimate members as they do classes, and the parameters and
  lookups (parameters.sql) have a column a member. The first component of a class has the number of its class, so queries that find labels
  by class numbers read the same columns.
#}

{#
  Common table expressions that the other queries read: members(member, place, class_no, class, component, slice, n, prior), and their
  cells, with the member as class.
#}
{% macro mixture_members(statistics, priors) -%}
members AS (
  SELECT row_number() OVER (ORDER BY place ASC NULLS LAST, class_no ASC NULLS LAST) AS member, *
  FROM (
    SELECT
      row_number() OVER (PARTITION BY classes_of.class_no ORDER BY CAST(counts.slice AS BIGINT) ASC NULLS LAST) AS place,
      classes_of.class_no,
      classes_of.class,
      CAST(counts.slice AS BIGINT) AS component,
      counts.slice,
      counts.n,
      classes_of.prior * (counts.n / sum(counts.n) OVER (PARTITION BY classes_of.class_no)) AS prior
    FROM (
      SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, prior FROM {{ priors }} AS priors
    ) AS classes_of
    JOIN {{ nbsql.subquery(nbsql.class_counts(statistics, ['class', 'slice'])) | indent(4) }} AS counts ON counts.class = classes_of.class
  ) AS places
),
cells AS (
  SELECT members.member AS class, statistics.feature, statistics.value, statistics.n, statistics.mean, statistics.m2
  FROM {{ statistics }} AS statistics
  JOIN members ON members.class = statistics.class AND members.slice = statistics.slice
),
classes AS (
  SELECT member AS class_no, member AS class FROM members
)
{%- endmacro %}

{# The likelihoods of the members, estimated as those of classes. #}
{% macro smoothed_members(features) -%}
{% set by_member %}(SELECT class FROM classes){% endset -%}
{{ nbsql.likelihoods_of_cells(nbsql.word('cells'), by_member, features) }}
{%- endmacro %}

{# The parameters of the members; in the long form with of_class, the class number of each member. #}
{% macro mixture_parameters(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.parameters') | list -%}
WITH {{ nbsql.mixture_members(statistics, priors) }},
labelled AS (
  SELECT member AS class_no, class_no AS of_class, class, {{ nbsql.safe_ln(nbsql.word('prior')) }} AS log_prior FROM members
)
{%- if model.facts.parameters %},
{{ nbsql.listed_parameters(model, nbsql.smoothed_members(features), features) }}
{%- endif +%}
{% if model.form.class_numbers -%}
{{ nbsql.parameters_in_one_row(model.component_model, nbsql.word('labelled')) }}
{%- else -%}
{{ nbsql.parameters_in_rows(model, nbsql.word('labelled'), leading_columns=['of_class']) }}
{%- endif %}
{%- endmacro %}

{# The lookups of the members. #}
{% macro mixture_lookups(model, statistics, priors) -%}
{% set features = model.facts.features | selectattr('family.has_lookups') | list -%}
{% set tfidf = features | selectattr('family.tfidf') | list -%}
{% set classes %}SELECT class_no, class FROM classes{% endset -%}
WITH {{ nbsql.mixture_members(statistics, priors) }}
{{ nbsql.dense_lookups(model.component_model, nbsql.smoothed_members(features), classes, nbsql.word('cells'), tfidf) }}
{%- endmacro %}

{#
  The view `components`. One row per member, feature and value, with the columns of `likelihoods`; n and prior are those of the member, and
  centre and scale those that determine the nearest component of a row.
#}
{% macro components(model, statistics, priors, centres) -%}
WITH {{ nbsql.mixture_members(statistics, priors) }}
SELECT
  members.class,
  members.component,
  members.n,
  members.prior,
  {% for column in ['feature', 'value', 'likelihood', 'log_likelihood', 'mean', 'variance', 'rate'] %}
  smoothed.{{ nbsql.word(column) }},
  {% endfor %}
  {% for column in ['centre', 'scale'] %}
  {% set given %}{% if centres.splits %}centres.{{ nbsql.word(column) }}{% else %}NULL{% endif %}{% endset %}
  CAST({{ given }} AS {{ nbsql.double() }}) AS {{ nbsql.word(column) }}{{ nbsql.comma(loop) }}
  {% endfor %}
FROM {{ nbsql.subquery(nbsql.smoothed_members(model.facts.features)) }} AS smoothed
JOIN members ON members.member = smoothed.class
{% if centres.splits %}
LEFT JOIN (
  VALUES
    {% for split in centres.splits %}
    {% for centre in split.centres %}
    {% set component = loop.index -%}
    {% for name in centres.numbers %}
    {% set numbers %}{{ nbsql.number(centre[loop.index0]) }}, {{ nbsql.number(split.scales[loop.index0]) }}{% endset %}
    ({{ nbsql.text(split.label) }}, {{ component }}, {{ nbsql.text(name) }}, {{ numbers }}){{ nbsql.comma(loop) }}
    {% endfor %}
    {{- nbsql.comma(loop) }}
    {% endfor %}
    {{- nbsql.comma(loop) }}
    {% endfor %}
) AS centres(label, component, feature, centre, scale)
  ON centres.label = {{ nbsql.text_of(nbsql.word('members.class')) }}
  AND centres.component = members.component
  AND centres.feature = smoothed.feature
{% endif %}
WHERE NOT smoothed.unseen
{%- endmacro %}

{#
  The inputs of a sample (sample.sql): priors, likelihoods and statistics of the members, numbered in the order of their classes and
  components. They read `members`, the view `components` with these numbers.
#}
{% macro numbered_members(components) -%}
SELECT dense_rank() OVER (ORDER BY class ASC NULLS LAST, component ASC NULLS LAST) AS member, components.*
FROM {{ components }} AS components
{%- endmacro %}

{# One row per member: class (the number of the member), n, prior. #}
{% macro member_priors() -%} (SELECT DISTINCT member AS class, n, prior FROM members) {%- endmacro %}

{% macro member_likelihoods() -%} (SELECT member AS class, feature, value, likelihood, mean, variance, rate FROM members) {%- endmacro %}

{# The cells of a model, with the member number of a class and component in place of the class. #}
{% macro member_statistics(statistics) -%}
(
  SELECT labels.member AS class, statistics.feature, statistics.value, statistics.n, statistics.mean
  FROM {{ statistics }} AS statistics
  JOIN {{ nbsql.labels_of_members() }} AS labels ON labels.class = statistics.class AND labels.component = CAST(statistics.slice AS BIGINT)
)
{%- endmacro %}

{# One row per member: member, class, component. #}
{% macro labels_of_members() -%} (SELECT DISTINCT member, class, component FROM members) {%- endmacro %}

{# class_order (likelihoods.sql) with the number of components of each class. #}
{% macro class_order_of_components(statistics, priors) -%}
WITH {{ nbsql.mixture_members(statistics, priors) }}
SELECT
  class_no,
  {{ nbsql.text_of(nbsql.word('class')) }} AS label,
  count(*) AS components
FROM members
GROUP BY class_no, class
ORDER BY class_no ASC NULLS LAST
{%- endmacro %}

{#
  Each row with nbsql_joint_k, the joint log-likelihood of class k: the logarithm of the sum over its members, which are scored first
  (joint_scores, score.sql). The columns of the members remain, but nothing reads them.
#}
{% macro class_scores(model, relation, parameters, lookups) -%}
SELECT
  members.*
  {%- for class in model.form.class_columns %},
  {{ nbsql.log_of_sum(class.members or [class.number]) | indent(2) }} AS nbsql_joint_{{ class.number }}
  {%- endfor +%}
FROM (
  {{ nbsql.joint_scores(model.component_model, relation, parameters, lookups) | indent(2) }}
  {{- nbsql.optimisation_fence() | indent(2) }}
) AS members
{%- endmacro %}

{# The logarithm of the sum of the likelihoods of some members; minus infinity if all are 0. #}
{% macro log_of_sum(members) -%}
{% if members | length == 1 -%}
members.nbsql_member_{{ members[0] }}
{%- else -%}
{% set highest %}greatest({% for k in members %}members.nbsql_member_{{ k }}{{ nbsql.comma_blank(loop) }}{% endfor %}){% endset -%}
{% set mass -%}
{% for k in members -%}
{% set difference %}members.nbsql_member_{{ k }} - {{ highest }}{% endset -%}
{{ nbsql.exp(difference) }}{% if not loop.last %} + {% endif %}
{%- endfor %}
{%- endset -%}
CASE WHEN {{ highest }} > -{{ nbsql.infinity() }} THEN {{ highest }} + ln({{ mass }}) ELSE -{{ nbsql.infinity() }} END
{%- endif %}
{%- endmacro %}

{# The same in the long form, from the relation joint_of_members(nbsql_row, class_no, joint). #}
{% macro mixture_joints(parameters) -%}
{% set difference %}joint - highest{% endset -%}
SELECT
  nbsql_row,
  class_no,
  {% set mass = nbsql.list_total(nbsql.list_mapped(nbsql.word('joints'), nbsql.exp(difference), 'joint')) %}
  {{ nbsql.log_sum(nbsql.word('highest'), mass) }} AS joint
FROM (
  SELECT
    joint_of_members.nbsql_row,
    parameters.of_class AS class_no,
    max(joint_of_members.joint) AS highest,
    {{ nbsql.ordered_list(nbsql.word('joint_of_members.joint'), nbsql.word('joint_of_members.class_no')) }} AS joints
  FROM joint_of_members
  JOIN {{ parameters }} AS parameters ON parameters.class_no = joint_of_members.class_no
  GROUP BY joint_of_members.nbsql_row, parameters.of_class
) AS parts
{%- endmacro %}

{#
  The explanation of a mixture, from those of its members. With the responsibility r_j, the share of component j in p(x, c),

    ln p(x, c) = sum over j of r_j (ln P(c, j) - ln r_j) + sum over the features of the sum over j of r_j ln p(x_f | c, j)

  This is exact, because r_j p(x, c) = p(x, c, j) (Neal and Hinton, A view of the EM algorithm, 1998: these r attain the bound). So a
  contribution is the mean over the components, weighted by their responsibilities. The row of the prior holds the first sum: ln P(c),
  less the divergence of the responsibilities in this row from the component shares of the class. If no component explains the row, the
  first one is used.
#}
{% macro mixture_contributions() -%}
{% set difference %}joint - highest{% endset -%}
shares AS (
  SELECT
    nbsql_row,
    member,
    of_class,
    CASE
      WHEN highest > -{{ nbsql.infinity() }}
        THEN {{ nbsql.exp(difference) }} / sum({{ nbsql.exp(difference) }}) OVER (PARTITION BY nbsql_row, of_class)
      WHEN member = of_class THEN 1
      ELSE 0
    END AS share
  FROM (
    SELECT joints.*, parameters.of_class, max(joints.joint) OVER (PARTITION BY joints.nbsql_row, parameters.of_class) AS highest
    FROM (
      SELECT nbsql_row, class_no AS member, sum(contribution) AS joint
      FROM contributions_of_members
      GROUP BY nbsql_row, class_no
    ) AS joints
    JOIN parameters ON parameters.class_no = joints.member
  ) AS joints
),
contributions AS (
  SELECT
    members.nbsql_row,
    shares.of_class AS class_no,
    members.feature_no,
    members.feature,
    members.value,
    sum(
      shares.share * CASE WHEN members.feature_no = 0 THEN members.contribution - ln(shares.share) ELSE members.contribution END
    ) AS contribution
  FROM contributions_of_members AS members
  JOIN shares ON shares.nbsql_row = members.nbsql_row AND shares.member = members.class_no
  WHERE shares.share > 0
  GROUP BY members.nbsql_row, shares.of_class, members.feature_no, members.feature, members.value
)
{%- endmacro %}
