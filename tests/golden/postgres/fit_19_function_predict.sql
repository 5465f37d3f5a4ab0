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
      SELECT typed.*
      FROM jsonb_to_record($1) AS typed("sender" character varying, "replied" boolean, "length" numeric, "links" integer, "body" character varying, "plain" integer, "html" integer)
      JOIN jsonb_to_record($1) AS source("sender" JSONB, "replied" JSONB, "length" JSONB, "links" JSONB, "body" JSONB, "plain" JSONB, "html" JSONB) ON CASE
        WHEN jsonb_typeof(source."sender") = 'string' OR source."sender" IS NULL THEN TRUE
        ELSE CAST(left(source."sender" #>> '{}', 0) || 'column sender has another type than text, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."replied") = 'boolean' OR jsonb_typeof(source."replied") = 'number' OR (source."replied" #>> '{}') IN ('NaN', 'Infinity', '-Infinity') OR source."replied" IS NULL THEN TRUE
        ELSE CAST(left(source."replied" #>> '{}', 0) || 'column replied has another type than a number, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."length") = 'number' OR (source."length" #>> '{}') IN ('NaN', 'Infinity', '-Infinity') OR source."length" IS NULL THEN TRUE
        ELSE CAST(left(source."length" #>> '{}', 0) || 'column length has another type than a number, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."links") = 'number' OR (source."links" #>> '{}') IN ('NaN', 'Infinity', '-Infinity') OR source."links" IS NULL THEN TRUE
        ELSE CAST(left(source."links" #>> '{}', 0) || 'column links has another type than a number, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."body") = 'string' OR source."body" IS NULL THEN TRUE
        ELSE CAST(left(source."body" #>> '{}', 0) || 'column body has another type than a text, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."plain") = 'number' OR (source."plain" #>> '{}') IN ('NaN', 'Infinity', '-Infinity') OR source."plain" IS NULL THEN TRUE
        ELSE CAST(left(source."plain" #>> '{}', 0) || 'column plain has another type than a number, which the model has learnt there; cast it' AS BOOLEAN)
      END AND CASE
        WHEN jsonb_typeof(source."html") = 'number' OR (source."html" #>> '{}') IN ('NaN', 'Infinity', '-Infinity') OR source."html" IS NULL THEN TRUE
        ELSE CAST(left(source."html" #>> '{}', 0) || 'column html has another type than a number, which the model has learnt there; cast it' AS BOOLEAN)
      END
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
              ARRAY(SELECT word FROM unnest(regexp_split_to_array(normalize(lower(CAST(source."body" AS TEXT) COLLATE "und-x-icu"), NFC), '[^[:alnum:]\u00B2-\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78\u0F2A-\u0F33\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070-\u2079\u2080-\u2089\u2150-\u2189\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF\uA830-\uA835\U00010107-\U00010133\U00010140-\U00010178\U0001018A-\U0001018B\U000102E1-\U0001034A\U000103D1-\U000103D5\U00010858-\U0001085F\U00010879-\U0001091B\U000109BC-\U000109FF\U00010A40-\U00010A48\U00010A7D-\U00010A7E\U00010A9D-\U00010A9F\U00010AEB-\U00010AEF\U00010B58-\U00010B7F\U00010BA9-\U00010CFF\U00010E60-\U00010E7E\U00010F1D-\U00010F26\U00010F51-\U00010F54\U00010FC5-\U00010FCB\U00011052-\U00011065\U000111E1-\U000111F4\U0001173A-\U0001173B\U000118EA-\U000118F2\U00011C5A-\U00011C6C\U00011FC0-\U00011FD4\U00012400-\U0001246E\U00016B5B-\U00016E96\U0001D2E0-\U0001D2F3\U0001D360-\U0001D378\U0001E8C7-\U0001E8CF\U0001EC71-\U0001ECAB\U0001ECAD-\U0001ECAF\U0001ECB1-\U0001ED2D\U0001ED2F-\U0001ED3D\U0001F100-\U0001F10C\u0300-\u036F\u0483-\u0489\u0591-\u05BD\u05BF\u05C1-\u05C2\u05C4-\u05C5\u05C7\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06DC\u06DF-\u06E8\u06EA-\u06ED\u0711-\u07F3\u07FD\u0816-\u082D\u0859-\u085B\u0898-\u08E1\u08E3-\u0963\u0981-\u09E3\u09FE-\u0A75\u0A81-\u0AE3\u0AFA-\u0B63\u0B72-\u0BF2\u0C00-\u0C63\u0C81-\u0C83\u0CBC-\u0D4D\u0D57-\u0D78\u0D81-\u0DF3\u0E31-\u0E3A\u0E47-\u0E4E\u0EB1-\u0ECD\u0F18-\u0F19\u0F35\u0F37\u0F39\u0F3E-\u0F84\u0F86-\u0FBC\u0FC6\u102B-\u103E\u1056-\u109D\u135D-\u135F\u16EE-\u1734\u1752-\u17D3\u17DD-\u17F9\u180B-\u180D\u180F-\u193B\u1A17-\u1A1B\u1A55-\u1A7F\u1AB0-\u1B44\u1B6B-\u1B73\u1B80-\u1BF3\u1C24-\u1C37\u1CD0-\u1CD2\u1CD4-\u1DFF\u20D0-\u20F0\u2CEF-\u2CF1\u2D7F-\u2DFF\u3021-\u302F\u3099-\u309A\uA66F-\uA672\uA674-\uA67D\uA69E-\uA6F1\uA802-\uA827\uA82C-\uA835\uA880-\uA8C5\uA8E0-\uA8F1\uA8FF-\uA92D\uA947-\uA953\uA980-\uA9C0\uA9E5-\uAA4D\uAA7B-\uAAC1\uAAEB-\uAAEF\uAAF5-\uAAF6\uABE3-\uABEA\uABEC-\uABED\uFB1E\uFE00-\uFE0F\uFE20-\uFE2F\U000101FD-\U0001037A\U000109BC-\U00010A48\U00010AE5-\U00010AEF\U00010BA9-\U00010EAC\U00010F1D-\U00010F54\U00010F82-\U00010F85\U00010FC5-\U00011046\U00011052-\U000110BA\U000110C2\U00011100-\U00011134\U00011145-\U00011173\U00011180-\U000111C0\U000111C9-\U000111CC\U000111CE-\U000111CF\U000111E1-\U00011237\U0001123E\U000112DF-\U00011446\U0001145E-\U000114C3\U000115AF-\U000115C0\U000115DC-\U00011640\U000116AB-\U000116B7\U0001171D-\U0001173B\U0001182C-\U0001183A\U000118EA-\U00011943\U000119D1-\U000119E0\U000119E4-\U00011A3E\U00011A47-\U00011A99\U00011C2F-\U00011C3F\U00011C92-\U00011EF6\U00016AF0-\U00016AF4\U00016B30-\U00016B36\U00016F4F-\U00016F92\U00016FE4-\U00016FF1\U0001BC9D-\U0001BC9E\U0001CF00-\U0001CF46\U0001D165-\U0001D169\U0001D16D-\U0001D172\U0001D17B-\U0001D182\U0001D185-\U0001D18B\U0001D1AA-\U0001D1AD\U0001D242-\U0001D244\U0001DA00-\U0001DA36\U0001DA3B-\U0001DA6C\U0001DA75\U0001DA84\U0001DA9B-\U0001E136\U0001E2AE-\U0001E2EF\U0001E8C7-\U0001E94A\U000E0100-\U000E01EF][^[:alnum:]\u00B2-\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78\u0F2A-\u0F33\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070-\u2079\u2080-\u2089\u2150-\u2189\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF\uA830-\uA835\U00010107-\U00010133\U00010140-\U00010178\U0001018A-\U0001018B\U000102E1-\U0001034A\U000103D1-\U000103D5\U00010858-\U0001085F\U00010879-\U0001091B\U000109BC-\U000109FF\U00010A40-\U00010A48\U00010A7D-\U00010A7E\U00010A9D-\U00010A9F\U00010AEB-\U00010AEF\U00010B58-\U00010B7F\U00010BA9-\U00010CFF\U00010E60-\U00010E7E\U00010F1D-\U00010F26\U00010F51-\U00010F54\U00010FC5-\U00010FCB\U00011052-\U00011065\U000111E1-\U000111F4\U0001173A-\U0001173B\U000118EA-\U000118F2\U00011C5A-\U00011C6C\U00011FC0-\U00011FD4\U00012400-\U0001246E\U00016B5B-\U00016E96\U0001D2E0-\U0001D2F3\U0001D360-\U0001D378\U0001E8C7-\U0001E8CF\U0001EC71-\U0001ECAB\U0001ECAD-\U0001ECAF\U0001ECB1-\U0001ED2D\U0001ED2F-\U0001ED3D\U0001F100-\U0001F10C]*|^[^[:alnum:]\u00B2-\u00B3\u00B9\u00BC-\u00BE\u09F4-\u09F9\u0B72-\u0B77\u0BF0-\u0BF2\u0C78-\u0C7E\u0D58-\u0D5E\u0D70-\u0D78\u0F2A-\u0F33\u1369-\u137C\u16EE-\u16F0\u17F0-\u17F9\u19DA\u2070-\u2079\u2080-\u2089\u2150-\u2189\u2460-\u249B\u24EA-\u24FF\u2776-\u2793\u2CFD\u3007\u3021-\u3029\u3038-\u303A\u3192-\u3195\u3220-\u3229\u3248-\u324F\u3251-\u325F\u3280-\u3289\u32B1-\u32BF\uA6E6-\uA6EF\uA830-\uA835\U00010107-\U00010133\U00010140-\U00010178\U0001018A-\U0001018B\U000102E1-\U0001034A\U000103D1-\U000103D5\U00010858-\U0001085F\U00010879-\U0001091B\U000109BC-\U000109FF\U00010A40-\U00010A48\U00010A7D-\U00010A7E\U00010A9D-\U00010A9F\U00010AEB-\U00010AEF\U00010B58-\U00010B7F\U00010BA9-\U00010CFF\U00010E60-\U00010E7E\U00010F1D-\U00010F26\U00010F51-\U00010F54\U00010FC5-\U00010FCB\U00011052-\U00011065\U000111E1-\U000111F4\U0001173A-\U0001173B\U000118EA-\U000118F2\U00011C5A-\U00011C6C\U00011FC0-\U00011FD4\U00012400-\U0001246E\U00016B5B-\U00016E96\U0001D2E0-\U0001D2F3\U0001D360-\U0001D378\U0001E8C7-\U0001E8CF\U0001EC71-\U0001ECAB\U0001ECAD-\U0001ECAF\U0001ECB1-\U0001ED2D\U0001ED2F-\U0001ED3D\U0001F100-\U0001F10C]+') COLLATE "C") AS listed(word) WHERE word <> '' AND word NOT IN ('the', 'of')) AS nbsql_words
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
      CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE PRECISION) THEN 1 / evidence.nbsql_relative_evidence END AS nbsql_probability,
      CASE WHEN evidence.nbsql_highest > -CAST('infinity' AS DOUBLE PRECISION) THEN evidence.nbsql_highest + ln(evidence.nbsql_relative_evidence) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
    FROM (
      SELECT best.*, (CASE WHEN best.nbsql_joint_1 - best.nbsql_highest < -708 THEN 0 ELSE exp(best.nbsql_joint_1 - best.nbsql_highest) END + CASE WHEN best.nbsql_joint_2 - best.nbsql_highest < -708 THEN 0 ELSE exp(best.nbsql_joint_2 - best.nbsql_highest) END) AS nbsql_relative_evidence
      FROM (
        SELECT
          joint.*,
          greatest(joint.nbsql_joint_1, joint.nbsql_joint_2) AS nbsql_highest
        FROM (
          SELECT
            number.*,
            parameters.log_prior_1
              + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_1 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_1 ELSE 0 END
              + coalesce(parameters.peak_3_1 - CASE WHEN (number.nbsql_x_3 - parameters.mean_3_1) IS NOT NULL THEN sign(parameters.precision_3_1) * power(least(abs((number.nbsql_x_3 - parameters.mean_3_1) * sqrt(abs(parameters.precision_3_1))), 1e150) + 1e-150, 2) END, 0)
              + coalesce(CASE
                WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_1 - parameters.rate_4_1 - number.nbsql_log_factorial_4
                WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_1
              END, 0)
              + coalesce(bag_5.class_1, 0)
              + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_1, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_1, 0))
              + coalesce(level_1.class_1, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_1 END, parameters.unseen_1_1, 0) AS nbsql_joint_1,
            parameters.log_prior_2
              + CASE WHEN number.nbsql_x_2 THEN parameters.true_2_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2_2 ELSE 0 END
              + coalesce(parameters.peak_3_2 - CASE WHEN (number.nbsql_x_3 - parameters.mean_3_2) IS NOT NULL THEN sign(parameters.precision_3_2) * power(least(abs((number.nbsql_x_3 - parameters.mean_3_2) * sqrt(abs(parameters.precision_3_2))), 1e150) + 1e-150, 2) END, 0)
              + coalesce(CASE
                WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4_2 - parameters.rate_4_2 - number.nbsql_log_factorial_4
                WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4_2
              END, 0)
              + coalesce(bag_5.class_2, 0)
              + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_2, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_2, 0))
              + coalesce(level_1.class_2, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_2 END, parameters.unseen_1_2, 0) AS nbsql_joint_2
          FROM (
            SELECT
              counted.*,
              CASE
                WHEN counted.nbsql_x_4 > 1000000 THEN (counted.nbsql_x_4 + 0.5) * ln(counted.nbsql_x_4 + 1) - (counted.nbsql_x_4 + 1) + float8 '0.9189385332046728' + 1 / (12 * (counted.nbsql_x_4 + 1))
                WHEN counted.nbsql_x_4 > 0 THEN (counted.nbsql_x_4 + 8.5) * ln(counted.nbsql_x_4 + 9) - (counted.nbsql_x_4 + 9) + float8 '0.9189385332046728'
                  + (float8 '0.08333333333333333' - (float8 '0.002777777777777778' - (float8 '0.0007936507936507937' - (float8 '0.0005952380952380953' - float8 '0.0008417508417508417' / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / (counted.nbsql_x_4 + 9)
                  - ln((counted.nbsql_x_4 + 1) * (counted.nbsql_x_4 + 2) * (counted.nbsql_x_4 + 3) * (counted.nbsql_x_4 + 4) * (counted.nbsql_x_4 + 5) * (counted.nbsql_x_4 + 6) * (counted.nbsql_x_4 + 7) * (counted.nbsql_x_4 + 8))
                ELSE 0
              END AS nbsql_log_factorial_4
            FROM (
              SELECT
                source.*,
                CASE
                  WHEN CAST(source."replied" AS TEXT) IN ('true', '1') THEN true
                  WHEN CAST(source."replied" AS TEXT) IN ('false', '0') THEN false
                  ELSE CASE CAST(CAST(source."replied" AS TEXT) AS DOUBLE PRECISION) WHEN 1 THEN true WHEN 0 THEN false END
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
          JOIN "spam"."parameters" AS parameters ON TRUE
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
