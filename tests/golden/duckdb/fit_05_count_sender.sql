INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS VARCHAR) AS slice,
  source."label" AS class,
  CAST('sender' AS VARCHAR) AS feature,
  CAST(CAST(source."sender" AS VARCHAR) AS VARCHAR) AS value,
  CAST(sum(CAST(source."trust" AS DOUBLE)) AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM "main"."inbox" AS source
WHERE source."label" IS NOT NULL AND CAST(source."trust" AS DOUBLE) > 0
GROUP BY source."label", CAST(source."sender" AS VARCHAR);
