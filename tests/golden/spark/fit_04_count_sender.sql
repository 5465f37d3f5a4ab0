INSERT INTO `spam`.`statistics`
SELECT
  CAST(NULL AS STRING) AS slice,
  class,
  CAST(feature AS STRING) AS feature,
  CAST(value AS STRING) AS value,
  CAST(n AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM (
  SELECT
    source.`label` AS class,
    'sender' AS feature,
    CAST(source.`sender` AS STRING) AS value,
    sum(CAST(source.`trust` AS DOUBLE)) AS n
  FROM `inbox` AS source
  WHERE source.`label` IS NOT NULL AND CAST(source.`trust` AS DOUBLE) > 0
  GROUP BY source.`label`, CAST(source.`sender` AS STRING)
) AS counted;
