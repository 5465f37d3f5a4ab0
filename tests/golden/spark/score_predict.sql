SELECT
  source.`id`,
  source.`label`,
  source.`sender`,
  source.`replied`,
  source.`length`,
  source.`links`,
  source.`body`,
  source.`plain`,
  source.`html`,
  source.`trust`,
  source.nbsql_prediction AS prediction,
  source.nbsql_probability AS probability
FROM (
  WITH numbered AS (
    SELECT monotonically_increasing_id() AS nbsql_row, source.* FROM `inbox` AS source
  ),
  bag_5 AS (
    SELECT
      tokens.nbsql_row,
      sum(lookups.class_1) AS class_1,
      sum(lookups.class_2) AS class_2
    FROM (
      SELECT *
      FROM (
        SELECT
          source.nbsql_row,
          explode(concat(source.nbsql_words, CASE WHEN size(source.nbsql_words) >= 2
        THEN transform(sequence(0, size(source.nbsql_words) - 2), i -> source.nbsql_words[i] || ' ' || source.nbsql_words[i + 1])
        ELSE CAST(array() AS ARRAY<STRING>)
      END)) AS value, 1 AS times
        FROM (
          SELECT
            source.*,
            filter(
              split(regexp_replace(CASE
              WHEN lower(CAST(source.`body` AS STRING)) RLIKE r'[^\x00-\x7F]' THEN reflect('com.ibm.icu.text.Normalizer', 'compose', lower(CAST(source.`body` AS STRING)), FALSE)
              ELSE lower(CAST(source.`body` AS STRING))
            END, r'[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' '), ' '),
              word -> word <> '' AND word NOT IN ('the', 'of')
            ) AS nbsql_words
          FROM numbered AS source
        ) AS source
      ) AS unnested
    ) AS tokens
    JOIN (
      SELECT * FROM `spam`.`lookups` AS lookups WHERE feature = 'body' AND nullif(value, '') IS NOT NULL
    ) AS lookups ON lookups.value = tokens.value
    GROUP BY tokens.nbsql_row
  )
  SELECT
    evidence.*,
    CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE) THEN CASE evidence.nbsql_highest WHEN evidence.nbsql_joint_1 THEN evidence.nbsql_class_1 WHEN evidence.nbsql_joint_2 THEN evidence.nbsql_class_2
    END END AS nbsql_prediction,
    CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE) THEN 1 / evidence.nbsql_relative_evidence END AS nbsql_probability,
    CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE) THEN evidence.nbsql_highest + ln(evidence.nbsql_relative_evidence) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
  FROM (
    SELECT best.*, (exp(best.nbsql_joint_1 - best.nbsql_highest) + exp(best.nbsql_joint_2 - best.nbsql_highest)) AS nbsql_relative_evidence
    FROM (
      SELECT
        joint.*,
        greatest(joint.nbsql_joint_1, joint.nbsql_joint_2) AS nbsql_highest
      FROM (
        SELECT /*+ BROADCAST(level_1) */
          number.*,
          parameters.class_1 AS nbsql_class_1,
          parameters.log_prior_1
            + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_1 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_1 ELSE 0 END
            + coalesce(parameters.peak_3_1 - parameters.precision_3_1 * (number.nbsql_x_3 - parameters.mean_3_1) * (number.nbsql_x_3 - parameters.mean_3_1), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_1 - parameters.rate_4_1 - number.nbsql_log_factorial_4
              WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_1
            END, 0)
            + coalesce(bag_5.class_1, 0)
            + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_1, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_1, 0))
            + coalesce(level_1.scores[0], CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_1 END, parameters.unseen_1_1, 0) AS nbsql_joint_1,
          parameters.class_2 AS nbsql_class_2,
          parameters.log_prior_2
            + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_2 ELSE 0 END
            + coalesce(parameters.peak_3_2 - parameters.precision_3_2 * (number.nbsql_x_3 - parameters.mean_3_2) * (number.nbsql_x_3 - parameters.mean_3_2), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_2 - parameters.rate_4_2 - number.nbsql_log_factorial_4
              WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_2
            END, 0)
            + coalesce(bag_5.class_2, 0)
            + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_2, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_2, 0))
            + coalesce(level_1.scores[1], CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_2 END, parameters.unseen_1_2, 0) AS nbsql_joint_2
        FROM (
          SELECT
            counted.*,
            CASE
              WHEN counted.nbsql_x_4 > 1000000 THEN (counted.nbsql_x_4 + 0.5) * LN(counted.nbsql_x_4 + 1) - (counted.nbsql_x_4 + 1) + 0.9189385332046728D + 1 / (12 * (counted.nbsql_x_4 + 1))
              WHEN counted.nbsql_x_4 > 0 THEN (counted.nbsql_x_4 + 8.5) * LN(counted.nbsql_x_4 + 9) - (counted.nbsql_x_4 + 9) + 0.9189385332046728D
                + (0.08333333333333333D - (0.002777777777777778D - (0.0007936507936507937D - (0.0005952380952380953D - 0.0008417508417508417D / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / (counted.nbsql_x_4 + 9)
                - LN((counted.nbsql_x_4 + 1) * (counted.nbsql_x_4 + 2) * (counted.nbsql_x_4 + 3) * (counted.nbsql_x_4 + 4) * (counted.nbsql_x_4 + 5) * (counted.nbsql_x_4 + 6) * (counted.nbsql_x_4 + 7) * (counted.nbsql_x_4 + 8))
              ELSE 0
            END AS nbsql_log_factorial_4
          FROM (
            SELECT
              source.*,
              CASE WHEN source.`replied` IS NOT NULL THEN CASE CAST(source.`replied` AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END END AS nbsql_x_2,
              CASE WHEN abs(CAST(source.`length` AS DOUBLE)) <= 1e150 THEN CAST(source.`length` AS DOUBLE) END AS nbsql_x_3,
              CASE WHEN abs(CAST(source.`links` AS DOUBLE)) <= 1e150 THEN CAST(source.`links` AS DOUBLE) END AS nbsql_x_4,
              CASE WHEN abs(CAST(source.`plain` AS DOUBLE)) <= 1e150 THEN CAST(source.`plain` AS DOUBLE) END AS nbsql_x_6_1,
              CASE WHEN abs(CAST(source.`html` AS DOUBLE)) <= 1e150 THEN CAST(source.`html` AS DOUBLE) END AS nbsql_x_6_2,
              source.`sender` AS nbsql_x_1
            FROM numbered AS source
          ) AS counted
        ) AS number
        LEFT JOIN (
          SELECT
            found.value,
            array(found.class_1, found.class_2) AS scores
          FROM `spam`.`lookups` AS found
          WHERE feature = 'sender'
        ) AS level_1
          ON level_1.value = CAST(number.`sender` AS STRING)
        LEFT JOIN bag_5 ON bag_5.nbsql_row = number.nbsql_row
        CROSS JOIN LATERAL (FROM (
          SELECT classes.*
          FROM `spam`.`parameters` AS classes
          WHERE CASE WHEN classes.class_count = 2
            AND classes.class_1 = CAST('ham' AS string)
            AND classes.class_2 = CAST('spam' AS string)
          THEN TRUE ELSE raise_error('the classes of the model have changed since this query was made; make it again') END
        ) AS constants) AS parameters
      ) AS joint
    ) AS best
  ) AS evidence
) AS source
