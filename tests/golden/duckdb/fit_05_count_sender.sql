INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS VARCHAR) COLLATE "C" AS slice,
  class,
  CAST(feature AS VARCHAR) COLLATE "C" AS feature,
  CAST(value AS VARCHAR) COLLATE "C" AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' COLLATE "C" AS batch
FROM (
  SELECT
    CAST(source."label" AS VARCHAR) COLLATE "C" AS class,
    'sender' AS feature,
    CAST(source."sender" AS VARCHAR) COLLATE "C" AS value,
    sum(CAST(source."trust" AS DOUBLE)) AS n
  FROM "main"."inbox" AS source
  WHERE CAST(source."label" AS VARCHAR) COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE) > 0
  GROUP BY CAST(source."label" AS VARCHAR) COLLATE "C", CAST(source."sender" AS VARCHAR) COLLATE "C"
) AS counted;
