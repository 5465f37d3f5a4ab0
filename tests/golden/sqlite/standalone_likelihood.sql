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
),
nbsql_level_1 AS MATERIALIZED (
  SELECT CAST(value AS TEXT) AS value, class_1, class_2
  FROM (
    SELECT NULL AS value, NULL AS class_1, NULL AS class_2 WHERE FALSE
    UNION ALL
    VALUES
      ('colleague', -1.9459101490553135e0, -1.7047480922384253e0),
      ('friend', -0.5596157879354228e0, -1.7047480922384253e0),
      ('stranger', -1.9459101490553135e0, -1.0116009116784799e0)
  ) AS literals
),
nbsql_level_2 AS MATERIALIZED (
  SELECT CAST(value AS REAL) AS value, class_1, class_2
  FROM (
    SELECT NULL AS value, NULL AS class_1, NULL AS class_2 WHERE FALSE
    UNION ALL
    VALUES
      (TRUE, -0.916290731874155e0, -1.252762968495368e0),
      (FALSE, -0.5108256237659907e0, -0.3364722366212129e0)
  ) AS literals
),
nbsql_joint AS MATERIALIZED (
  SELECT
    number.*,
    -0.40546510810816444e0
      + CASE WHEN nbsql_level_1.value IS NOT NULL THEN nbsql_level_1.class_1 WHEN nbsql_x_1 IS NULL THEN -1.9459101490553135e0 ELSE -1.9459101490553135e0 END
      + CASE WHEN nbsql_level_2.value IS NOT NULL THEN nbsql_level_2.class_1 ELSE 0 END
      + coalesce(-3.862009838681108e0 - 0.0013888353072798118e0 * (number.nbsql_x_3 - 93.66666666666667e0) * (number.nbsql_x_3 - 93.66666666666667e0), 0)
      + coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * -1.0986122886681098e0 - 0.3333333333333333e0
        WHEN number.nbsql_x_4 = 0 THEN -0.3333333333333333e0
      END, 0)
      + (coalesce(number.nbsql_x_5_1 * -0.4700036292457356e0, 0) + coalesce(number.nbsql_x_5_2 * -0.9808292530117262e0, 0)) AS nbsql_joint_1,
    -1.0986122886681098e0
      + CASE WHEN nbsql_level_1.value IS NOT NULL THEN nbsql_level_1.class_2 WHEN nbsql_x_1 IS NULL THEN -1.2992829841302609e0 ELSE -1.7047480922384253e0 END
      + CASE WHEN nbsql_level_2.value IS NOT NULL THEN nbsql_level_2.class_2 ELSE 0 END
      + coalesce(-4.426052371339883e0 - 0.0004494999313263997e0 * (number.nbsql_x_3 - 263.58333333333337e0) * (number.nbsql_x_3 - 263.58333333333337e0), 0)
      + coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * 2.03688192726104e0 - 7.666666666666667e0
        WHEN number.nbsql_x_4 = 0 THEN -7.666666666666667e0
      END, 0)
      + (coalesce(number.nbsql_x_5_1 * -1.6739764335716716e0, 0) + coalesce(number.nbsql_x_5_2 * -0.2076393647782445e0, 0)) AS nbsql_joint_2,
    CASE WHEN nbsql_x_4 >= 0 THEN -(CASE
      WHEN nbsql_x_4 > 1000000 THEN (nbsql_x_4 + 0.5) * LN(nbsql_x_4 + 1) - (nbsql_x_4 + 1) + 0.9189385332046728e0 + 1 / (12 * (nbsql_x_4 + 1))
      WHEN nbsql_x_4 > 0 THEN (nbsql_x_4 + 8.5) * LN(nbsql_x_4 + 9) - (nbsql_x_4 + 9) + 0.9189385332046728e0
        + (0.08333333333333333e0 - (0.002777777777777778e0 - (0.0007936507936507937e0 - (0.0005952380952380953e0 - 0.0008417508417508417e0 / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / (nbsql_x_4 + 9)
        - LN((nbsql_x_4 + 1) * (nbsql_x_4 + 2) * (nbsql_x_4 + 3) * (nbsql_x_4 + 4) * (nbsql_x_4 + 5) * (nbsql_x_4 + 6) * (nbsql_x_4 + 7) * (nbsql_x_4 + 8))
      ELSE 0
    END) ELSE 0 END AS nbsql_common
  FROM nbsql_inputs AS number
  LEFT JOIN nbsql_level_1
    ON nbsql_level_1.value = nbsql_x_1
  LEFT JOIN nbsql_level_2
    ON nbsql_level_2.value = nbsql_x_2
),
nbsql_best AS MATERIALIZED (
  SELECT
    nbsql_joint.*,
    MAX(nbsql_joint_1, nbsql_joint_2) AS nbsql_highest
  FROM nbsql_joint
),
nbsql_evidence AS MATERIALIZED (
  SELECT
    nbsql_best.*,
    (CASE WHEN nbsql_joint_1 - nbsql_highest > -700 THEN EXP(nbsql_joint_1 - nbsql_highest) ELSE 0 END + CASE WHEN nbsql_joint_2 - nbsql_highest > -700 THEN EXP(nbsql_joint_2 - nbsql_highest) ELSE 0 END) AS nbsql_relative_evidence
  FROM nbsql_best
)
SELECT
  nbsql_evidence."id",
  nbsql_evidence."sender",
  nbsql_evidence."replied",
  nbsql_evidence."length",
  nbsql_evidence."links",
  nbsql_evidence."plain",
  nbsql_evidence."html",
  CASE
    WHEN nbsql_highest > -1e+305 THEN nbsql_highest + LN(nbsql_relative_evidence) + nbsql_common
    ELSE -9e999
  END AS log_evidence
FROM nbsql_evidence
