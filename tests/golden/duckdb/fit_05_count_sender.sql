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
    class,
    'sender' AS feature,
    value,
    sum(weight) AS n
  FROM (
    SELECT
      CAST(source."label" AS VARCHAR) COLLATE "C" AS class,
      CAST(source."trust" AS DOUBLE) AS weight,
      CAST(source."sender" AS VARCHAR) COLLATE "C" AS value
    FROM "main"."inbox" AS source
    WHERE CAST(source."label" AS VARCHAR) COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE) > 0
  ) AS levels
  GROUP BY class, value
) AS counted;
