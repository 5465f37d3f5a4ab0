CREATE OR REPLACE MACRO "spam"."joint_log_likelihood"(source, database := NULL) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  source.nbsql_joint_1 AS "joint_log_likelihood_ham",
  source.nbsql_joint_2 AS "joint_log_likelihood_spam"
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
