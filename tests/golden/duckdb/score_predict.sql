SELECT
  source.* NOT LIKE 'nbsql\_%' ESCAPE '\',
  coalesce(prediction, decode(encode(source.nbsql_prediction))) AS prediction,
  coalesce(probability, source.nbsql_probability) AS probability
FROM (
  WITH numbered AS MATERIALIZED (
    SELECT row_number() OVER () AS nbsql_row, source.* FROM "main"."inbox" AS source
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
          unnest(list_concat(source.nbsql_words, list_transform(range(1, len(source.nbsql_words)), lambda i: source.nbsql_words[i] || ' ' || source.nbsql_words[i + 1]))) COLLATE "C" AS value, 1 AS times
        FROM (
          SELECT
            source.*,
            list_filter(
              string_split(regexp_replace(nfc_normalize(lower(CASE WHEN contains(CAST(source."body" AS VARCHAR) COLLATE "C", 'Σ') THEN regexp_replace(CAST(source."body" AS VARCHAR) COLLATE "C", '(\p{L}\p{M}*)Σ([''’.:·\p{M}]*(?:[^''’.:·\p{M}\p{L}]|$))', '\1ς\2', 'g') ELSE CAST(source."body" AS VARCHAR) COLLATE "C" END)), '[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' ', 'g'), ' '),
              lambda word: word <> '' AND NOT list_contains(['the', 'of'], word)
            ) AS nbsql_words
          FROM numbered AS source
        ) AS source
      ) AS unnested
    ) AS tokens
    JOIN (
      SELECT * FROM "spam"."lookups" AS lookups WHERE feature = 'body' AND nullif(value, '') IS NOT NULL
    ) AS lookups ON lookups.value = tokens.value
    GROUP BY tokens.nbsql_row
  )
  SELECT
    evidence.*,
    CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE) THEN CASE evidence.nbsql_highest WHEN evidence.nbsql_joint_1 THEN parameters.class_1 WHEN evidence.nbsql_joint_2 THEN parameters.class_2
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
        SELECT
          number.*,
          parameters.log_prior_1
            + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_1 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_1 ELSE 0 END
            + coalesce(parameters.peak_3_1 - parameters.precision_3_1 * (number.nbsql_x_3 - parameters.mean_3_1) * (number.nbsql_x_3 - parameters.mean_3_1), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_1 - parameters.rate_4_1 - lgamma(number.nbsql_x_4 + 1)
              WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_1
            END, 0)
            + coalesce(bag_5.class_1, 0)
            + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_1, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_1, 0))
            + coalesce(level_1.class_1, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_1 END, parameters.unseen_1_1, 0) AS nbsql_joint_1,
          parameters.log_prior_2
            + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_2 ELSE 0 END
            + coalesce(parameters.peak_3_2 - parameters.precision_3_2 * (number.nbsql_x_3 - parameters.mean_3_2) * (number.nbsql_x_3 - parameters.mean_3_2), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_2 - parameters.rate_4_2 - lgamma(number.nbsql_x_4 + 1)
              WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_2
            END, 0)
            + coalesce(bag_5.class_2, 0)
            + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_2, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_2, 0))
            + coalesce(level_1.class_2, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_2 END, parameters.unseen_1_2, 0) AS nbsql_joint_2
        FROM (
          SELECT
            source.*,
            CASE WHEN source."replied" IS NOT NULL THEN CASE CAST(source."replied" AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END END AS nbsql_x_2,
            CASE WHEN abs(CAST(source."length" AS DOUBLE)) <= 1e150 THEN CAST(source."length" AS DOUBLE) END AS nbsql_x_3,
            CASE WHEN abs(CAST(source."links" AS DOUBLE)) <= 1e150 THEN CAST(source."links" AS DOUBLE) END AS nbsql_x_4,
            CASE WHEN abs(CAST(source."plain" AS DOUBLE)) <= 1e150 THEN CAST(source."plain" AS DOUBLE) END AS nbsql_x_6_1,
            CASE WHEN abs(CAST(source."html" AS DOUBLE)) <= 1e150 THEN CAST(source."html" AS DOUBLE) END AS nbsql_x_6_2,
            source."sender" AS nbsql_x_1
          FROM numbered AS source
        ) AS number
        JOIN "spam"."parameters" AS parameters ON TRUE
        LEFT JOIN "spam"."lookups" AS level_1
          ON level_1.feature = 'sender'
          AND level_1.value = CAST(number."sender" AS VARCHAR) COLLATE "C"
        LEFT JOIN bag_5 ON bag_5.nbsql_row = number.nbsql_row
      ) AS joint
    ) AS best
  ) AS evidence
  JOIN (
    SELECT classes.*
    FROM "spam"."parameters" AS classes
    WHERE CASE WHEN classes.class_count = 2
      AND classes.class_1 = CAST('ham' AS VARCHAR) COLLATE "C"
      AND classes.class_2 = CAST('spam' AS VARCHAR) COLLATE "C"
    THEN TRUE ELSE error('the classes of the model have changed since this query was made; make it again') END
  ) AS parameters ON TRUE
) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY nbsql_row ASC NULLS LAST
