CREATE TABLE "spam"."statistics" AS
SELECT
  CAST(NULL AS VARCHAR) COLLATE "C" AS slice,
  class,
  CAST(NULL AS VARCHAR) COLLATE "C" AS feature,
  CAST(NULL AS VARCHAR) COLLATE "C" AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' COLLATE "C" AS batch
FROM "temp"."main"."nbsql scan" AS scan
WHERE class IS NOT NULL AND n > 0
UNION ALL
SELECT
  CAST(NULL AS VARCHAR) COLLATE "C" AS slice,
  class,
  feature,
  CAST(value AS VARCHAR) COLLATE "C" AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(centre + total / n AS DOUBLE) AS mean,
  CAST(CASE WHEN squares - total * total / n > 1e-6 * squares THEN squares - total * total / n WHEN squares IS NOT NULL THEN 0 END AS DOUBLE) AS m2,
  '1' COLLATE "C" AS batch
FROM (
  SELECT
    scan.class,
    unnest([2, 2, 3, 4, 6, 6]) AS index,
    unnest(['replied', 'replied', 'length', 'links', 'parts', 'parts']) AS feature,
    unnest(['true', 'false', NULL, NULL, 'plain', 'html']) AS value,
    unnest([true_2, false_2, n_3, n_4, sum_6_1, sum_6_2]) AS n,
    unnest([NULL, NULL, centre_3, 0, NULL, NULL]) AS centre,
    unnest([NULL, NULL, sum_3, sum_4, NULL, NULL]) AS total,
    unnest([NULL, NULL, squares_3, NULL, NULL, NULL]) AS squares
  FROM "temp"."main"."nbsql scan" AS scan
  WHERE scan.class IS NOT NULL
) AS sums
WHERE n > 0;
