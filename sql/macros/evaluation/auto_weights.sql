{#
  The weights of the candidates that `auto` has chosen (nbsql/tuning/candidate_terms.py), learnt from the terms of auto.sql instead of from
  models of each fold.
#}

{#
  The terms of one candidate of each column as the evidence from which weights are learnt (learning/weighted.sql): nbsql_row, fold, y,
  weight, e_3_2, that of the third column in the second class beyond the first, and e_0_2, that of all. columns: pairs of a number and a
  place.
#}
{% macro evidence_of_candidates(standing, terms, columns, classes) -%}
SELECT
  standing.nbsql_key AS nbsql_row,
  standing.nbsql_slice AS fold,
  standing.truth AS y,
  standing.weight
  {%- for k in range(2, classes + 1) %},
  evidence.e_0_{{ k }}
  {%- for column in columns %},
  evidence.e_{{ column[0] }}_{{ k }}
  {%- endfor %}
  {%- endfor +%}
FROM {{ standing }} AS standing
JOIN (
  SELECT
    nbsql_key
    {%- for k in range(2, classes + 1) %},
    sum(term_{{ k }}) AS e_0_{{ k }}
    {%- for column in columns %},
    max(CASE WHEN feature = {{ column[0] }} THEN term_{{ k }} END) AS e_{{ column[0] }}_{{ k }}
    {%- endfor %}
    {%- endfor +%}
  FROM (
    {% set first %}greatest({{ nbsql.term_at(1, nbsql.word('tried.chosen')) }}, -1000){% endset %}
    SELECT
      terms.nbsql_key,
      terms.feature
      {%- for k in range(2, classes + 1) %},
      greatest({{ nbsql.term_at(k, nbsql.word('tried.chosen')) }}, -1000) - {{ first }} AS term_{{ k }}
      {%- endfor +%}
    FROM {{ terms }} AS terms
    JOIN {{ nbsql.chosen_places(columns) | indent(4) }} ON tried.feature = terms.feature
  ) AS terms
  GROUP BY nbsql_key
) AS evidence ON evidence.nbsql_key = standing.nbsql_key
{%- endmacro %}

{# The standing of the rows of a fold, which are dealt to two folds. #}
{% macro halves_of_fold(standing, fold, classes) -%}
SELECT
  nbsql_key,
  CAST(nbsql_key % 2 AS {{ nbsql.string() }}){{ nbsql.binary() }} AS nbsql_slice,
  weight,
  truth
  {%- for k in range(1, classes + 1) %},
  joint_{{ k }}
  {%- endfor +%}
FROM {{ standing }} AS standing
WHERE CAST(nbsql_slice AS {{ nbsql.string() }}){{ nbsql.binary() }} = {{ nbsql.text(fold) }}
{%- endmacro %}

{# The terms of several such tables as one table: the features of each are numbered after the `size` features of the one before. #}
{% macro terms_of_parts(tables, size, classes) -%}
{% if tables | length == 1 %}{{ tables[0] }}{% else -%}
(
  {%- for table in tables %}
  SELECT
    nbsql_key,
    feature + {{ loop.index0 * size }} AS feature
    {%- for k in range(1, classes + 1) %},
    term_{{ k }}
    {%- endfor +%}
  FROM {{ table }}
  {%- if not loop.last %}
  UNION ALL
  {%- endif %}
  {%- endfor %}
)
{%- endif %}
{%- endmacro %}

{# The standing of every row by the weights of its fold. points: pairs of a fold and the list of its unknowns. #}
{% macro scores_of_weights(problem, evidence, points) -%}
SELECT
  evidence.nbsql_row AS nbsql_key,
  evidence.fold AS nbsql_slice,
  evidence.weight,
  evidence.y AS truth
  {%- for k in problem.class_numbers %},
  {{ nbsql.score_by_terms(problem, k) }} AS joint_{{ k }}
  {%- endfor +%}
{% set tried -%}
{% call(pair, _) nbsql.constants(points, 'tried', ['name', 'v']) -%}
{% set numbers %}{% for number in pair[1] %}{{ nbsql.number(number) }}{{ nbsql.comma_blank(loop) }}{% endfor %}{% endset -%}
{{ nbsql.text(pair[0]) }}, {{ nbsql.list_of(numbers, nbsql.double()) }}
{%- endcall %}
{%- endset -%}
FROM {{ evidence }} AS evidence
JOIN {{ nbsql.points_tried(problem, tried) }} ON tried.name = CAST(evidence.fold AS {{ nbsql.string() }}){{ nbsql.binary() }}
{%- endmacro %}
