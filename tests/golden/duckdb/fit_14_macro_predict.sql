CREATE MACRO "spam"."predict"(source) AS TABLE
SELECT
  source.* NOT SIMILAR TO 'nbsql_.*',
  coalesce(prediction, source.nbsql_prediction) AS prediction,
  coalesce(probability, source.nbsql_probability) AS probability
FROM "spam"."scored"(source) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY source.nbsql_row;
