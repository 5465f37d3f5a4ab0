{#
  The shares of the classes among rows whose class is not known, where the rows of a class look as they did and the shares have changed
  (Saerens, Latinne and Decaestecker, Adjusting the outputs of a classifier to new a priori probabilities, 2002). By expectation and
  maximisation, from s_k = prior_k:

    s_k  =  mean over the rows of  p_k s_k / prior_k / (sum over j of p_j s_j / prior_j)

  p_k are the posteriors of a row. The first step is their mean. nbsql/evaluation/shares.py takes the steps.
#}

{#
  One row per row of `scored` that some class explains: posteriors, the list by class number. Those that change no sum are 0, as are such
  ratios: on PostgreSQL a product that is too small for a double is an error.
#}
{% macro posteriors_of_rows(model, scored) -%}
{% set kept %}CASE WHEN p > 1e-100 THEN p ELSE 0 END{% endset -%}
SELECT {{ nbsql.list_mapped(nbsql.posteriors(model), kept, 'p') }} AS posteriors
FROM {{ scored }} AS source
WHERE source.nbsql_highest > -{{ nbsql.infinity() }}
{%- endmacro %}

{# One row per class: class_no, prior. #}
{% macro priors_by_number(model, parameters, priors) -%}
SELECT classes.class_no, priors.prior
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
JOIN {{ priors }} AS priors ON priors.class = classes.class
ORDER BY classes.class_no ASC NULLS LAST
{%- endmacro %}

{# The shares after a step: class_no, share. ratios: s_k / prior_k, by class number. None if there is no row. #}
{% macro shares_step(rows, ratios) -%}
{% set mass %}p * {{ nbsql.element(nbsql.word('ratios'), nbsql.word('k')) }}{% endset -%}
{% set weighed -%}
{{ rows }} AS rows
CROSS JOIN (
  SELECT {% call(ratio) nbsql.array_of_each(ratios) %}{{ nbsql.nullable_double(ratio) }}{% endcall %} AS ratios
) AS ratios
{%- endset -%}
{% set masses = nbsql.with_columns(weighed, [('masses', nbsql.list_mapped(nbsql.word('posteriors'), mass, 'p', 'k'))]) -%}
SELECT class_no, avg(mass / total) AS share
FROM (
  SELECT total, {{ nbsql.unnested_with_places(nbsql.word('masses'), 'class_no', 'mass') }}
  FROM {{ nbsql.with_columns(masses, [('total', nbsql.list_total(nbsql.word('masses')))]) | indent(2) }}
) AS shares
WHERE total > 0
GROUP BY class_no
ORDER BY class_no ASC NULLS LAST
{%- endmacro %}

{# One row per class: class, prior, posterior, share, from tuples of the number of a class and the others. #}
{% macro class_shares(model, parameters, shares) -%}
SELECT {{ nbsql.plain_label(nbsql.word('classes.class'), model.spec.target_type) }} AS class, shares.prior, shares.posterior, shares.share
FROM {{ nbsql.subquery(nbsql.numbered_classes(model, parameters)) }} AS classes
JOIN {% call(row, _) nbsql.constants(shares, 'shares', ['class_no', 'prior', 'posterior', 'share']) -%}
{{ row[0] }}{% for share in row[1:] %}, {{ nbsql.number(share) }}{% endfor %}
{%- endcall %} ON shares.class_no = classes.class_no
ORDER BY classes.class_no ASC NULLS LAST
{%- endmacro %}
