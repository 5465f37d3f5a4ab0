WITH nbsql_rows AS (
  SELECT
    CAST(source.`label` AS STRING) AS nbsql_class,
    CAST(source.`trust` AS FLOAT64) AS nbsql_weight,
    CAST(source.`sender` AS STRING) AS nbsql_x_1,
    CASE source.`replied` WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END AS nbsql_x_2,
    CASE WHEN ABS(CAST(source.`length` AS FLOAT64)) <= 1e+150 THEN CAST(source.`length` AS FLOAT64) END AS nbsql_x_3,
    CASE WHEN ABS(CAST(source.`links` AS FLOAT64)) <= 1e+150 THEN CAST(source.`links` AS FLOAT64) END AS nbsql_x_4,
    CASE WHEN ABS(CAST(source.`plain` AS FLOAT64)) <= 1e+150 THEN CAST(source.`plain` AS FLOAT64) END AS nbsql_x_5_1,
    CASE WHEN ABS(CAST(source.`html` AS FLOAT64)) <= 1e+150 THEN CAST(source.`html` AS FLOAT64) END AS nbsql_x_5_2
  FROM inbox AS source
  WHERE source.`label` IS NOT NULL AND CAST(source.`trust` AS FLOAT64) > 0
),
nbsql_means AS (
  SELECT
    nbsql_class,
    CASE WHEN MIN(nbsql_x_3) = MAX(nbsql_x_3) THEN MIN(nbsql_x_3) ELSE SUM(nbsql_weight * nbsql_x_3) / SUM(CASE WHEN nbsql_x_3 IS NOT NULL THEN nbsql_weight END) END AS nbsql_mean_3
  FROM nbsql_rows
  GROUP BY nbsql_class
)
SELECT
  nbsql_class AS class,
  CAST(NULL AS STRING) AS feature,
  CAST(NULL AS STRING) AS value,
  SUM(nbsql_weight) AS n,
  CAST(NULL AS FLOAT64) AS mean,
  CAST(NULL AS FLOAT64) AS m2
FROM nbsql_rows
GROUP BY nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'sender',
  nbsql_x_1,
  SUM(nbsql_weight),
  CAST(NULL AS FLOAT64),
  CAST(NULL AS FLOAT64)
FROM nbsql_rows
GROUP BY nbsql_rows.nbsql_class, nbsql_x_1
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'replied',
  nbsql_x_2,
  SUM(nbsql_weight),
  CAST(NULL AS FLOAT64),
  CAST(NULL AS FLOAT64)
FROM nbsql_rows
WHERE nbsql_x_2 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class, nbsql_x_2
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'length',
  CAST(NULL AS STRING),
  SUM(nbsql_weight),
  MAX(nbsql_mean_3),
  SUM(nbsql_weight * (nbsql_x_3 - nbsql_mean_3) * (nbsql_x_3 - nbsql_mean_3))
FROM nbsql_rows
JOIN nbsql_means ON nbsql_means.nbsql_class = nbsql_rows.nbsql_class
WHERE nbsql_x_3 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'links',
  CAST(NULL AS STRING),
  SUM(nbsql_weight),
  SUM(nbsql_weight * nbsql_x_4) / SUM(CASE WHEN nbsql_x_4 IS NOT NULL THEN nbsql_weight END),
  CAST(NULL AS FLOAT64)
FROM nbsql_rows
WHERE nbsql_x_4 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'parts',
  'plain',
  SUM(nbsql_weight * nbsql_x_5_1),
  CAST(NULL AS FLOAT64),
  CAST(NULL AS FLOAT64)
FROM nbsql_rows
WHERE nbsql_x_5_1 > 0
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'parts',
  'html',
  SUM(nbsql_weight * nbsql_x_5_2),
  CAST(NULL AS FLOAT64),
  CAST(NULL AS FLOAT64)
FROM nbsql_rows
WHERE nbsql_x_5_2 > 0
GROUP BY nbsql_rows.nbsql_class
