CREATE TABLE `spam`.`priors` USING PARQUET AS
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
    FROM `spam`.`statistics` AS statistics
    WHERE feature IS NULL
    GROUP BY class
    HAVING sum(statistics.n) > CASE
        WHEN min(CASE WHEN statistics.n = CASE WHEN abs(statistics.n) < 9007199254740992.0D THEN floor(statistics.n) ELSE statistics.n END THEN 1 ELSE 0 END) = 1 AND sum(abs(statistics.n)) <= 9007199254740992.0D THEN 0
        ELSE 1e-12 * sum(abs(statistics.n))
      END
  ) AS counts
) AS estimates;
