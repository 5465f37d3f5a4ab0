CREATE TABLE "spam"."estimates" AS
WITH classes AS (
  SELECT class FROM "spam"."priors" AS priors
),
counts AS (
  SELECT class, feature, value, n
  FROM "spam"."statistics" AS statistics
  WHERE feature IS NOT NULL AND mean IS NULL AND n > 0
),
moments AS (
  SELECT class, feature, n, mean, CASE WHEN m2 < 0 THEN 0 ELSE m2 END AS m2
  FROM "spam"."statistics" AS statistics
  WHERE mean IS NOT NULL AND value IS NULL AND n > 0
),
pooled_moments AS (
  SELECT
    feature,
    max(wholes.n) AS n,
    max(wholes.mean) AS mean,
    sum(cells.m2 + cells.n * (cells.mean - wholes.mean) * (cells.mean - wholes.mean)) AS m2
  FROM moments AS cells
  JOIN (
    SELECT
      feature,
      sum(n) AS n,
      CASE WHEN min(mean) = max(mean) THEN min(mean) ELSE sum(n * mean) / nullif(sum(n), 0) END AS mean
    FROM moments AS cells
    GROUP BY feature
  ) AS wholes USING (feature)
  GROUP BY feature
),
dirichlet AS (
  SELECT
    class,
    feature,
    value,
    unseen,
    likelihood,
    CASE WHEN likelihood <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(likelihood) END AS log_likelihood,
    CASE WHEN likelihood <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(likelihood) END AS score,
    CAST(NULL AS DOUBLE) AS mean,
    CAST(NULL AS DOUBLE) AS variance,
    CAST(NULL AS DOUBLE) AS rate
  FROM (
    WITH options AS (
      SELECT * FROM (
        VALUES
          ('sender', 1.0e0, 0, TRUE),
          ('replied', 1.0e0, 0, FALSE),
          ('parts', 1.0e0, 0, FALSE)
      ) AS options(feature, alpha, min_count, smooths)
    ),
    values_of AS (
      SELECT counts.feature, counts.value, max(options.alpha) AS alpha
      FROM counts
      JOIN options ON options.feature = counts.feature
      GROUP BY counts.feature, counts.value
    ),
    pseudo_counts AS (
      SELECT feature, value, coalesce(max(declared_alpha), max(alpha)) AS alpha
      FROM (
        SELECT feature, value, alpha, CAST(NULL AS DOUBLE) AS declared_alpha FROM values_of
        UNION ALL
        SELECT feature, value, alpha, alpha
        FROM (
          VALUES
            ('sender', 'colleague', 1.0e0),
            ('replied', 'true', 1.0e0),
            ('replied', 'false', 1.0e0),
            ('parts', 'plain', 1.0e0),
            ('parts', 'html', 1.0e0)
        ) AS declared(feature, value, alpha)
      ) AS seen_or_declared
      GROUP BY feature, value
    ),
    sizes AS (
      SELECT
        pseudo_counts.feature,
        sum(pseudo_counts.alpha) AS alpha,
        max(options.alpha) AS unseen_alpha,
        bool_or(options.smooths) AS smooths,
        count(*) AS k
      FROM pseudo_counts
      JOIN options ON options.feature = pseudo_counts.feature
      GROUP BY pseudo_counts.feature
    ),
    totals AS (
      SELECT counts.class, counts.feature, sum(counts.n) AS n
      FROM counts AS counts
      JOIN options ON options.feature = counts.feature
      GROUP BY counts.class, counts.feature
    ),
    denominators AS (
      SELECT
        classes.class,
        sizes.feature,
        coalesce(totals.n, 0) + sizes.alpha AS n,
        sizes.unseen_alpha,
        sizes.smooths,
        sizes.k
      FROM classes
      JOIN sizes ON TRUE
      LEFT JOIN totals ON totals.class = classes.class AND totals.feature = sizes.feature
    )
    SELECT
      denominators.class,
      denominators.feature,
      pseudo_counts.value,
      FALSE AS unseen,
      CASE WHEN denominators.n > 0 THEN (coalesce(counts.n, 0) + pseudo_counts.alpha) / denominators.n ELSE 1 / CAST(denominators.k AS DOUBLE) END AS likelihood
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
      CASE WHEN n > 0 THEN (0 + unseen_alpha) / n ELSE 1 / CAST(k AS DOUBLE) END
    FROM denominators
    WHERE smooths
  ) AS estimates
),
gaussian AS (
  SELECT
    class,
    feature,
    CAST(NULL AS VARCHAR) COLLATE "C" AS value,
    FALSE AS unseen,
    CAST(NULL AS DOUBLE) AS likelihood,
    CAST(NULL AS DOUBLE) AS log_likelihood,
    CAST(NULL AS DOUBLE) AS score,
    CASE WHEN n > 0 THEN mean ELSE pooled_mean END AS mean,
    greatest(CASE
      WHEN n > 0 THEN CASE WHEN n > lost THEN m2 / (n - lost) ELSE 0 END
      WHEN pooled_n > lost THEN pooled_m2 / (pooled_n - lost)
    END, floor * pooled_m2 / nullif(pooled_n, 0), CASE WHEN pooled_m2 / nullif(pooled_n, 0) > 0 THEN 1e-300 ELSE 0 END) AS variance,
    CAST(NULL AS DOUBLE) AS rate
  FROM (
    SELECT
      classes.class,
      options.feature,
      options.floor,
      options.lost,
      coalesce(cells.n, 0) AS n,
      cells.mean,
      cells.m2,
      pooled.n AS pooled_n,
      pooled.mean AS pooled_mean,
      pooled.m2 AS pooled_m2
    FROM classes
    JOIN (
      VALUES
        ('length', 1e-09, 0.0e0)
    ) AS options(feature, floor, lost) ON TRUE
    LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
    LEFT JOIN pooled_moments AS pooled ON pooled.feature = options.feature
  ) AS known
),
poisson AS (
  SELECT
    class,
    feature,
    CAST(NULL AS VARCHAR) COLLATE "C" AS value,
    FALSE AS unseen,
    CAST(NULL AS DOUBLE) AS likelihood,
    CAST(NULL AS DOUBLE) AS log_likelihood,
    CAST(NULL AS DOUBLE) AS score,
    CAST(NULL AS DOUBLE) AS mean,
    CAST(NULL AS DOUBLE) AS variance,
    CASE WHEN (n + b) > 0 THEN (coalesce(n * mean, 0) + a) / (n + b) ELSE pooled_mean END AS rate
  FROM (
    SELECT
      classes.class,
      options.feature,
      options.a,
      options.b,
      coalesce(cells.n, 0) AS n,
      cells.mean,
      cells.m2,
      pooled.n AS pooled_n,
      pooled.mean AS pooled_mean,
      pooled.m2 AS pooled_m2
    FROM classes
    JOIN (
      VALUES
        ('links', 0.0e0, 0.0e0)
    ) AS options(feature, a, b) ON TRUE
    LEFT JOIN moments AS cells ON cells.class = classes.class AND cells.feature = options.feature
    LEFT JOIN pooled_moments AS pooled ON pooled.feature = options.feature
  ) AS known
)
SELECT * FROM dirichlet UNION ALL
SELECT * FROM gaussian UNION ALL
SELECT * FROM poisson;
