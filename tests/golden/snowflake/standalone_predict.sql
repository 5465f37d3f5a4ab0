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
nbsql_joint AS (
  SELECT
    number.*,
    '-0.40546510810816444'::DOUBLE
      + CASE WHEN nbsql_x_1 IS NULL THEN '-1.9459101490553135'::DOUBLE WHEN nbsql_x_1 = 'colleague' THEN '-1.9459101490553135'::DOUBLE WHEN nbsql_x_1 = 'friend' THEN '-0.5596157879354228'::DOUBLE WHEN nbsql_x_1 = 'stranger' THEN '-1.9459101490553135'::DOUBLE ELSE '-1.9459101490553135'::DOUBLE END
      + CASE nbsql_x_2 WHEN TRUE THEN '-0.916290731874155'::DOUBLE WHEN FALSE THEN '-0.5108256237659907'::DOUBLE ELSE 0 END
      + coalesce('-3.862009838681108'::DOUBLE - '0.0013888353072798118'::DOUBLE * (number.nbsql_x_3 - '93.66666666666667'::DOUBLE) * (number.nbsql_x_3 - '93.66666666666667'::DOUBLE), 0)
      + coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * '-1.0986122886681098'::DOUBLE - '0.3333333333333333'::DOUBLE
        WHEN number.nbsql_x_4 = 0 THEN -'0.3333333333333333'::DOUBLE
      END, 0)
      + (coalesce(number.nbsql_x_5_1 * '-0.4700036292457356'::DOUBLE, 0) + coalesce(number.nbsql_x_5_2 * '-0.9808292530117262'::DOUBLE, 0)) AS nbsql_joint_1,
    '-1.0986122886681098'::DOUBLE
      + CASE WHEN nbsql_x_1 IS NULL THEN '-1.2992829841302609'::DOUBLE WHEN nbsql_x_1 = 'colleague' THEN '-1.7047480922384253'::DOUBLE WHEN nbsql_x_1 = 'friend' THEN '-1.7047480922384253'::DOUBLE WHEN nbsql_x_1 = 'stranger' THEN '-1.0116009116784799'::DOUBLE ELSE '-1.7047480922384253'::DOUBLE END
      + CASE nbsql_x_2 WHEN TRUE THEN '-1.252762968495368'::DOUBLE WHEN FALSE THEN '-0.3364722366212129'::DOUBLE ELSE 0 END
      + coalesce('-4.426052371339883'::DOUBLE - '0.0004494999313263997'::DOUBLE * (number.nbsql_x_3 - '263.58333333333337'::DOUBLE) * (number.nbsql_x_3 - '263.58333333333337'::DOUBLE), 0)
      + coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * '2.03688192726104'::DOUBLE - '7.666666666666667'::DOUBLE
        WHEN number.nbsql_x_4 = 0 THEN -'7.666666666666667'::DOUBLE
      END, 0)
      + (coalesce(number.nbsql_x_5_1 * '-1.6739764335716716'::DOUBLE, 0) + coalesce(number.nbsql_x_5_2 * '-0.2076393647782445'::DOUBLE, 0)) AS nbsql_joint_2
  FROM nbsql_inputs AS number
),
nbsql_best AS (
  SELECT
    nbsql_joint.*,
    greatest(nbsql_joint_1, nbsql_joint_2) AS nbsql_highest
  FROM nbsql_joint
),
nbsql_evidence AS (
  SELECT
    nbsql_best.*,
    (CASE WHEN nbsql_joint_1 - nbsql_highest > -700 THEN EXP(nbsql_joint_1 - nbsql_highest) ELSE 0 END + CASE WHEN nbsql_joint_2 - nbsql_highest > -700 THEN EXP(nbsql_joint_2 - nbsql_highest) ELSE 0 END) AS nbsql_relative_evidence
  FROM nbsql_best
)
SELECT
  nbsql_evidence.* EXCLUDE (nbsql_x_1, nbsql_x_2, nbsql_x_3, nbsql_x_4, nbsql_x_5_1, nbsql_x_5_2, nbsql_joint_1, nbsql_joint_2, nbsql_highest, nbsql_relative_evidence),
  CASE
    WHEN nbsql_highest > -'1e+305'::DOUBLE AND nbsql_joint_1 = nbsql_highest THEN 'ham'
    WHEN nbsql_highest > -'1e+305'::DOUBLE AND nbsql_joint_2 = nbsql_highest THEN 'spam'
  END AS prediction,
  CASE WHEN nbsql_highest > -'1e+305'::DOUBLE THEN 1 / nbsql_relative_evidence END AS probability,
  CASE WHEN nbsql_highest > -'1e+305'::DOUBLE THEN CASE WHEN nbsql_joint_1 - nbsql_highest > -700 THEN EXP(nbsql_joint_1 - nbsql_highest) ELSE 0 END / nbsql_relative_evidence END AS "PROBABILITY_HAM",
  CASE WHEN nbsql_highest > -'1e+305'::DOUBLE THEN CASE WHEN nbsql_joint_2 - nbsql_highest > -700 THEN EXP(nbsql_joint_2 - nbsql_highest) ELSE 0 END / nbsql_relative_evidence END AS "PROBABILITY_SPAM"
FROM nbsql_evidence
