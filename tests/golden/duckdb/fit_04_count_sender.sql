INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS VARCHAR) COLLATE "C" AS slice,
  source."label" COLLATE "C" AS class,
  CAST('sender' AS VARCHAR) COLLATE "C" AS feature,
  CAST(CAST(source."sender" AS VARCHAR) COLLATE "C" AS VARCHAR) COLLATE "C" AS value,
  CAST(sum(CAST(source."trust" AS DOUBLE)) AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' COLLATE "C" AS batch
FROM "main"."inbox" AS source
WHERE source."label" COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE) > 0
GROUP BY source."label" COLLATE "C", CAST(source."sender" AS VARCHAR) COLLATE "C";
