CREATE OR REPLACE VIEW `spam`.`likelihoods` COMMENT 'nbsql: One row per class, feature and value with its likelihood; for numbers, the mean and variance, or the rate.' AS
SELECT class, feature, value, likelihood, log_likelihood, mean, variance, rate
FROM (
  SELECT * FROM `spam`.`estimates` AS estimates WHERE feature IN ('sender', 'replied', 'length', 'links', 'body', 'parts')
) AS smoothed
WHERE NOT unseen;
