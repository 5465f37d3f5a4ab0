CREATE TABLE `spam`.`statistics` USING PARQUET AS
SELECT
  CAST(NULL AS STRING) AS slice,
  class,
  CAST(NULL AS STRING) AS feature,
  CAST(NULL AS STRING) AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM `nbsql scan` AS scan
WHERE class IS NOT NULL AND n > 0
UNION ALL
SELECT
  CAST(NULL AS STRING) AS slice,
  class,
  feature,
  CAST(value AS STRING) AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(centre + total / n AS DOUBLE) AS mean,
  CAST(CASE WHEN squares - total * total / n > 1e-6 * squares THEN squares - total * total / n WHEN squares IS NOT NULL THEN 0 END AS DOUBLE) AS m2,
  '1' AS batch
FROM (
  SELECT
    scan.class,
    inline(arrays_zip(
      CAST(array(2, 2, 3, 4, 6, 6) AS ARRAY<INTEGER>),
      CAST(array('replied', 'replied', 'length', 'links', 'parts', 'parts') AS ARRAY<STRING>),
      CAST(array('true', 'false', NULL, NULL, 'plain', 'html') AS ARRAY<STRING>),
      CAST(array(true_2, false_2, n_3, n_4, sum_6_1, sum_6_2) AS ARRAY<DOUBLE>),
      CAST(array(NULL, NULL, centre_3, 0, NULL, NULL) AS ARRAY<DOUBLE>),
      CAST(array(NULL, NULL, sum_3, sum_4, NULL, NULL) AS ARRAY<DOUBLE>),
      CAST(array(NULL, NULL, squares_3, NULL, NULL, NULL) AS ARRAY<DOUBLE>)
    )) AS (index, feature, value, n, centre, total, squares)
  FROM `nbsql scan` AS scan
  WHERE scan.class IS NOT NULL
) AS sums
WHERE n > 0;
