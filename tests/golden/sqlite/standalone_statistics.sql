WITH nbsql_rows AS MATERIALIZED (
  SELECT
    CAST(source."label" AS TEXT) COLLATE BINARY AS nbsql_class,
    CASE WHEN TYPEOF(source."trust") <> 'text' OR source."trust" GLOB '*[0-9]*' THEN CAST(source."trust" AS REAL) END AS nbsql_weight,
    CAST(source."sender" AS TEXT) COLLATE BINARY AS nbsql_x_1,
    CASE source."replied" WHEN TRUE THEN 'true' WHEN FALSE THEN 'false' END AS nbsql_x_2,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."length") <> 'text' OR source."length" GLOB '*[0-9]*' THEN CAST(source."length" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."length") <> 'text' OR source."length" GLOB '*[0-9]*' THEN CAST(source."length" AS REAL) END END AS nbsql_x_3,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."links") <> 'text' OR source."links" GLOB '*[0-9]*' THEN CAST(source."links" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."links") <> 'text' OR source."links" GLOB '*[0-9]*' THEN CAST(source."links" AS REAL) END END AS nbsql_x_4,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."plain") <> 'text' OR source."plain" GLOB '*[0-9]*' THEN CAST(source."plain" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."plain") <> 'text' OR source."plain" GLOB '*[0-9]*' THEN CAST(source."plain" AS REAL) END END AS nbsql_x_5_1,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."html") <> 'text' OR source."html" GLOB '*[0-9]*' THEN CAST(source."html" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."html") <> 'text' OR source."html" GLOB '*[0-9]*' THEN CAST(source."html" AS REAL) END END AS nbsql_x_5_2
  FROM inbox AS source
  WHERE source."label" IS NOT NULL AND CASE WHEN TYPEOF(source."trust") <> 'text' OR source."trust" GLOB '*[0-9]*' THEN CAST(source."trust" AS REAL) END > 0
),
nbsql_means AS MATERIALIZED (
  SELECT
    nbsql_class,
    CASE WHEN MIN(nbsql_x_3) = MAX(nbsql_x_3) THEN MIN(nbsql_x_3) ELSE SUM(nbsql_weight * nbsql_x_3) / SUM(CASE WHEN nbsql_x_3 IS NOT NULL THEN nbsql_weight END) END AS nbsql_mean_3
  FROM nbsql_rows
  GROUP BY nbsql_class
)
SELECT
  nbsql_class AS class,
  CAST(NULL AS TEXT) AS feature,
  CAST(NULL AS TEXT) AS value,
  SUM(nbsql_weight) AS n,
  CAST(NULL AS REAL) AS mean,
  CAST(NULL AS REAL) AS m2
FROM nbsql_rows
GROUP BY nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'sender',
  nbsql_x_1,
  SUM(nbsql_weight),
  CAST(NULL AS REAL),
  CAST(NULL AS REAL)
FROM nbsql_rows
GROUP BY nbsql_rows.nbsql_class, nbsql_x_1
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'replied',
  nbsql_x_2,
  SUM(nbsql_weight),
  CAST(NULL AS REAL),
  CAST(NULL AS REAL)
FROM nbsql_rows
WHERE nbsql_x_2 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class, nbsql_x_2
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'length',
  CAST(NULL AS TEXT),
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
  CAST(NULL AS TEXT),
  SUM(nbsql_weight),
  SUM(nbsql_weight * nbsql_x_4) / SUM(CASE WHEN nbsql_x_4 IS NOT NULL THEN nbsql_weight END),
  CAST(NULL AS REAL)
FROM nbsql_rows
WHERE nbsql_x_4 IS NOT NULL
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'parts',
  'plain',
  SUM(nbsql_weight * nbsql_x_5_1),
  CAST(NULL AS REAL),
  CAST(NULL AS REAL)
FROM nbsql_rows
WHERE nbsql_x_5_1 > 0
GROUP BY nbsql_rows.nbsql_class
UNION ALL
SELECT
  nbsql_rows.nbsql_class,
  'parts',
  'html',
  SUM(nbsql_weight * nbsql_x_5_2),
  CAST(NULL AS REAL),
  CAST(NULL AS REAL)
FROM nbsql_rows
WHERE nbsql_x_5_2 > 0
GROUP BY nbsql_rows.nbsql_class
