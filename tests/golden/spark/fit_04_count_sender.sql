INSERT INTO `spam`.`statistics`
SELECT
  CAST(NULL AS STRING) AS slice,
  source.`label` AS class,
  CAST('sender' AS STRING) AS feature,
  CAST(CAST(source.`sender` AS STRING) AS STRING) AS value,
  CAST(sum(CAST(source.`trust` AS DOUBLE)) AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM `inbox` AS source
WHERE source.`label` IS NOT NULL AND CAST(source.`trust` AS DOUBLE) > 0
GROUP BY source.`label`, CAST(source.`sender` AS STRING);
