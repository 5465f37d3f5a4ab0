{#
  The counts from which bins are cut where the classes differ (nbsql/family/mdl.py). Every value may be a cut of a feature with up to 1,000
  different ones. With more, neighbours are first put together in some 256 bins of as many rows each, and only these are told apart. A value
  of as many rows as such a bin is a bin of its own.

  One row per bin and class: feature (its index), x (the largest value of the bin), least (the smallest), class, n. The bins are found from
  one row in `share`, as counts_in_histograms says.
#}
{% macro binned_mdl(model, source, features, share=1, is_varied=false) -%}
{% if share > 1 %}{{ nbsql.counts_in_histograms(model, source, features, share, is_varied) }}
{%- else %}{{ nbsql.mdl_counts(model, source, features) }}
{%- endif %}
{%- endmacro %}

{# One row per bin and class: feature, x, least, class, n. Bins of several values have numbers below 0. #}
{% macro mdl_counts(model, source, features) -%}
SELECT
  feature,
  max(most) OVER (PARTITION BY feature, bin) AS x,
  min(least) OVER (PARTITION BY feature, bin) AS least,
  class,
  n
FROM (
  SELECT feature, bin, class, sum(n) AS n, max(x) AS most, min(x) AS least
  FROM (
    SELECT
      feature,
      CASE
        WHEN of_value * 256 >= total OR max(place) OVER (PARTITION BY feature) <= 1000 THEN place
        ELSE -1 - floor((up_to - of_value) * 256 / total + 1e-9)
      END AS bin,
      class,
      x,
      n
    FROM (
      SELECT
        feature,
        class,
        x,
        n,
        dense_rank() OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS place,
        sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST) AS up_to,
        sum(n) OVER (PARTITION BY feature ORDER BY x ASC NULLS LAST RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS of_value,
        sum(n) OVER (PARTITION BY feature) AS total
      FROM (
        SELECT feature, x, class, CAST(sum(weight) AS {{ nbsql.double() }}) AS n
        FROM {{ nbsql.subquery(nbsql.numbers_of_features(model, source, features)) | indent(8) }} AS numbers
        WHERE x IS NOT NULL
        GROUP BY feature, x, class
      ) AS counts
    ) AS places
  ) AS bins
  GROUP BY feature, bin, class
) AS bins
{%- endmacro %}
