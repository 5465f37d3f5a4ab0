INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS VARCHAR) AS slice,
  scan.class,
  cells.feature,
  CAST(cells.value AS VARCHAR) AS value,
  CAST(cells.n AS DOUBLE) AS n,
  CAST(cells.mean AS DOUBLE) AS mean,
  CAST(cells.m2 AS DOUBLE) AS m2
FROM "scan" AS scan
CROSS JOIN LATERAL (
  VALUES
    ('replied', 'true', true_2, NULL, NULL),
('replied', 'false', false_2, NULL, NULL),
    ('length', NULL, n_3, centre_3 + sum_3 / n_3, CASE WHEN squares_3 - sum_3 * sum_3 / n_3 > 1e-6 * squares_3 THEN squares_3 - sum_3 * sum_3 / n_3 ELSE 0 END),
    ('links', NULL, n_4, sum_4 / n_4, NULL),
    ('parts', 'plain', sum_6_1, NULL, NULL),
('parts', 'html', sum_6_2, NULL, NULL)
) AS cells(feature, value, n, mean, m2)
WHERE scan.class IS NOT NULL AND cells.n > 0;
