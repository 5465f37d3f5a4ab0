CREATE TABLE "spam"."lookups" AS
SELECT
  feature,
  value,
  CASE WHEN likelihood_1 <= 0 THEN -CAST('infinity' AS DOUBLE PRECISION) ELSE ln(likelihood_1) END AS class_1,
  CASE WHEN likelihood_2 <= 0 THEN -CAST('infinity' AS DOUBLE PRECISION) ELSE ln(likelihood_2) END AS class_2
FROM (
  WITH values_of AS (
    SELECT
      counts.feature,
      counts.value,
      max(options.alpha) AS alpha,
      sum(CASE WHEN classes.class_no = 1 THEN counts.n ELSE 0 END) AS n_1,
      sum(CASE WHEN classes.class_no = 2 THEN counts.n ELSE 0 END) AS n_2
    FROM (
      SELECT class, feature, value, sum(n) AS n
      FROM "spam"."statistics" AS statistics
      WHERE feature IS NOT NULL AND mean IS NULL
      GROUP BY class, feature, value
      HAVING sum(n) > 1e-9 * sum(abs(n))
    ) AS counts
    JOIN (
      SELECT row_number() OVER (ORDER BY prior DESC, class) AS class_no, class, log_prior FROM "spam"."priors" AS priors
    ) AS classes ON classes.class = counts.class
    JOIN (
      VALUES
        ('body', float8 '1.0', 0)
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
    CASE WHEN totals.n_1 > 0 THEN (values_of.n_1 + values_of.alpha) / totals.n_1 ELSE 1 / CAST(totals.k AS DOUBLE PRECISION) END AS likelihood_1,
    CASE WHEN totals.n_2 > 0 THEN (values_of.n_2 + values_of.alpha) / totals.n_2 ELSE 1 / CAST(totals.k AS DOUBLE PRECISION) END AS likelihood_2
  FROM values_of
  JOIN totals ON totals.feature = values_of.feature
  WHERE values_of.value IS NOT NULL
) AS estimates
UNION ALL
SELECT
  smoothed.feature,
  smoothed.value,
  max(CASE WHEN classes.class_no = 1 THEN smoothed.score END) AS class_1,
  max(CASE WHEN classes.class_no = 2 THEN smoothed.score END) AS class_2
FROM (
  WITH classes AS (
    SELECT class FROM "spam"."priors" AS priors
  ),
  counts AS (
    SELECT class, feature, value, sum(n) AS n
    FROM "spam"."statistics" AS statistics
    WHERE feature IS NOT NULL AND mean IS NULL
    GROUP BY class, feature, value
    HAVING sum(n) > 1e-9 * sum(abs(n))
  ),
  moments AS (
    SELECT
      class, feature,
      sum(n) AS n,
      CASE WHEN min(n) < 0 AND NOT sum(m2 + n * (mean - centre) * (mean - centre)) > 1e-12 * sum(abs(m2 + n * (mean - centre) * (mean - centre))) THEN coalesce(round(max(centre) * power(10, least(12 - floor(ln(nullif(max(abs(mean)), 0)) / ln(10)), 300))) / power(10, least(12 - floor(ln(nullif(max(abs(mean)), 0)) / ln(10)), 300)), 0) ELSE max(centre) END AS mean,
      CASE WHEN sum(m2 + n * (mean - centre) * (mean - centre)) > 1e-12 * sum(abs(m2 + n * (mean - centre) * (mean - centre))) THEN sum(m2 + n * (mean - centre) * (mean - centre)) WHEN sum(m2) IS NOT NULL THEN 0 END AS m2
    FROM (
      SELECT *, least + sum(n * (mean - least)) OVER parts / nullif(sum(n) OVER parts, 0) AS centre
      FROM (
        SELECT *, min(mean) OVER (PARTITION BY class, feature) AS least
        FROM (
          SELECT class, feature, mean, sum(n) AS n, sum(m2) AS m2, sum(abs(n)) AS gross
          FROM (SELECT * FROM "spam"."statistics" AS statistics WHERE mean IS NOT NULL AND value IS NULL) AS cells
          GROUP BY class, feature, mean
          HAVING abs(sum(n)) > 1e-9 * sum(abs(n)) OR abs(sum(m2)) > 1e-9 * sum(abs(m2))
        ) AS distinct_means
      ) AS shifted
      WINDOW parts AS (PARTITION BY class, feature)
    ) AS parts
    GROUP BY class, feature
    HAVING sum(n) > 1e-9 * sum(gross)
  ),
  dirichlet AS (
    SELECT
      class,
      feature,
      value,
      unseen,
      likelihood,
      CASE WHEN likelihood <= 0 THEN -CAST('infinity' AS DOUBLE PRECISION) ELSE ln(likelihood) END AS log_likelihood,
      CASE WHEN likelihood <= 0 THEN -CAST('infinity' AS DOUBLE PRECISION) ELSE ln(likelihood) END AS score,
      CAST(NULL AS DOUBLE PRECISION) AS mean,
      CAST(NULL AS DOUBLE PRECISION) AS variance,
      CAST(NULL AS DOUBLE PRECISION) AS rate
    FROM (
      WITH options(feature, alpha, min_count, smooths) AS (
        VALUES
          ('sender', float8 '1.0', 0, TRUE)
      ),
      values_of AS (
        SELECT counts.feature, counts.value, sum(counts.n) AS n, max(options.alpha) AS alpha
        FROM counts
        JOIN options ON options.feature = counts.feature
        GROUP BY counts.feature, counts.value
        HAVING sum(counts.n) >= max(options.min_count)
      ),
      levels AS (
      SELECT feature, value, max(CASE WHEN declared THEN alpha END) AS declared_alpha, max(alpha) AS alpha
        FROM (
          SELECT feature, value, alpha, FALSE AS declared FROM values_of
          UNION ALL
          SELECT feature, value, alpha, TRUE
          FROM (
            VALUES
              ('sender', 'colleague', float8 '1.0')
          ) AS declared(feature, value, alpha)
        ) AS seen_or_declared
        GROUP BY feature, value
      ),
      pseudo_counts AS (
        SELECT feature, value, coalesce(declared_alpha, alpha) AS alpha FROM levels
      ),
      sizes AS (
        SELECT pseudo_counts.feature, sum(pseudo_counts.alpha) AS alpha, count(*) AS k, max(options.alpha) AS unseen_alpha, bool_or(options.smooths) AS smooths
        FROM pseudo_counts
        JOIN options ON options.feature = pseudo_counts.feature
        GROUP BY pseudo_counts.feature
      ),
      totals AS (
        SELECT counts.class, counts.feature, sum(counts.n) AS n
        FROM counts AS counts
        JOIN values_of ON values_of.feature = counts.feature AND values_of.value IS NOT DISTINCT FROM counts.value
        GROUP BY counts.class, counts.feature
      ),
      denominators AS (
        SELECT classes.class, sizes.feature, coalesce(totals.n, 0) + sizes.alpha AS n, sizes.k, sizes.unseen_alpha, sizes.smooths
        FROM classes
        CROSS JOIN sizes
        LEFT JOIN totals ON totals.class = classes.class AND totals.feature = sizes.feature
      )
      SELECT
        denominators.class,
        denominators.feature,
        pseudo_counts.value,
        FALSE AS unseen,
        CASE WHEN denominators.n > 0 THEN (coalesce(counts.n, 0) + pseudo_counts.alpha) / denominators.n ELSE 1 / CAST(denominators.k AS DOUBLE PRECISION) END AS likelihood
      FROM denominators
      JOIN pseudo_counts ON pseudo_counts.feature = denominators.feature
      LEFT JOIN counts AS counts
        ON counts.class = denominators.class
        AND counts.feature = pseudo_counts.feature
        AND counts.value IS NOT DISTINCT FROM pseudo_counts.value
      UNION ALL
      SELECT
        class,
        feature,
        NULL,
        TRUE,
        CASE WHEN n > 0 THEN (0 + unseen_alpha) / n ELSE 1 / CAST(k AS DOUBLE PRECISION) END
      FROM denominators
      WHERE smooths
    ) AS estimates
  )
  SELECT * FROM dirichlet
) AS smoothed
JOIN (
  SELECT row_number() OVER (ORDER BY prior DESC, class) AS class_no, class, log_prior FROM "spam"."priors" AS priors
) AS classes ON classes.class = smoothed.class
WHERE smoothed.value IS NOT NULL
GROUP BY smoothed.feature, smoothed.value;
