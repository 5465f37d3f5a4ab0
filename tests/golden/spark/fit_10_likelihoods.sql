CREATE OR REPLACE VIEW `spam`.`likelihoods` COMMENT 'nbsql: A row a class, feature and value: its likelihood; of a number mean and variance, or rate.' AS
SELECT class, feature, value, likelihood, log_likelihood, mean, variance, rate
FROM (
  SELECT * FROM `spam`.`estimates` AS estimates WHERE feature IN ('sender', 'replied', 'length', 'links', 'body', 'parts')
) AS smoothed
WHERE NOT unseen;
