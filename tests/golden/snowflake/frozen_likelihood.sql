WITH nbsql_inputs AS (
  SELECT
    source.*,
    CAST(source."SENDER" AS VARCHAR) AS nbsql_x_1,
    source."REPLIED" AS nbsql_x_2,
    CASE WHEN ABS(CAST(source."LENGTH" AS DOUBLE)) <= '1e+150'::DOUBLE THEN CAST(source."LENGTH" AS DOUBLE) END AS nbsql_x_3,
    CASE WHEN ABS(CAST(source."LINKS" AS DOUBLE)) <= '1e+150'::DOUBLE THEN CAST(source."LINKS" AS DOUBLE) END AS nbsql_x_4,
    CASE WHEN ABS(CAST(source."PLAIN" AS DOUBLE)) <= '1e+150'::DOUBLE THEN CAST(source."PLAIN" AS DOUBLE) END AS nbsql_x_5_1,
    CASE WHEN ABS(CAST(source."HTML" AS DOUBLE)) <= '1e+150'::DOUBLE THEN CAST(source."HTML" AS DOUBLE) END AS nbsql_x_5_2
  FROM inbox AS source
),
nbsql_level_1 AS (
  SELECT *
  FROM (
    VALUES
      ('colleague', '-1.9459101490553135'::DOUBLE, '-1.7047480922384253'::DOUBLE),
      ('friend', '-0.5596157879354228'::DOUBLE, '-1.7047480922384253'::DOUBLE),
      ('stranger', '-1.9459101490553135'::DOUBLE, '-1.0116009116784799'::DOUBLE)
  ) AS literals(value, class_1, class_2)
),
nbsql_level_2 AS (
  SELECT *
  FROM (
    VALUES
      (TRUE, '-0.916290731874155'::DOUBLE, '-1.252762968495368'::DOUBLE),
      (FALSE, '-0.5108256237659907'::DOUBLE, '-0.3364722366212129'::DOUBLE)
  ) AS literals(value, class_1, class_2)
),
nbsql_joint AS (
  SELECT
    nbsql_inputs.*,
    '-0.40546510810816444'::DOUBLE
      + CASE WHEN nbsql_level_1.value IS NOT NULL THEN nbsql_level_1.class_1 WHEN nbsql_x_1 IS NULL THEN '-1.9459101490553135'::DOUBLE ELSE '-1.9459101490553135'::DOUBLE END
      + CASE WHEN nbsql_level_2.value IS NOT NULL THEN nbsql_level_2.class_1 ELSE 0 END
      + CASE WHEN nbsql_x_3 IS NULL THEN 0 ELSE '-3.862009838681108'::DOUBLE - '0.0013888353072798118'::DOUBLE * (nbsql_x_3 - '93.66666666666667'::DOUBLE) * (nbsql_x_3 - '93.66666666666667'::DOUBLE) END
      + CASE WHEN nbsql_x_4 IS NULL THEN 0 WHEN nbsql_x_4 >= 0 THEN nbsql_x_4 * '-1.0986122886681098'::DOUBLE - '0.3333333333333333'::DOUBLE END
      + (COALESCE(nbsql_x_5_1 * '-0.4700036292457356'::DOUBLE, 0) + COALESCE(nbsql_x_5_2 * '-0.9808292530117262'::DOUBLE, 0)) AS nbsql_joint_1,
    '-1.0986122886681098'::DOUBLE
      + CASE WHEN nbsql_level_1.value IS NOT NULL THEN nbsql_level_1.class_2 WHEN nbsql_x_1 IS NULL THEN '-1.2992829841302609'::DOUBLE ELSE '-1.7047480922384253'::DOUBLE END
      + CASE WHEN nbsql_level_2.value IS NOT NULL THEN nbsql_level_2.class_2 ELSE 0 END
      + CASE WHEN nbsql_x_3 IS NULL THEN 0 ELSE '-4.426052371339883'::DOUBLE - '0.0004494999313263997'::DOUBLE * (nbsql_x_3 - '263.58333333333337'::DOUBLE) * (nbsql_x_3 - '263.58333333333337'::DOUBLE) END
      + CASE WHEN nbsql_x_4 IS NULL THEN 0 WHEN nbsql_x_4 >= 0 THEN nbsql_x_4 * '2.03688192726104'::DOUBLE - '7.666666666666667'::DOUBLE END
      + (COALESCE(nbsql_x_5_1 * '-1.6739764335716716'::DOUBLE, 0) + COALESCE(nbsql_x_5_2 * '-0.2076393647782445'::DOUBLE, 0)) AS nbsql_joint_2,
    CASE WHEN nbsql_x_4 >= 0 THEN -(CASE
      WHEN nbsql_x_4 > 1000000 THEN (nbsql_x_4 + 0.5) * LN(nbsql_x_4 + 1) - (nbsql_x_4 + 1) + '0.9189385332046728'::DOUBLE + 1 / (12 * (nbsql_x_4 + 1))
      WHEN nbsql_x_4 > 0 THEN (nbsql_x_4 + 8.5) * LN(nbsql_x_4 + 9) - (nbsql_x_4 + 9) + '0.9189385332046728'::DOUBLE
        + ('0.08333333333333333'::DOUBLE - ('0.002777777777777778'::DOUBLE - ('0.0007936507936507937'::DOUBLE - ('0.0005952380952380953'::DOUBLE - '0.0008417508417508417'::DOUBLE / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / ((nbsql_x_4 + 9) * (nbsql_x_4 + 9))) / (nbsql_x_4 + 9)
        - LN((nbsql_x_4 + 1) * (nbsql_x_4 + 2) * (nbsql_x_4 + 3) * (nbsql_x_4 + 4) * (nbsql_x_4 + 5) * (nbsql_x_4 + 6) * (nbsql_x_4 + 7) * (nbsql_x_4 + 8))
      ELSE 0
    END) ELSE 0 END AS nbsql_common
  FROM nbsql_inputs
  LEFT JOIN nbsql_level_1
    ON nbsql_level_1.value = nbsql_x_1
  LEFT JOIN nbsql_level_2
    ON nbsql_level_2.value = nbsql_x_2
),
nbsql_best AS (
  SELECT
    nbsql_joint.*,
    NULLIF(GREATEST(COALESCE(nbsql_joint_1, '-1e+308'::DOUBLE), COALESCE(nbsql_joint_2, '-1e+308'::DOUBLE)), '-1e+308'::DOUBLE) AS nbsql_highest
  FROM nbsql_joint
),
nbsql_evidence AS (
  SELECT
    nbsql_best.*,
    (CASE WHEN nbsql_joint_1 - nbsql_highest > -700 THEN EXP(nbsql_joint_1 - nbsql_highest) ELSE 0 END + CASE WHEN nbsql_joint_2 - nbsql_highest > -700 THEN EXP(nbsql_joint_2 - nbsql_highest) ELSE 0 END) AS nbsql_mass
  FROM nbsql_best
)
SELECT
  nbsql_evidence.* EXCLUDE (nbsql_x_1, nbsql_x_2, nbsql_x_3, nbsql_x_4, nbsql_x_5_1, nbsql_x_5_2, nbsql_joint_1, nbsql_joint_2, nbsql_common, nbsql_highest, nbsql_mass),
  CASE
    WHEN nbsql_highest IS NOT NULL THEN nbsql_highest + LN(nbsql_mass) + nbsql_common
    ELSE -CAST('inf' AS DOUBLE)
  END AS log_evidence
FROM nbsql_evidence
