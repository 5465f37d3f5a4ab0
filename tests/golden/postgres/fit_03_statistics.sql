CREATE TABLE "spam"."statistics" AS
SELECT
  CAST(NULL AS TEXT) COLLATE "C" AS slice,
  class,
  CAST(NULL AS TEXT) COLLATE "C" AS feature,
  CAST(NULL AS TEXT) COLLATE "C" AS value,
  CAST(n AS DOUBLE PRECISION) AS n,
  CAST(NULL AS DOUBLE PRECISION) AS mean,
  CAST(NULL AS DOUBLE PRECISION) AS m2,
  '1' COLLATE "C" AS batch
FROM "pg_temp"."nbsql scan" AS scan
WHERE class IS NOT NULL AND n > 0
UNION ALL
SELECT
  CAST(NULL AS TEXT) COLLATE "C" AS slice,
  class,
  feature,
  CAST(value AS TEXT) COLLATE "C" AS value,
  CAST(n AS DOUBLE PRECISION) AS n,
  CAST(centre + total / n AS DOUBLE PRECISION) AS mean,
  CAST(CASE WHEN squares - total * total / n > 1e-6 * squares THEN squares - total * total / n WHEN squares IS NOT NULL THEN 0 END AS DOUBLE PRECISION) AS m2,
  '1' COLLATE "C" AS batch
FROM (
  SELECT
    scan.class,
    unnest(CAST(ARRAY[2, 2, 3, 4, 6, 6] AS INTEGER[])) AS index,
    unnest(CAST(ARRAY['replied', 'replied', 'length', 'links', 'parts', 'parts'] AS TEXT[])) AS feature,
    unnest(CAST(ARRAY['true', 'false', NULL, NULL, 'plain', 'html'] AS TEXT[])) AS value,
    unnest(CAST(ARRAY[true_2, false_2, n_3, n_4, sum_6_1, sum_6_2] AS DOUBLE PRECISION[])) AS n,
    unnest(CAST(ARRAY[NULL, NULL, centre_3, 0, NULL, NULL] AS DOUBLE PRECISION[])) AS centre,
    unnest(CAST(ARRAY[NULL, NULL, sum_3, sum_4, NULL, NULL] AS DOUBLE PRECISION[])) AS total,
    unnest(CAST(ARRAY[NULL, NULL, squares_3, NULL, NULL, NULL] AS DOUBLE PRECISION[])) AS squares
  FROM "pg_temp"."nbsql scan" AS scan
  WHERE scan.class IS NOT NULL
) AS sums
WHERE n > 0;
