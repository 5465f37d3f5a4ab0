CREATE VIEW "spam"."likelihoods" AS
SELECT class, feature, value, likelihood, log_likelihood, mean, variance, rate
FROM (
  SELECT * FROM "spam"."estimates" AS estimates
  UNION ALL
  SELECT * FROM (
    WITH classes AS (
      SELECT class FROM (
      SELECT
        class,
        n,
        prior,
        CASE WHEN prior <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(prior) END AS log_prior
      FROM (
        SELECT
          counts.class,
          counts.n,
          counts.n / sum(counts.n) OVER () AS prior
        FROM (
          SELECT class, sum(n) AS n
          FROM "spam"."statistics" AS statistics
          WHERE feature IS NULL
          GROUP BY class
          HAVING sum(statistics.n) > CASE
              WHEN min(CASE WHEN statistics.n = floor(statistics.n) THEN 1 ELSE 0 END) = 1 AND sum(abs(statistics.n)) <= 9007199254740992.0e0 THEN 0
              ELSE 1e-12 * sum(abs(statistics.n))
            END
        ) AS counts
      ) AS estimates
    ) AS priors
    ),
    counts AS (
      SELECT class, feature, value, sum(n) AS n
      FROM "spam"."statistics" AS statistics
      WHERE feature IS NOT NULL AND mean IS NULL
      GROUP BY class, feature, value
      HAVING sum(statistics.n) > CASE
          WHEN min(CASE WHEN statistics.n = floor(statistics.n) THEN 1 ELSE 0 END) = 1 AND sum(abs(statistics.n)) <= 9007199254740992.0e0 THEN 0
          ELSE 1e-12 * sum(abs(statistics.n))
        END
    ),
    moments AS (
      SELECT
        class, feature,
        sum(n) AS n,
        CASE WHEN min(n) < 0 AND NOT sum(square) > 1e-12 * sum(abs(square)) THEN coalesce(round(max(centre) * power(10, least(12 - floor(ln(nullif(max(abs(mean)), 0)) / ln(10)), 300))) / power(10, least(12 - floor(ln(nullif(max(abs(mean)), 0)) / ln(10)), 300)), 0) ELSE max(centre) END AS mean,
        CASE WHEN sum(square) > 1e-12 * sum(abs(square)) THEN sum(square) WHEN sum(m2) IS NOT NULL THEN 0 END AS m2
      FROM (
        SELECT *, m2 + n * (mean - centre) * (mean - centre) AS square
        FROM (
          SELECT
            *,
            CASE
              WHEN min(mean) OVER (PARTITION BY class, feature) = max(mean) OVER (PARTITION BY class, feature) THEN mean
              ELSE sum(n * mean) OVER (PARTITION BY class, feature) / nullif(sum(n) OVER (PARTITION BY class, feature), 0)
            END AS centre
          FROM (
            SELECT class, feature, mean, sum(n) AS n, sum(m2) AS m2, sum(abs(n)) AS gross
            FROM (SELECT * FROM "spam"."statistics" AS statistics WHERE mean IS NOT NULL AND value IS NULL) AS cells
            GROUP BY class, feature, mean
            HAVING abs(sum(cells.n)) > CASE
          WHEN min(CASE WHEN cells.n = floor(cells.n) THEN 1 ELSE 0 END) = 1 AND sum(abs(cells.n)) <= 9007199254740992.0e0 THEN 0
          ELSE 1e-12 * sum(abs(cells.n))
        END
              OR abs(sum(cells.m2)) > 1e-9 * sum(abs(cells.m2))
          ) AS distinct_means
        ) AS centred
      ) AS parts
      GROUP BY class, feature
      HAVING sum(parts.n) > CASE
          WHEN min(CASE WHEN parts.n = floor(parts.n) THEN 1 ELSE 0 END) = 1 AND sum(gross) <= 9007199254740992.0e0 THEN 0
          ELSE 1e-12 * sum(gross)
        END
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
              ('body', 1.0e0, 0, FALSE)
          ) AS options(feature, alpha, min_count, smooths)
        ),
        pseudo_counts AS (
          SELECT counts.feature, counts.value, max(options.alpha) AS alpha
          FROM counts
          JOIN options ON options.feature = counts.feature
          GROUP BY counts.feature, counts.value
        ),
        sizes AS (
          SELECT
            pseudo_counts.feature,
            sum(pseudo_counts.alpha) AS alpha,
            count(*) AS k
          FROM pseudo_counts
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
      ) AS estimates
    )
    SELECT * FROM dirichlet
  ) AS tokens
  WHERE feature IN ('body')
) AS smoothed
WHERE NOT unseen;
