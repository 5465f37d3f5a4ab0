CREATE TEMP TABLE "temp"."main"."nbsql scan" AS
SELECT
  class,
  count(*) AS rows,
  sum(weight) AS n,
  sum(CASE WHEN CASE WHEN nbsql_x_2 THEN 1 END IS NOT NULL THEN weight ELSE 0 END) AS true_2,
  sum(CASE WHEN CASE WHEN NOT nbsql_x_2 THEN 1 END IS NOT NULL THEN weight ELSE 0 END) AS false_2,
  120.5e0 AS centre_3,
  sum(CASE WHEN nbsql_x_3 IS NOT NULL THEN weight ELSE 0 END) AS n_3,
  sum(weight * nbsql_x_3) AS sum_3,
  sum(weight * nbsql_x_3 * nbsql_x_3) AS squares_3,
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
    CAST(source."label" AS VARCHAR) COLLATE "C" AS class,
    CAST(source."trust" AS DOUBLE) AS weight,
    CAST(source."replied" AS BOOLEAN) AS nbsql_x_2,
    CAST(source."length" AS DOUBLE) - 120.5e0 AS nbsql_x_3,
    CAST(source."links" AS DOUBLE) AS nbsql_x_4,
    CAST(source."plain" AS DOUBLE) AS nbsql_x_6_1,
    CAST(source."html" AS DOUBLE) AS nbsql_x_6_2,
    NOT coalesce(CAST(source."trust" AS DOUBLE) >= 0 AND CAST(source."trust" AS DOUBLE) < CAST('infinity' AS DOUBLE), FALSE) AS broken_1,
    source."links" < 0 AS broken_2,
    source."plain" < 0 AS broken_3,
    source."html" < 0 AS broken_4
  FROM "main"."inbox" AS source
) AS projected
GROUP BY class;
