{#
  Covariance matrices of Spark's cells, which the general macros (estimating/covariance.sql) solve on DuckDB, in the process of Python: they
  need recursion, and Spark would compute each common table expression wherever it is named.
#}

{# One row per class and cell of some features, and one per class: class, as text, feature, value, n, mean, m2. #}
{% macro cells_to_solve(statistics, features, priors=none) -%}
SELECT {{ nbsql.text_of(nbsql.word('class')) }} AS class, feature, value, n, mean, m2
FROM {{ nbsql.subquery(nbsql.pooled_moments(nbsql.comoments_of(statistics, features), ['class', 'feature', 'value'])) }} AS comoments
UNION ALL
SELECT {{ nbsql.text_of(nbsql.word('class')) }}, NULL, NULL, n, NULL, NULL
FROM {{ priors or nbsql.subquery(nbsql.class_counts(statistics)) }} AS classes
{%- endmacro %}

{# The columns of likelihoods of what was solved, in which classes are texts. #}
{% macro solved_likelihoods(solved, priors) -%}
SELECT priors.class, {{ nbsql.estimate_columns(nbsql.word('solved')) }}
FROM {{ solved }} AS solved
JOIN {{ priors }} AS priors ON {{ nbsql.text_of(nbsql.word('priors.class')) }} = solved.class
{%- endmacro %}
