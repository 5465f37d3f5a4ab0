{#
  The complement (Rennie, Shih, Teevan and Karger, Tackling the poor assumptions of naive Bayes text classifiers, ICML 2003): what
  a class is not like, estimated from all other classes together, of which there is more.

    theta_ct = (n_t - n_ct + alpha_t) / (n - n_c + sum of alpha)      score = -sum over the tokens or columns t of  x_t ln theta_ct

  With the norm, the weights -ln theta_ct of a class are divided by their sum. `likelihood` is theta. A count that no other
  class has is estimated from alpha alone. The prior does not enter a model of nothing else (compiled.sql); among other
  features it does, and the score stands where their log-likelihoods do.
#}

{% macro complement_likelihoods(features) -%}
{% set normed = features | selectattr('family.normalised_weights') | list -%}
{% set weight %}-({{ nbsql.log(nbsql.word('likelihood')) }}){% endset -%}
SELECT
  class,
  feature,
  value,
  unseen,
  likelihood,
  {{ nbsql.log(nbsql.word('likelihood')) }} AS log_likelihood,
  {% if normed %}
  {{ weight }} / CASE
    WHEN feature IN ({{ nbsql.names(normed) }}) THEN nullif(sum(CASE WHEN NOT unseen THEN {{ weight }} END) OVER (PARTITION BY class, feature), 0)
    ELSE 1
  END
  {%- else %}
  {{ weight }}
  {%- endif %} AS score,
  CAST(NULL AS {{ nbsql.double() }}) AS mean,
  CAST(NULL AS {{ nbsql.double() }}) AS variance,
  CAST(NULL AS {{ nbsql.double() }}) AS rate
FROM (
  WITH others AS (
    SELECT classes.class, everywhere.feature, everywhere.value, greatest(everywhere.n - coalesce(counts.n, 0), 0) AS n
    FROM (
      SELECT feature, value, sum(n) AS n
      FROM counts
      WHERE feature IN ({{ nbsql.names(features) }})
      GROUP BY feature, value
    ) AS everywhere
    CROSS JOIN classes
    LEFT JOIN counts ON counts.class = classes.class AND counts.feature = everywhere.feature AND counts.value = everywhere.value
  )
  SELECT *
  FROM (
    {{ nbsql.dirichlet_estimates(features, nbsql.word('others')) | indent(4) }}
  ) AS opposed
) AS estimates
{%- endmacro %}

{% macro complement_quantities() %}{% endmacro %}

{# Counted and scored as the columns of multinomial.sql. #}
{% macro complement_inputs(feature, centre, careful, centred) -%}
{{ nbsql.multinomial_inputs(feature, centre, careful, centred) }}
{%- endmacro %}

{% macro complement_aggregates(model, feature, centre, careful) -%}
{{ nbsql.multinomial_aggregates(model, feature, centre, careful) }}
{%- endmacro %}

{% macro complement_cells(feature, column) -%}
{{ nbsql.multinomial_cells(feature, column) }}
{%- endmacro %}

{% macro complement_term(feature, k, part=none) -%}
{{ nbsql.multinomial_term(feature, k, part) }}
{%- endmacro %}

{% macro complement_weights(feature, column, degree) -%}
{{ nbsql.multinomial_weights(feature, column, degree) }}
{%- endmacro %}
