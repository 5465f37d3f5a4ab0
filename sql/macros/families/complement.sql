{#
  The complement (Rennie, Shih, Teevan and Karger, Tackling the poor assumptions of naive Bayes text classifiers, ICML 2003). The estimate
  for a class comes from all other classes together, which have more rows:

    theta_ct = (n_t - n_ct + alpha_t) / (n - n_c + sum of alpha)      score = -sum over the tokens or columns t of  x_t ln theta_ct

  With the norm, the weights -ln theta_ct of a class are divided by their sum. `likelihood` is theta. A value that no other class has is
  estimated from alpha alone. The prior does not enter a model with no other features (parameters.sql). Among other features it does, and
  this score is added to their log-likelihoods.
#}

{#
  One row per class, feature and value: the columns of likelihoods (likelihoods.sql). `likelihood` is that of all other classes, and `score`
  the weight derived from it.
#}
{% macro complement_likelihoods(features) -%}
{% set normed = features | selectattr('family.normalised_weights') | list -%}
{% set weight %}-({{ nbsql.safe_ln(nbsql.word('likelihood')) }}){% endset -%}
{% set score -%}
{% if normed %}
{{ weight }} / CASE
  WHEN feature IN ({{ nbsql.feature_names(normed) }})
    THEN nullif(sum(CASE WHEN NOT unseen THEN {{ weight }} END) OVER (PARTITION BY class, feature), 0)
  ELSE 1
END
{%- else %}
{{ weight }}
{%- endif %}
{%- endset -%}
SELECT
  {{ nbsql.likelihood_columns(score, unseen=nbsql.word('unseen')) | indent(2) }}
FROM (
  WITH other_classes AS (
    {% set n %}everywhere.n - coalesce(counts.n, 0){% endset %}
    SELECT classes.class, everywhere.feature, everywhere.value, {{ nbsql.greatest_of_few([n, 0]) }} AS n
    FROM (
      SELECT feature, value, sum(n) AS n
      FROM counts
      WHERE feature IN ({{ nbsql.feature_names(features) }})
      GROUP BY feature, value
    ) AS everywhere
    JOIN classes ON TRUE
    LEFT JOIN counts ON counts.class = classes.class AND counts.feature = everywhere.feature AND counts.value = everywhere.value
  )
  SELECT *
  FROM {{ nbsql.subquery(nbsql.dirichlet_estimates(features, nbsql.word('other_classes'))) | indent(2) }} AS of_other_classes
) AS estimates
{%- endmacro %}
