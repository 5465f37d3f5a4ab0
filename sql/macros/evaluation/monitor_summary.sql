{#
  One row per period of the rows of monitor:

    period
    rows, labelled, accuracy, log_loss, log_evidence   as there
    feature, psi, moved   the feature that moved most, how far, and the value that moved most; NULL if none is known
#}
{% macro monitor_summary(monitored) -%}
SELECT
  period,
  {% for metric in ['rows', 'labelled', 'accuracy', 'log_loss', 'log_evidence'] %}
  max(CASE WHEN metric = {{ nbsql.text(metric) }} AND feature IS NULL THEN value END) AS {{ nbsql.ident(metric) }},
  {% endfor %}
  max(CASE WHEN metric = 'psi' AND place = 1 THEN feature END) AS feature,
  max(CASE WHEN metric = 'psi' AND place = 1 THEN value END) AS psi,
  max(CASE WHEN metric = 'psi' AND place = 1 THEN moved END) AS moved
FROM (
  SELECT
    period, feature, metric, value, moved,
    CASE WHEN feature IS NOT NULL AND value IS NOT NULL
      THEN row_number() OVER (
        PARTITION BY period, metric ORDER BY CASE WHEN feature IS NOT NULL THEN value END DESC NULLS LAST, feature ASC NULLS LAST
      ) END AS place
  FROM {{ nbsql.subquery(monitored) | indent(2) }} AS monitored
) AS ranked
GROUP BY period
ORDER BY {{ nbsql.as_number(nbsql.word('period')) }} ASC NULLS LAST, period ASC NULLS LAST
{%- endmacro %}
