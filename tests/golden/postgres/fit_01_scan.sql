CREATE TEMP TABLE "pg_temp"."nbsql scan" AS
SELECT
  class,
  count(*) AS rows,
  sum(weight) AS n,
  sum(CASE WHEN CASE WHEN nbsql_x_2 THEN 1 END IS NOT NULL THEN weight ELSE 0 END) AS true_2,
  sum(CASE WHEN CASE WHEN NOT nbsql_x_2 THEN 1 END IS NOT NULL THEN weight ELSE 0 END) AS false_2,
  float8 '120.5' AS centre_3,
  sum(CASE WHEN nbsql_x_3 IS NOT NULL THEN weight ELSE 0 END) AS n_3,
  sum(weight * nbsql_x_3) AS sum_3,
  sum(weight * CASE WHEN nbsql_x_3 IS NOT NULL THEN (CASE WHEN abs(nbsql_x_3) > 1e-140 THEN nbsql_x_3 * nbsql_x_3 ELSE 0 END) END) AS squares_3,
  sum(CASE WHEN nbsql_x_4 IS NOT NULL THEN weight ELSE 0 END) AS n_4,
  sum(weight * nbsql_x_4) AS sum_4,
  sum(weight * nbsql_x_6_1) AS sum_6_1,
  sum(weight * nbsql_x_6_2) AS sum_6_2,
  count(CASE WHEN broken_1 THEN 1 END) AS broken_1,
  count(CASE WHEN broken_2 THEN 1 END) AS broken_2,
  count(CASE WHEN broken_3 THEN 1 END) AS broken_3,
  count(CASE WHEN broken_4 THEN 1 END) AS broken_4
FROM (
  SELECT
    CAST(source."label" AS TEXT) COLLATE "C" AS class,
    CAST(source."trust" AS DOUBLE PRECISION) AS weight,
    CASE
      WHEN CAST(source."replied" AS TEXT) IN ('true', '1') THEN TRUE
      WHEN CAST(source."replied" AS TEXT) IN ('false', '0') THEN FALSE
      ELSE CASE CAST(CAST(source."replied" AS TEXT) AS DOUBLE PRECISION) WHEN 1 THEN TRUE WHEN 0 THEN FALSE END
    END AS nbsql_x_2,
    CASE WHEN abs(CAST(source."length" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."length" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."length" AS DOUBLE PRECISION) END - float8 '120.5' AS nbsql_x_3,
    CASE WHEN abs(CAST(source."links" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."links" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."links" AS DOUBLE PRECISION) END AS nbsql_x_4,
    CASE WHEN abs(CAST(source."plain" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."plain" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."plain" AS DOUBLE PRECISION) END AS nbsql_x_6_1,
    CASE WHEN abs(CAST(source."html" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."html" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."html" AS DOUBLE PRECISION) END AS nbsql_x_6_2,
    NOT coalesce(CAST(source."trust" AS DOUBLE PRECISION) >= 0 AND CAST(source."trust" AS DOUBLE PRECISION) < CAST('infinity' AS DOUBLE PRECISION), FALSE) AS broken_1,
    source."links" < 0 AS broken_2,
    source."plain" < 0 AS broken_3,
    source."html" < 0 AS broken_4
  FROM "public"."inbox" AS source
  OFFSET 0
) AS projected
GROUP BY class;
