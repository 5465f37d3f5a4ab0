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
    HAVING sum(n) > 1e-9 * sum(abs(n))
  ) AS counts
) AS estimates;
