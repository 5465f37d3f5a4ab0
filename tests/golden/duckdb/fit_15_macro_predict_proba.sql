CREATE MACRO "spam"."predict_proba"(source) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  coalesce(prediction, source.nbsql_prediction) AS prediction,
  coalesce(probability, source.nbsql_probability) AS probability,
  CASE WHEN source.nbsql_log_evidence > -CAST('infinity' AS DOUBLE) THEN exp(source.nbsql_joint_1 - source.nbsql_log_evidence) END AS "probability_ham",
  CASE WHEN source.nbsql_log_evidence > -CAST('infinity' AS DOUBLE) THEN exp(source.nbsql_joint_2 - source.nbsql_log_evidence) END AS "probability_spam"
FROM "spam"."scored"(source) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY source.nbsql_row;
