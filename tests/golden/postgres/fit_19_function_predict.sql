CREATE FUNCTION "spam"."predict"(source JSONB) RETURNS TABLE ("prediction" character varying, "probability" DOUBLE PRECISION) LANGUAGE SQL STABLE
BEGIN ATOMIC
SELECT answer."prediction", answer."probability"
FROM (
  SELECT
    source.nbsql_prediction AS prediction,
    source.nbsql_probability AS probability
  FROM (
    WITH numbered AS MATERIALIZED (
      SELECT row_number() OVER () AS nbsql_row, source.* FROM (
      SELECT * FROM jsonb_to_record($1) AS source("sender" character varying, "replied" boolean, "length" numeric, "links" integer, "body" character varying, "plain" integer, "html" integer)
    ) AS source
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
            unnest(source.nbsql_words || ARRAY(SELECT source.nbsql_words[i] || ' ' || source.nbsql_words[i + 1] FROM generate_series(1, cardinality(source.nbsql_words) - 1) AS i)) COLLATE "C" AS value, 1 AS times
          FROM (
            SELECT
              source.*,
              ARRAY(
                SELECT words.word COLLATE "C"
                FROM regexp_split_to_table(lower(CAST(source."body" AS TEXT) COLLATE "und-x-icu"), '[^[:alnum:]\u00B2\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78\u0F2A-\u0F33\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070\u2074-\u2079\u2080-\u2089\u2150-\u2182\u2185-\u2189\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF\uA830-\uA835]+') WITH ORDINALITY AS words(word, position)
                WHERE length(words.word) >= 1
                  AND words.word COLLATE "C" NOT IN ('the', 'of')
                ORDER BY words.position ASC NULLS LAST
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
      CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE PRECISION) THEN CASE evidence.nbsql_highest WHEN evidence.nbsql_joint_1 THEN parameters.class_1 WHEN evidence.nbsql_joint_2 THEN parameters.class_2
      END END AS nbsql_prediction,
      CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE PRECISION) THEN 1 / evidence.nbsql_mass END AS nbsql_probability,
      CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE PRECISION) THEN evidence.nbsql_highest + ln(evidence.nbsql_mass) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
    FROM (
      SELECT best.*, (CASE WHEN best.nbsql_joint_1 - best.nbsql_highest < -708 THEN 0 ELSE exp(best.nbsql_joint_1 - best.nbsql_highest) END + CASE WHEN best.nbsql_joint_2 - best.nbsql_highest < -708 THEN 0 ELSE exp(best.nbsql_joint_2 - best.nbsql_highest) END) AS nbsql_mass
      FROM (
        SELECT
          joint.*,
          greatest(joint.nbsql_joint_1, joint.nbsql_joint_2) AS nbsql_highest
        FROM (
          SELECT
            number.*,
            parameters.log_prior_1
              + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_1 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_1 ELSE 0 END
              + coalesce(parameters.peak_3_1 - CASE WHEN (number.nbsql_x_3 - parameters.mean_3_1) IS NOT NULL THEN power(least(abs((number.nbsql_x_3 - parameters.mean_3_1) * sqrt(parameters.precision_3_1)), 1e150) + 1e-150, 2) END, 0)
              + coalesce(CASE
                WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_1 - parameters.rate_4_1 - number.nbsql_log_factorial_4
                WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_1
                WHEN number.nbsql_x_4 IS NOT NULL THEN -CAST('infinity' AS DOUBLE PRECISION)
              END, 0)
              + coalesce(bag_5.class_1, 0)
              + coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_1, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_1, 0)
              + coalesce(level_1.class_1, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_1 END, parameters.unseen_1_1, 0) AS nbsql_joint_1,
            parameters.log_prior_2
              + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_2 ELSE 0 END
              + coalesce(parameters.peak_3_2 - CASE WHEN (number.nbsql_x_3 - parameters.mean_3_2) IS NOT NULL THEN power(least(abs((number.nbsql_x_3 - parameters.mean_3_2) * sqrt(parameters.precision_3_2)), 1e150) + 1e-150, 2) END, 0)
              + coalesce(CASE
                WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_2 - parameters.rate_4_2 - number.nbsql_log_factorial_4
                WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_2
                WHEN number.nbsql_x_4 IS NOT NULL THEN -CAST('infinity' AS DOUBLE PRECISION)
              END, 0)
              + coalesce(bag_5.class_2, 0)
              + coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_2, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_2, 0)
              + coalesce(level_1.class_2, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_2 END, parameters.unseen_1_2, 0) AS nbsql_joint_2
          FROM (
            SELECT
              counted.*,
              CASE
                WHEN counted.nbsql_x_4 > 1000000 THEN (counted.nbsql_x_4 + 0.5) * LN(counted.nbsql_x_4 + 1) - (counted.nbsql_x_4 + 1) + float8 '0.9189385332046728' + 1 / (12 * (counted.nbsql_x_4 + 1))
                WHEN counted.nbsql_x_4 > 0 THEN (counted.nbsql_x_4 + 8.5) * LN(counted.nbsql_x_4 + 9) - (counted.nbsql_x_4 + 9) + float8 '0.9189385332046728'
                  + (float8 '0.08333333333333333' - (float8 '0.002777777777777778' - (float8 '0.0007936507936507937' - (float8 '0.0005952380952380953' - float8 '0.0008417508417508417' / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / (counted.nbsql_x_4 + 9)
                  - LN((counted.nbsql_x_4 + 1) * (counted.nbsql_x_4 + 2) * (counted.nbsql_x_4 + 3) * (counted.nbsql_x_4 + 4) * (counted.nbsql_x_4 + 5) * (counted.nbsql_x_4 + 6) * (counted.nbsql_x_4 + 7) * (counted.nbsql_x_4 + 8))
                ELSE 0
              END AS nbsql_log_factorial_4
            FROM (
              SELECT
                source.*,
                CASE
                  WHEN CAST(source."replied" AS TEXT) IN ('true', '1') THEN TRUE
                  WHEN CAST(source."replied" AS TEXT) IN ('false', '0') THEN FALSE
                  ELSE CASE CAST(CAST(source."replied" AS TEXT) AS DOUBLE PRECISION) WHEN 1 THEN TRUE WHEN 0 THEN FALSE END
                END AS nbsql_x_2,
                CASE WHEN abs(CAST(source."length" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."length" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."length" AS DOUBLE PRECISION) END AS nbsql_x_3,
                CASE WHEN abs(CAST(source."links" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."links" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."links" AS DOUBLE PRECISION) END AS nbsql_x_4,
                CASE WHEN abs(CAST(source."plain" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."plain" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."plain" AS DOUBLE PRECISION) END AS nbsql_x_6_1,
                CASE WHEN abs(CAST(source."html" AS DOUBLE PRECISION)) < 1e-140 THEN 0 WHEN abs(CAST(source."html" AS DOUBLE PRECISION)) <= 1e150 THEN CAST(source."html" AS DOUBLE PRECISION) END AS nbsql_x_6_2,
                source."sender" AS nbsql_x_1
              FROM numbered AS source
              OFFSET 0
            ) AS counted
            OFFSET 0
          ) AS number
          JOIN (
            SELECT classes.*
            FROM "spam"."parameters" AS classes
            WHERE CASE WHEN classes.class_count = 2
              AND classes.class_1 = CAST('ham' AS character varying) COLLATE "C"
              AND classes.class_2 = CAST('spam' AS character varying) COLLATE "C"
            THEN TRUE ELSE CAST(left(CAST(classes.class_1 AS TEXT), 0) || 'the classes of the model have changed since this query was made; make it again' AS BOOLEAN) END
          ) AS parameters ON TRUE
          LEFT JOIN "spam"."lookups" AS level_1
            ON level_1.feature = 'sender'
            AND level_1.value = CAST(number."sender" AS TEXT) COLLATE "C"
          LEFT JOIN bag_5 ON bag_5.nbsql_row = number.nbsql_row
          OFFSET 0
        ) AS joint
        OFFSET 0
      ) AS best
      OFFSET 0
    ) AS evidence
    JOIN (
      SELECT classes.*
      FROM "spam"."parameters" AS classes
      WHERE CASE WHEN classes.class_count = 2
        AND classes.class_1 = CAST('ham' AS character varying) COLLATE "C"
        AND classes.class_2 = CAST('spam' AS character varying) COLLATE "C"
      THEN TRUE ELSE CAST(left(CAST(classes.class_1 AS TEXT), 0) || 'the classes of the model have changed since this query was made; make it again' AS BOOLEAN) END
    ) AS parameters ON TRUE
  ) AS source
  ORDER BY nbsql_row ASC NULLS LAST
) AS answer;
END;
