CREATE TABLE "spam"."lookups" AS
SELECT
  feature,
  value,
  CASE WHEN likelihood_1 <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(likelihood_1) END AS class_1,
  CASE WHEN likelihood_2 <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(likelihood_2) END AS class_2
FROM (
  WITH counts AS (
    SELECT classes.class_no, counts.feature, counts.value, counts.n
    FROM (
      SELECT class, feature, value, n
      FROM "spam"."statistics" AS statistics
      WHERE feature IS NOT NULL AND mean IS NULL AND feature IN ('body') AND n > 0
    ) AS counts
    JOIN (
      SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, log_prior FROM "spam"."priors" AS priors
    ) AS classes ON classes.class = counts.class
  )
  SELECT *
  FROM (
    WITH values_of AS (
      SELECT
        counts.feature,
        counts.value,
        max(options.alpha) AS alpha,
        sum(CASE WHEN counts.class_no = 1 THEN counts.n ELSE 0 END) AS n_1,
        sum(CASE WHEN counts.class_no = 2 THEN counts.n ELSE 0 END) AS n_2
      FROM counts
      JOIN (
        VALUES
          ('body', 1.0e0, 0)
      ) AS options(feature, alpha, min_count) ON options.feature = counts.feature
      GROUP BY counts.feature, counts.value
      HAVING sum(counts.n) >= max(options.min_count)
    ),
    totals AS (
      SELECT
        feature,
        count(*) AS k,
        sum(n_1) + sum(alpha) AS n_1,
        sum(n_2) + sum(alpha) AS n_2
      FROM values_of
      GROUP BY feature
    )
    SELECT
      values_of.feature,
      values_of.value,
      CASE WHEN totals.n_1 > 0 THEN (values_of.n_1 + values_of.alpha) / totals.n_1 ELSE 1 / CAST(totals.k AS DOUBLE) END AS likelihood_1,
      CASE WHEN totals.n_2 > 0 THEN (values_of.n_2 + values_of.alpha) / totals.n_2 ELSE 1 / CAST(totals.k AS DOUBLE) END AS likelihood_2
    FROM values_of
    JOIN totals ON totals.feature = values_of.feature
    WHERE values_of.value IS NOT NULL
  ) AS estimates
) AS estimates
UNION ALL
SELECT
  smoothed.feature,
  smoothed.value,
  max(CASE WHEN classes.class_no = 1 THEN smoothed.score END) AS class_1,
  max(CASE WHEN classes.class_no = 2 THEN smoothed.score END) AS class_2
FROM (
  SELECT * FROM "spam"."estimates" AS estimates WHERE feature IN ('sender')
) AS smoothed
JOIN (
  SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, log_prior FROM "spam"."priors" AS priors
) AS classes ON classes.class = smoothed.class
WHERE smoothed.value IS NOT NULL
GROUP BY smoothed.feature, smoothed.value;
