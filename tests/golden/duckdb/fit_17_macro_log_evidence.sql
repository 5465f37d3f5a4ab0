CREATE MACRO "spam"."log_evidence"(source) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  coalesce(log_evidence, source.nbsql_log_evidence) AS log_evidence
FROM "spam"."scored"(source) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY source.nbsql_row;
