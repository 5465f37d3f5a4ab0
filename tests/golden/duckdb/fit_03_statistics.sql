CREATE TABLE "spam"."statistics" AS
SELECT
  CAST(NULL AS VARCHAR) AS slice,
  class,
  CAST(NULL AS VARCHAR) AS feature,
  CAST(NULL AS VARCHAR) AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM "scan" AS scan
WHERE class IS NOT NULL AND n > 0;
