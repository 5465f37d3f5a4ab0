WITH nbsql_inputs AS (
  SELECT
    source."id",
    source."sender",
    source."replied",
    source."length",
    source."links",
    source."plain",
    source."html",
    CAST(source."sender" AS TEXT) COLLATE BINARY AS nbsql_x_1,
    source."replied" AS nbsql_x_2,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."length") <> 'text' OR source."length" GLOB '*[0-9]*' THEN CAST(source."length" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."length") <> 'text' OR source."length" GLOB '*[0-9]*' THEN CAST(source."length" AS REAL) END END AS nbsql_x_3,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."links") <> 'text' OR source."links" GLOB '*[0-9]*' THEN CAST(source."links" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."links") <> 'text' OR source."links" GLOB '*[0-9]*' THEN CAST(source."links" AS REAL) END END AS nbsql_x_4,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."plain") <> 'text' OR source."plain" GLOB '*[0-9]*' THEN CAST(source."plain" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."plain") <> 'text' OR source."plain" GLOB '*[0-9]*' THEN CAST(source."plain" AS REAL) END END AS nbsql_x_5_1,
    CASE WHEN ABS(CASE WHEN TYPEOF(source."html") <> 'text' OR source."html" GLOB '*[0-9]*' THEN CAST(source."html" AS REAL) END) <= 1e+150 THEN CASE WHEN TYPEOF(source."html") <> 'text' OR source."html" GLOB '*[0-9]*' THEN CAST(source."html" AS REAL) END END AS nbsql_x_5_2
  FROM inbox AS source
)
SELECT
  source."id",
  source."sender",
  source."replied",
  source."length",
  source."links",
  source."plain",
  source."html",
  source.nbsql_prediction AS prediction,
  source.nbsql_probability AS probability,
  CASE WHEN source.nbsql_highest > -1e+305 THEN CASE WHEN source.nbsql_joint_1 - source.nbsql_highest > -700 THEN EXP(source.nbsql_joint_1 - source.nbsql_highest) ELSE 0 END / source.nbsql_relative_evidence END AS "probability_ham",
  CASE WHEN source.nbsql_highest > -1e+305 THEN CASE WHEN source.nbsql_joint_2 - source.nbsql_highest > -700 THEN EXP(source.nbsql_joint_2 - source.nbsql_highest) ELSE 0 END / source.nbsql_relative_evidence END AS "probability_spam"
FROM (
  SELECT
    evidence.*,
    CASE WHEN evidence.nbsql_highest > -1e+305 THEN CASE evidence.nbsql_highest WHEN evidence.nbsql_joint_1 THEN 'ham' WHEN evidence.nbsql_joint_2 THEN 'spam'
    END END AS nbsql_prediction,
    CASE WHEN evidence.nbsql_highest > -1e+305 THEN 1 / evidence.nbsql_relative_evidence END AS nbsql_probability,
    CASE WHEN evidence.nbsql_highest > -1e+305 THEN evidence.nbsql_highest + ln(evidence.nbsql_relative_evidence) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
  FROM (
    SELECT best.*, (CASE WHEN best.nbsql_joint_1 - best.nbsql_highest > -700 THEN EXP(best.nbsql_joint_1 - best.nbsql_highest) ELSE 0 END + CASE WHEN best.nbsql_joint_2 - best.nbsql_highest > -700 THEN EXP(best.nbsql_joint_2 - best.nbsql_highest) ELSE 0 END) AS nbsql_relative_evidence
    FROM (
      SELECT
        joint.*,
        MAX(joint.nbsql_joint_1, joint.nbsql_joint_2) AS nbsql_highest
      FROM (
        SELECT
          number.*,
          -0.40546510810816444e0
            + CASE WHEN nbsql_x_1 IS NULL THEN -1.9459101490553135e0 WHEN nbsql_x_1 = 'colleague' THEN -1.9459101490553135e0 WHEN nbsql_x_1 = 'friend' THEN -0.5596157879354228e0 WHEN nbsql_x_1 = 'stranger' THEN -1.9459101490553135e0 ELSE -1.9459101490553135e0 END
            + CASE nbsql_x_2 WHEN TRUE THEN -0.916290731874155e0 WHEN FALSE THEN -0.5108256237659907e0 ELSE 0 END
            + coalesce(-3.862009838681108e0 - 0.0013888353072798118e0 * (number.nbsql_x_3 - 93.66666666666667e0) * (number.nbsql_x_3 - 93.66666666666667e0), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * -1.0986122886681098e0 - 0.3333333333333333e0
              WHEN number.nbsql_x_4 = 0 THEN -0.3333333333333333e0
            END, 0)
            + (coalesce(number.nbsql_x_5_1 * -0.4700036292457356e0, 0) + coalesce(number.nbsql_x_5_2 * -0.9808292530117262e0, 0)) AS nbsql_joint_1,
          -1.0986122886681098e0
            + CASE WHEN nbsql_x_1 IS NULL THEN -1.2992829841302609e0 WHEN nbsql_x_1 = 'colleague' THEN -1.7047480922384253e0 WHEN nbsql_x_1 = 'friend' THEN -1.7047480922384253e0 WHEN nbsql_x_1 = 'stranger' THEN -1.0116009116784799e0 ELSE -1.7047480922384253e0 END
            + CASE nbsql_x_2 WHEN TRUE THEN -1.252762968495368e0 WHEN FALSE THEN -0.3364722366212129e0 ELSE 0 END
            + coalesce(-4.426052371339883e0 - 0.0004494999313263997e0 * (number.nbsql_x_3 - 263.58333333333337e0) * (number.nbsql_x_3 - 263.58333333333337e0), 0)
            + coalesce(CASE
              WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * 2.03688192726104e0 - 7.666666666666667e0
              WHEN number.nbsql_x_4 = 0 THEN -7.666666666666667e0
            END, 0)
            + (coalesce(number.nbsql_x_5_1 * -1.6739764335716716e0, 0) + coalesce(number.nbsql_x_5_2 * -0.2076393647782445e0, 0)) AS nbsql_joint_2
        FROM nbsql_inputs AS number
        LIMIT -1 OFFSET 0
      ) AS joint
      LIMIT -1 OFFSET 0
    ) AS best
    LIMIT -1 OFFSET 0
  ) AS evidence
) AS source
