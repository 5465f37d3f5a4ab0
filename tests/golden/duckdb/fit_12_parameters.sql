CREATE TABLE "spam"."parameters" AS
WITH classes AS (
  SELECT row_number() OVER (ORDER BY class ASC NULLS LAST) AS class_no, class, log_prior FROM (
    SELECT classes.*
    FROM "spam"."priors" AS classes
    CROSS JOIN (
      SELECT
        count(*) AS class_count,
        max(CAST(class AS VARCHAR)) AS label,
        sum(CASE WHEN class IN (CAST('ham' AS VARCHAR) COLLATE "C", CAST('spam' AS VARCHAR) COLLATE "C") THEN 1 ELSE 0 END) AS expected
      FROM (
        SELECT DISTINCT class FROM "spam"."priors" AS classes
      ) AS classes
    ) AS known
    WHERE CASE WHEN known.class_count = 2 AND known.expected = 2 THEN TRUE
      ELSE error('the rows have other classes than when this script was made; make it again') END
  ) AS priors
),
smoothed AS (
  SELECT * FROM "spam"."estimates" AS estimates
),
wanted AS (
  SELECT *
  FROM (
    VALUES
      (1, 'sender', 'score', NULL, TRUE, FALSE),
      (2, 'sender', 'score', NULL, FALSE, FALSE),
      (3, 'replied', 'score', 'true', FALSE, FALSE),
      (4, 'replied', 'score', 'false', FALSE, FALSE),
      (5, 'length', 'mean', NULL, FALSE, FALSE),
      (6, 'length', 'peak', NULL, FALSE, FALSE),
      (7, 'length', 'precision', NULL, FALSE, FALSE),
      (8, 'links', 'rate', NULL, FALSE, FALSE),
      (9, 'links', 'log_rate', NULL, FALSE, FALSE),
      (10, 'parts', 'score', 'plain', FALSE, FALSE),
      (11, 'parts', 'score', 'html', FALSE, FALSE)
  ) AS listed(position, feature, quantity, value, unseen, total)
),
numbers AS (
  SELECT
    classes.class_no,
    wanted.position,
    sum(
      CASE wanted.quantity
        WHEN 'score' THEN smoothed.score
        WHEN 'mean' THEN smoothed.mean
        WHEN 'peak' THEN CASE WHEN smoothed.variance > 0 THEN -0.5 * ln(6.283185307179586e0 * smoothed.variance) END
        WHEN 'precision' THEN CASE WHEN smoothed.variance > 0 THEN 0.5 / smoothed.variance END
        WHEN 'rate' THEN smoothed.rate
        WHEN 'log_rate' THEN CASE WHEN smoothed.rate <= 0 THEN -CAST('infinity' AS DOUBLE) ELSE ln(smoothed.rate) END
      END
    ) AS number
  FROM classes
  JOIN wanted ON TRUE
  LEFT JOIN smoothed
    ON smoothed.class = classes.class
    AND smoothed.feature = wanted.feature
    AND smoothed.unseen = wanted.unseen
    AND smoothed.value IS NOT DISTINCT FROM wanted.value
  GROUP BY classes.class_no, wanted.position
)
SELECT
  classes.labels[1] AS class_1,
  classes.log_priors[1] AS log_prior_1,
  classes.labels[2] AS class_2,
  classes.log_priors[2] AS log_prior_2,
  len(classes.labels) AS class_count,
  numbers[1] AS unseen_1_1,
  numbers[12] AS unseen_1_2,
  numbers[2] AS missing_1_1,
  numbers[13] AS missing_1_2,
  numbers[3] AS true_2_1,
  numbers[14] AS true_2_2,
  numbers[4] AS false_2_1,
  numbers[15] AS false_2_2,
  numbers[5] AS mean_3_1,
  numbers[16] AS mean_3_2,
  numbers[6] AS peak_3_1,
  numbers[17] AS peak_3_2,
  numbers[7] AS precision_3_1,
  numbers[18] AS precision_3_2,
  numbers[8] AS rate_4_1,
  numbers[19] AS rate_4_2,
  numbers[9] AS log_rate_4_1,
  numbers[20] AS log_rate_4_2,
  numbers[10] AS weight_6_1_1,
  numbers[21] AS weight_6_1_2,
  numbers[11] AS weight_6_2_1,
  numbers[22] AS weight_6_2_2
FROM (
  SELECT
    list(class ORDER BY class_no ASC NULLS LAST) AS labels,
    list(log_prior ORDER BY class_no ASC NULLS LAST) AS log_priors
  FROM classes
) AS classes
CROSS JOIN (
  SELECT list(number ORDER BY class_no ASC NULLS LAST, position ASC NULLS LAST) AS numbers FROM numbers
) AS numbers;
