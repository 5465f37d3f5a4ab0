CREATE TABLE `spam`.`lookups` USING PARQUET AS
SELECT
  smoothed.feature,
  smoothed.value,
  max(CASE WHEN classes.class_no = 1 THEN smoothed.score END) AS class_1,
  max(CASE WHEN classes.class_no = 2 THEN smoothed.score END) AS class_2
FROM (
  SELECT * FROM `spam`.`estimates` AS estimates WHERE feature IN ('sender', 'body')
) AS smoothed
JOIN (
  SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, log_prior FROM `spam`.`priors` AS priors
) AS classes ON classes.class = smoothed.class
WHERE smoothed.value IS NOT NULL
GROUP BY smoothed.feature, smoothed.value;
