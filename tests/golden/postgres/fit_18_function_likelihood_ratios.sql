CREATE FUNCTION "spam"."likelihood_ratios"(class character varying, other_class character varying) RETURNS TABLE (
  feature TEXT, value TEXT, likelihood DOUBLE PRECISION, other_likelihood DOUBLE PRECISION, ratio DOUBLE PRECISION, log_ratio DOUBLE PRECISION) LANGUAGE SQL STABLE SET search_path = pg_catalog, pg_temp AS 'SELECT
  feature,
  value,
  likelihood,
  other_likelihood,
  CASE
    WHEN other_likelihood > 0 THEN likelihood / other_likelihood
    WHEN likelihood > 0 THEN CAST(''infinity'' AS DOUBLE PRECISION)
  END AS ratio,
  CASE WHEN likelihood > 0 OR other_likelihood > 0 THEN log_likelihood - other_log_likelihood END AS log_ratio
FROM (
  SELECT
    likelihoods.feature,
    likelihoods.value,
    max(max(CASE WHEN likelihoods.class = $1 THEN 1 ELSE 0 END)) OVER () AS has_1,
    max(max(CASE WHEN likelihoods.class = $2 THEN 1 ELSE 0 END)) OVER () AS has_2,
    max(CASE WHEN likelihoods.class = $1 THEN likelihoods.likelihood END) AS likelihood,
    max(CASE WHEN likelihoods.class = $2 THEN likelihoods.likelihood END) AS other_likelihood,
    max(CASE WHEN likelihoods.class = $1 THEN likelihoods.log_likelihood END) AS log_likelihood,
    max(CASE WHEN likelihoods.class = $2 THEN likelihoods.log_likelihood END) AS other_log_likelihood
  FROM "spam"."likelihoods" AS likelihoods
  GROUP BY likelihoods.feature, likelihoods.value
) AS ratios
WHERE CASE WHEN has_1 + has_2 = 2 THEN likelihood IS NOT NULL AND other_likelihood IS NOT NULL ELSE CAST(left(feature, 0) || ''the model does not have both classes; its view priors lists those that it has'' AS BOOLEAN) END
ORDER BY abs(CASE WHEN likelihood > 0 OR other_likelihood > 0 THEN log_likelihood - other_log_likelihood END) DESC NULLS LAST, feature ASC NULLS LAST, value ASC NULLS LAST';
