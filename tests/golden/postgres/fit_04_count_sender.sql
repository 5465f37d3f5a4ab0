INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS TEXT) COLLATE "C" AS slice,
  class,
  CAST(feature AS TEXT) COLLATE "C" AS feature,
  CAST(value AS TEXT) COLLATE "C" AS value,
  CAST(n AS DOUBLE PRECISION) AS n,
  CAST(NULL AS DOUBLE PRECISION) AS mean,
  CAST(NULL AS DOUBLE PRECISION) AS m2,
  '1' COLLATE "C" AS batch
FROM (
  SELECT
    CAST(source."label" AS TEXT) COLLATE "C" AS class,
    'sender' AS feature,
    CAST(source."sender" AS TEXT) COLLATE "C" AS value,
    sum(CAST(source."trust" AS DOUBLE PRECISION)) AS n
  FROM "public"."inbox" AS source
  WHERE CAST(source."label" AS TEXT) COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE PRECISION) > 0
  GROUP BY CAST(source."label" AS TEXT) COLLATE "C", CAST(source."sender" AS TEXT) COLLATE "C"
) AS counted;
