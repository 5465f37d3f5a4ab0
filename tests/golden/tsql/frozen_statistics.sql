WITH nbsql_rows AS (
  SELECT
    CAST(source.[label] AS NVARCHAR(4000)) COLLATE Latin1_General_100_BIN2 AS nbsql_class,
    CAST(source.[trust] AS FLOAT) AS nbsql_weight,
    CAST(source.[sender] AS NVARCHAR(4000)) COLLATE Latin1_General_100_BIN2 AS nbsql_x_1,
    CASE source.[replied] WHEN 1 THEN 'true' WHEN 0 THEN 'false' END AS nbsql_x_2,
    CASE WHEN ABS(CAST(source.[length] AS FLOAT)) <= 1e+150 THEN CAST(source.[length] AS FLOAT) END AS nbsql_x_3,
    CASE WHEN ABS(CAST(source.[links] AS FLOAT)) <= 1e+150 THEN CAST(source.[links] AS FLOAT) END AS nbsql_x_4,
    CASE WHEN ABS(CAST(source.[plain] AS FLOAT)) <= 1e+150 THEN CAST(source.[plain] AS FLOAT) END AS nbsql_x_5_1,
    CASE WHEN ABS(CAST(source.[html] AS FLOAT)) <= 1e+150 THEN CAST(source.[html] AS FLOAT) END AS nbsql_x_5_2
  FROM inbox AS source
  WHERE source.[label] IS NOT NULL AND CAST(source.[trust] AS FLOAT) > 0
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
  CAST(NULL AS NVARCHAR(4000)) AS feature,
  CAST(NULL AS NVARCHAR(4000)) AS value,
  SUM(nbsql_weight) AS n,
  CAST(NULL AS FLOAT) AS mean,
  CAST(NULL AS FLOAT) AS m2
FROM nbsql_rows
GROUP BY nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  N'sender',
  nbsql_x_1,
  SUM(nbsql_weight),
  CAST(NULL AS FLOAT),
  CAST(NULL AS FLOAT)
FROM nbsql_rows
GROUP BY nbsql_rows.nbsql_class, nbsql_x_1
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  N'replied',
  nbsql_x_2,
  SUM(nbsql_weight),
  CAST(NULL AS FLOAT),
  CAST(NULL AS FLOAT)
FROM nbsql_rows
WHERE nbsql_x_2 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class, nbsql_x_2
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  N'length',
  CAST(NULL AS NVARCHAR(4000)),
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
  N'links',
  CAST(NULL AS NVARCHAR(4000)),
  SUM(nbsql_weight),
  SUM(nbsql_weight * nbsql_x_4) / SUM(CASE WHEN nbsql_x_4 IS NOT NULL THEN nbsql_weight END),
  CAST(NULL AS FLOAT)
FROM nbsql_rows
WHERE nbsql_x_4 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  N'parts',
  N'plain',
  SUM(nbsql_weight * nbsql_x_5_1),
  CAST(NULL AS FLOAT),
  CAST(NULL AS FLOAT)
FROM nbsql_rows
WHERE nbsql_x_5_1 > 0
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  N'parts',
  N'html',
  SUM(nbsql_weight * nbsql_x_5_2),
  CAST(NULL AS FLOAT),
  CAST(NULL AS FLOAT)
FROM nbsql_rows
WHERE nbsql_x_5_2 > 0
GROUP BY nbsql_rows.nbsql_class
