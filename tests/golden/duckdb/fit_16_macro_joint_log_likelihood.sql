CREATE MACRO "spam"."joint_log_likelihood"(source) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  source.nbsql_joint_1 AS "joint_log_likelihood_ham",
  source.nbsql_joint_2 AS "joint_log_likelihood_spam"
FROM "spam"."scored"(source) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY source.nbsql_row;
