CREATE OR REPLACE MACRO "spam"."log_evidence"(source, database := NULL) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  coalesce(log_evidence, source.nbsql_log_evidence) AS log_evidence

FROM query(concat(
  'FROM ',
  database || '.',
  '"spam"."class_scores"',
  '(''' || replace(source, '''', '''''') || '''',
  ', database := ''' || replace(database, '''', '''''') || '''',
  ')'
)) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY source.nbsql_row ASC NULLS LAST;
