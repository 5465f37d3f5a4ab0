{#
  The lookups (parameters.sql) of categories and tokens directly from their counts: feature, value, idf if other features have one,
  class_1, class_2, ...

  Most words occur in few classes. The likelihoods, one row per class and word, are dense. Laying out the few existing counts in columns
  before smoothing them makes one row per word. For 2 million words and 20 classes this takes a third of the time.
#}
{% macro dirichlet_lookups(model, statistics, priors, features, with_idf) -%}
{% set estimates -%}
WITH values_of AS (
  SELECT
    counts.feature,
    counts.value,
    max(options.alpha) AS alpha
    {%- for k in model.form.class_numbers %},
    sum(CASE WHEN counts.class_no = {{ k }} THEN counts.n ELSE 0 END) AS n_{{ k }}
    {%- endfor +%}
  FROM counts
  JOIN {{ nbsql.options_of_counts(features) | indent(2) }} ON options.feature = counts.feature
  GROUP BY counts.feature, counts.value
  HAVING sum(counts.n) >= max(options.min_count)
),
totals AS (
  SELECT
    feature,
    count(*) AS k
    {%- for k in model.form.class_numbers %},
    sum(n_{{ k }}) + sum(alpha) AS n_{{ k }}
    {%- endfor +%}
  FROM values_of
  GROUP BY feature
)
SELECT
  values_of.feature,
  values_of.value
  {%- for k in model.form.class_numbers %}
  {%- set n %}values_of.n_{{ k }}{% endset %}
  {%- set total %}totals.n_{{ k }}{% endset %},
  {{ nbsql.dirichlet_likelihood(n, nbsql.word('values_of.alpha'), total, nbsql.word('totals.k')) }} AS likelihood_{{ k }}
  {%- endfor +%}
FROM values_of
JOIN totals ON totals.feature = values_of.feature
WHERE values_of.value IS NOT NULL
{%- endset -%}
{% call(k) nbsql.lookups_of_estimates(model, statistics, priors, estimates, features, with_idf) -%}
{% set likelihood %}likelihood_{{ k }}{% endset -%}
{{ nbsql.safe_ln(likelihood) }}
{%- endcall %}
{%- endmacro %}

{#
  Lookups from a query of estimates with all classes of a value side by side, of which the caller makes the score of a class. The query
  reads the relation counts: class_no, feature, value, n of its features, so that no query groups the cells of those of another.
#}
{% macro lookups_of_estimates(model, statistics, priors, estimates, features, with_idf) -%}
{% set all = model.facts.features | selectattr('family.has_lookups') | list -%}
{% set own = features if all | length > features | length else [] -%}
SELECT
  feature,
  value
  {%- if with_idf %},
  1 AS idf
  {%- endif %}
  {%- for k in model.form.class_numbers %},
  {{ caller(k) }} AS class_{{ k }}
  {%- endfor +%}
FROM (
  WITH counts AS (
    SELECT classes.class_no, counts.feature, counts.value, counts.n
    FROM {{ nbsql.subquery(nbsql.counts_of(statistics, single=model.options.has_unique_cells, only=own)) | indent(4) }} AS counts
    JOIN (
      {{ nbsql.classes(priors) }}
    ) AS classes ON classes.class = counts.class
  )
  SELECT *
  FROM {{ nbsql.subquery(estimates) | indent(2) }} AS estimates
) AS estimates
{%- endmacro %}
