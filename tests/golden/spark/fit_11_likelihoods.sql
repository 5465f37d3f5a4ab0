CREATE VIEW `spam`.`likelihoods` AS
SELECT class, feature, value, likelihood, log_likelihood, mean, variance, rate
FROM (
  SELECT * FROM `spam`.`estimates` AS estimates WHERE feature IN ('sender', 'replied', 'length', 'links', 'body', 'parts')
) AS smoothed
WHERE NOT unseen;
