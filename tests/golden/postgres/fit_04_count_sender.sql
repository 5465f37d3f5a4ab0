INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS TEXT) AS slice,
  source."label" COLLATE "C" AS class,
  CAST('sender' AS TEXT) AS feature,
  CAST(CAST(source."sender" AS TEXT) COLLATE "C" AS TEXT) AS value,
  CAST(sum(CAST(source."trust" AS DOUBLE PRECISION)) AS DOUBLE PRECISION) AS n,
  CAST(NULL AS DOUBLE PRECISION) AS mean,
  CAST(NULL AS DOUBLE PRECISION) AS m2,
  '1' AS batch
FROM "public"."inbox" AS source
WHERE source."label" COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE PRECISION) > 0
GROUP BY source."label" COLLATE "C", CAST(source."sender" AS TEXT) COLLATE "C";
