CREATE FUNCTION "spam"."evaluate"(source REGCLASS) RETURNS TABLE ("class" TEXT, "metric" TEXT, "value" DOUBLE PRECISION) LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp AS E'DECLARE
  wrong TEXT := (
    SELECT format(''column %s is %s, and the model has learnt %s there; cast it'', attribute.attname, type.name, learnt.said)
    FROM pg_attribute AS attribute
    JOIN (
      VALUES
        (''sender'', ARRAY[''text''], ''text''),
        (''replied'', ARRAY[''boolean'', ''number''], ''a number''),
        (''length'', ARRAY[''number''], ''a number''),
        (''links'', ARRAY[''number''], ''a number''),
        (''body'', ARRAY[''text''], ''a text''),
        (''plain'', ARRAY[''number''], ''a number''),
        (''html'', ARRAY[''number''], ''a number''),
        (''label'', ARRAY[''text''], ''text'')
    ) AS learnt(name, kinds, said) ON learnt.name = attribute.attname
    JOIN (
      SELECT own.oid, own.typcategory AS category, format_type(CASE own.typtype WHEN ''d'' THEN own.typbasetype ELSE own.oid END, -1) AS name
      FROM pg_type AS own
    ) AS type ON type.oid = attribute.atttypid
    WHERE attribute.attrelid = source
      AND NOT attribute.attisdropped
      AND NOT ARRAY[
        type.name,
        CASE
          WHEN type.category IN (''S'', ''E'', ''Z'') OR type.name = ''uuid'' THEN ''text''
          WHEN type.category = ''N'' THEN ''number''
          WHEN type.name IN (''date'', ''timestamp without time zone'') THEN ''date''
        END,
        CASE WHEN type.name = ''timestamp without time zone'' THEN ''timestamp'' END
      ] && learnt.kinds
    ORDER BY attribute.attnum ASC NULLS LAST
    LIMIT 1
  );
BEGIN
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION USING ERRCODE = ''datatype_mismatch'', MESSAGE = wrong;
  END IF;
  RETURN QUERY EXECUTE replace(E''SELECT CAST(answer."class" AS TEXT), CAST(answer."metric" AS TEXT), CAST(answer."value" AS DOUBLE PRECISION)
FROM (
  WITH outcomes AS MATERIALIZED (
    SELECT
      CAST(source."label" AS TEXT) COLLATE "C" AS class,
      CAST(nbsql_prediction AS TEXT) COLLATE "C" AS prediction,
      coalesce(source.nbsql_probability, 0) AS probability,
      ARRAY[
        CASE WHEN source.nbsql_log_evidence > -CAST(''''infinity'''' AS DOUBLE PRECISION) THEN CASE WHEN source.nbsql_joint_1 - source.nbsql_log_evidence < -708 THEN 0 ELSE exp(source.nbsql_joint_1 - source.nbsql_log_evidence) END ELSE 0 END,
        CASE WHEN source.nbsql_log_evidence > -CAST(''''infinity'''' AS DOUBLE PRECISION) THEN CASE WHEN source.nbsql_joint_2 - source.nbsql_log_evidence < -708 THEN 0 ELSE exp(source.nbsql_joint_2 - source.nbsql_log_evidence) END ELSE 0 END
      ] AS posteriors,
      CAST(1 AS DOUBLE PRECISION) AS weight,
      FALSE AS broken
    FROM (
    WITH numbered AS MATERIALIZED (
      SELECT row_number() OVER () AS nbsql_row, source.* FROM (
      SELECT
        source."label",
        source."trust",
        source."sender",
        source."replied",
        source."length",
        source."links",
        source."body",
        source."plain",
        source."html"
      FROM "nbsql_source" AS source
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
            unnest(source.nbsql_words || ARRAY(SELECT source.nbsql_words[i] || '''' '''' || source.nbsql_words[i + 1] FROM generate_series(1, cardinality(source.nbsql_words) - 1) AS i)) COLLATE "C" AS value, 1 AS times
          FROM (
            SELECT
              source.*,
              ARRAY(
                SELECT words.word COLLATE "C"
                FROM regexp_split_to_table(normalize(lower(CAST(source."body" AS TEXT) COLLATE "und-x-icu"), NFC),
                  ''''[^[:alnum:]\\\\u00B2-\\\\u00B3\\\\u00B9\\\\u00BC-\\\\u00BE\\\\u0300-\\\\u036F\\\\u0483-\\\\u0489\\\\u0591-\\\\u05BD\\\\u05BF\\\\u05C1-\\\\u05C2\\\\u05C4-\\\\u05C5\\\\u05C7\\\\u0610-\\\\u061A\\\\u064B-\\\\u065F\\\\u0670\\\\u06D6-\\\\u06DC\\\\u06DF-\\\\u06E8\\\\u06EA-\\\\u06ED\\\\u0711-\\\\u07F3\\\\u07FD\\\\u0816-\\\\u082D\\\\u0859-\\\\u085B\\\\u0898-\\\\u08E1\\\\u08E3-\\\\u0963\\\\u0981-\\\\u09E3\\\\u09F4-\\\\u09F9\\\\u09FE-\\\\u0A75\\\\u0A81-\\\\u0AE3\\\\u0AFA-\\\\u0B63\\\\u0B72-\\\\u0BF2\\\\u0C00-\\\\u0C63\\\\u0C78-\\\\u0C7E\\\\u0C81-\\\\u0C83\\\\u0CBC-\\\\u0D4D\\\\u0D57-\\\\u0D78\\\\u0D81-\\\\u0DF3\\\\u0E31-\\\\u0E3A\\\\u0E47-\\\\u0E4E\\\\u0EB1-\\\\u0ECD\\\\u0F18-\\\\u0F19\\\\u0F2A-\\\\u0F33\\\\u0F35\\\\u0F37\\\\u0F39\\\\u0F3E-\\\\u0F84\\\\u0F86-\\\\u0FBC\\\\u0FC6\\\\u102B-\\\\u103E\\\\u1056-\\\\u109D\\\\u135D-\\\\u135F\\\\u1369-\\\\u137C\\\\u16EE-\\\\u1734\\\\u1752-\\\\u17D3\\\\u17DD-\\\\u17F9\\\\u180B-\\\\u180D\\\\u180F-\\\\u193B\\\\u19DA\\\\u1A17-\\\\u1A1B\\\\u1A55-\\\\u1A7F\\\\u1AB0-\\\\u1B44\\\\u1B6B-\\\\u1B73\\\\u1B80-\\\\u1BF3\\\\u1C24-\\\\u1C37\\\\u1CD0-\\\\u1CD2\\\\u1CD4-\\\\u1DFF\\\\u2070-\\\\u2079\\\\u2080-\\\\u2089\\\\u20D0-\\\\u20F0\\\\u2150-\\\\u2189\\\\u2460-\\\\u249B\\\\u24EA-\\\\u24FF\\\\u2776-\\\\u2793\\\\u2CEF-\\\\u2CF1\\\\u2CFD\\\\u2D7F-\\\\u2DFF\\\\u3007\\\\u3021-\\\\u302F\\\\u3038-\\\\u303A\\\\u3099-\\\\u309A\\\\u3192-\\\\u3195\\\\u3220-\\\\u3229\\\\u3248-\\\\u324F\\\\u3251-\\\\u325F\\\\u3280-\\\\u3289\\\\u32B1-\\\\u32BF\\\\uA66F-\\\\uA672\\\\uA674-\\\\uA67D\\\\uA69E-\\\\uA6F1\\\\uA802-\\\\uA827\\\\uA82C-\\\\uA835\\\\uA880-\\\\uA8C5\\\\uA8E0-\\\\uA8F1\\\\uA8FF-\\\\uA92D\\\\uA947-\\\\uA953\\\\uA980-\\\\uA9C0\\\\uA9E5-\\\\uAA4D\\\\uAA7B-\\\\uAAC1\\\\uAAEB-\\\\uAAEF\\\\uAAF5-\\\\uAAF6\\\\uABE3-\\\\uABEA\\\\uABEC-\\\\uABED\\\\uFB1E\\\\uFE00-\\\\uFE0F\\\\uFE20-\\\\uFE2F\\\\U00010107-\\\\U00010133\\\\U00010140-\\\\U00010178\\\\U0001018A-\\\\U0001018B\\\\U000101FD-\\\\U0001037A\\\\U000103D1-\\\\U000103D5\\\\U00010858-\\\\U0001085F\\\\U00010879-\\\\U0001091B\\\\U000109BC-\\\\U00010A48\\\\U00010A7D-\\\\U00010A7E\\\\U00010A9D-\\\\U00010A9F\\\\U00010AE5-\\\\U00010AEF\\\\U00010B58-\\\\U00010B7F\\\\U00010BA9-\\\\U00010EAC\\\\U00010F1D-\\\\U00010F54\\\\U00010F82-\\\\U00010F85\\\\U00010FC5-\\\\U00011046\\\\U00011052-\\\\U000110BA\\\\U000110C2\\\\U00011100-\\\\U00011134\\\\U00011145-\\\\U00011173\\\\U00011180-\\\\U000111C0\\\\U000111C9-\\\\U000111CC\\\\U000111CE-\\\\U000111CF\\\\U000111E1-\\\\U00011237\\\\U0001123E\\\\U000112DF-\\\\U00011446\\\\U0001145E-\\\\U000114C3\\\\U000115AF-\\\\U000115C0\\\\U000115DC-\\\\U00011640\\\\U000116AB-\\\\U000116B7\\\\U0001171D-\\\\U0001173B\\\\U0001182C-\\\\U0001183A\\\\U000118EA-\\\\U00011943\\\\U000119D1-\\\\U000119E0\\\\U000119E4-\\\\U00011A3E\\\\U00011A47-\\\\U00011A99\\\\U00011C2F-\\\\U00011C3F\\\\U00011C5A-\\\\U00011C6C\\\\U00011C92-\\\\U00011EF6\\\\U00011FC0-\\\\U00011FD4\\\\U00012400-\\\\U0001246E\\\\U00016AF0-\\\\U00016AF4\\\\U00016B30-\\\\U00016B36\\\\U00016B5B-\\\\U00016E96\\\\U00016F4F-\\\\U00016F92\\\\U00016FE4-\\\\U00016FF1\\\\U0001BC9D-\\\\U0001BC9E\\\\U0001CF00-\\\\U0001CF46\\\\U0001D165-\\\\U0001D169\\\\U0001D16D-\\\\U0001D172\\\\U0001D17B-\\\\U0001D182\\\\U0001D185-\\\\U0001D18B\\\\U0001D1AA-\\\\U0001D1AD\\\\U0001D242-\\\\U0001D244\\\\U0001D2E0-\\\\U0001D2F3\\\\U0001D360-\\\\U0001D378\\\\U0001DA00-\\\\U0001DA36\\\\U0001DA3B-\\\\U0001DA6C\\\\U0001DA75\\\\U0001DA84\\\\U0001DA9B-\\\\U0001E136\\\\U0001E2AE-\\\\U0001E2EF\\\\U0001E8C7-\\\\U0001E94A\\\\U0001EC71-\\\\U0001ECAB\\\\U0001ECAD-\\\\U0001ECAF\\\\U0001ECB1-\\\\U0001ED2D\\\\U0001ED2F-\\\\U0001ED3D\\\\U0001F100-\\\\U0001F10C\\\\U000E0100-\\\\U000E01EF][^[:alnum:]\\\\u00B2-\\\\u00B3\\\\u00B9\\\\u00BC-\\\\u00BE\\\\u09F4-\\\\u09F9\\\\u0B72-\\\\u0B77\\\\u0BF0-\\\\u0BF2\\\\u0C78-\\\\u0C7E\\\\u0D58-\\\\u0D5E\\\\u0D70-\\\\u0D78\\\\u0F2A-\\\\u0F33\\\\u1369-\\\\u137C\\\\u16EE-\\\\u16F0\\\\u17F0-\\\\u17F9\\\\u19DA\\\\u2070-\\\\u2079\\\\u2080-\\\\u2089\\\\u2150-\\\\u2189\\\\u2460-\\\\u249B\\\\u24EA-\\\\u24FF\\\\u2776-\\\\u2793\\\\u2CFD\\\\u3007\\\\u3021-\\\\u3029\\\\u3038-\\\\u303A\\\\u3192-\\\\u3195\\\\u3220-\\\\u3229\\\\u3248-\\\\u324F\\\\u3251-\\\\u325F\\\\u3280-\\\\u3289\\\\u32B1-\\\\u32BF\\\\uA6E6-\\\\uA6EF\\\\uA830-\\\\uA835\\\\U00010107-\\\\U00010133\\\\U00010140-\\\\U00010178\\\\U0001018A-\\\\U0001018B\\\\U000102E1-\\\\U0001034A\\\\U000103D1-\\\\U000103D5\\\\U00010858-\\\\U0001085F\\\\U00010879-\\\\U0001091B\\\\U000109BC-\\\\U000109FF\\\\U00010A40-\\\\U00010A48\\\\U00010A7D-\\\\U00010A7E\\\\U00010A9D-\\\\U00010A9F\\\\U00010AEB-\\\\U00010AEF\\\\U00010B58-\\\\U00010B7F\\\\U00010BA9-\\\\U00010CFF\\\\U00010E60-\\\\U00010E7E\\\\U00010F1D-\\\\U00010F26\\\\U00010F51-\\\\U00010F54\\\\U00010FC5-\\\\U00010FCB\\\\U00011052-\\\\U00011065\\\\U000111E1-\\\\U000111F4\\\\U0001173A-\\\\U0001173B\\\\U000118EA-\\\\U000118F2\\\\U00011C5A-\\\\U00011C6C\\\\U00011FC0-\\\\U00011FD4\\\\U00012400-\\\\U0001246E\\\\U00016B5B-\\\\U00016E96\\\\U0001D2E0-\\\\U0001D2F3\\\\U0001D360-\\\\U0001D378\\\\U0001E8C7-\\\\U0001E8CF\\\\U0001EC71-\\\\U0001ECAB\\\\U0001ECAD-\\\\U0001ECAF\\\\U0001ECB1-\\\\U0001ED2D\\\\U0001ED2F-\\\\U0001ED3D\\\\U0001F100-\\\\U0001F10C]*|^[^[:alnum:]\\\\u00B2-\\\\u00B3\\\\u00B9\\\\u00BC-\\\\u00BE\\\\u09F4-\\\\u09F9\\\\u0B72-\\\\u0B77\\\\u0BF0-\\\\u0BF2\\\\u0C78-\\\\u0C7E\\\\u0D58-\\\\u0D5E\\\\u0D70-\\\\u0D78\\\\u0F2A-\\\\u0F33\\\\u1369-\\\\u137C\\\\u16EE-\\\\u16F0\\\\u17F0-\\\\u17F9\\\\u19DA\\\\u2070-\\\\u2079\\\\u2080-\\\\u2089\\\\u2150-\\\\u2189\\\\u2460-\\\\u249B\\\\u24EA-\\\\u24FF\\\\u2776-\\\\u2793\\\\u2CFD\\\\u3007\\\\u3021-\\\\u3029\\\\u3038-\\\\u303A\\\\u3192-\\\\u3195\\\\u3220-\\\\u3229\\\\u3248-\\\\u324F\\\\u3251-\\\\u325F\\\\u3280-\\\\u3289\\\\u32B1-\\\\u32BF\\\\uA6E6-\\\\uA6EF\\\\uA830-\\\\uA835\\\\U00010107-\\\\U00010133\\\\U00010140-\\\\U00010178\\\\U0001018A-\\\\U0001018B\\\\U000102E1-\\\\U0001034A\\\\U000103D1-\\\\U000103D5\\\\U00010858-\\\\U0001085F\\\\U00010879-\\\\U0001091B\\\\U000109BC-\\\\U000109FF\\\\U00010A40-\\\\U00010A48\\\\U00010A7D-\\\\U00010A7E\\\\U00010A9D-\\\\U00010A9F\\\\U00010AEB-\\\\U00010AEF\\\\U00010B58-\\\\U00010B7F\\\\U00010BA9-\\\\U00010CFF\\\\U00010E60-\\\\U00010E7E\\\\U00010F1D-\\\\U00010F26\\\\U00010F51-\\\\U00010F54\\\\U00010FC5-\\\\U00010FCB\\\\U00011052-\\\\U00011065\\\\U000111E1-\\\\U000111F4\\\\U0001173A-\\\\U0001173B\\\\U000118EA-\\\\U000118F2\\\\U00011C5A-\\\\U00011C6C\\\\U00011FC0-\\\\U00011FD4\\\\U00012400-\\\\U0001246E\\\\U00016B5B-\\\\U00016E96\\\\U0001D2E0-\\\\U0001D2F3\\\\U0001D360-\\\\U0001D378\\\\U0001E8C7-\\\\U0001E8CF\\\\U0001EC71-\\\\U0001ECAB\\\\U0001ECAD-\\\\U0001ECAF\\\\U0001ECB1-\\\\U0001ED2D\\\\U0001ED2F-\\\\U0001ED3D\\\\U0001F100-\\\\U0001F10C]+''''
                ) WITH ORDINALITY AS words(word, position)
                WHERE length(words.word) >= 1
                  AND words.word COLLATE "C" NOT IN (''''the'''', ''''of'''')
                ORDER BY words.position ASC NULLS LAST
              ) AS nbsql_words
            FROM numbered AS source
          ) AS source
        ) AS unnested
      ) AS tokens
      JOIN (
        SELECT * FROM "spam"."lookups" AS lookups WHERE feature = ''''body'''' AND nullif(value, '''''''') IS NOT NULL
      ) AS lookups ON lookups.value = tokens.value
      GROUP BY tokens.nbsql_row
    )
    SELECT
      evidence.*,
      CASE WHEN evidence.nbsql_highest > -CAST(''''infinity'''' AS DOUBLE PRECISION) THEN CASE evidence.nbsql_highest WHEN evidence.nbsql_joint_1 THEN parameters.class_1 WHEN evidence.nbsql_joint_2 THEN parameters.class_2
      END END AS nbsql_prediction,
      CASE WHEN evidence.nbsql_highest > -CAST(''''infinity'''' AS DOUBLE PRECISION) THEN 1 / evidence.nbsql_mass END AS nbsql_probability,
      CASE WHEN evidence.nbsql_highest > -CAST(''''infinity'''' AS DOUBLE PRECISION) THEN evidence.nbsql_highest + ln(evidence.nbsql_mass) ELSE evidence.nbsql_highest END AS nbsql_log_evidence
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
                WHEN number.nbsql_x_4 IS NOT NULL THEN -CAST(''''infinity'''' AS DOUBLE PRECISION)
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
                WHEN number.nbsql_x_4 IS NOT NULL THEN -CAST(''''infinity'''' AS DOUBLE PRECISION)
              END, 0)
              + coalesce(bag_5.class_2, 0)
              + coalesce(number.nbsql_x_6_1 * parameters.weight_6_1_2, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2_2, 0)
              + coalesce(level_1.class_2, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1_2 END, parameters.unseen_1_2, 0) AS nbsql_joint_2
          FROM (
            SELECT
              counted.*,
              CASE
                WHEN counted.nbsql_x_4 > 1000000 THEN (counted.nbsql_x_4 + 0.5) * LN(counted.nbsql_x_4 + 1) - (counted.nbsql_x_4 + 1) + float8 ''''0.9189385332046728'''' + 1 / (12 * (counted.nbsql_x_4 + 1))
                WHEN counted.nbsql_x_4 > 0 THEN (counted.nbsql_x_4 + 8.5) * LN(counted.nbsql_x_4 + 9) - (counted.nbsql_x_4 + 9) + float8 ''''0.9189385332046728''''
                  + (float8 ''''0.08333333333333333'''' - (float8 ''''0.002777777777777778'''' - (float8 ''''0.0007936507936507937'''' - (float8 ''''0.0005952380952380953'''' - float8 ''''0.0008417508417508417'''' / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / (counted.nbsql_x_4 + 9)
                  - LN((counted.nbsql_x_4 + 1) * (counted.nbsql_x_4 + 2) * (counted.nbsql_x_4 + 3) * (counted.nbsql_x_4 + 4) * (counted.nbsql_x_4 + 5) * (counted.nbsql_x_4 + 6) * (counted.nbsql_x_4 + 7) * (counted.nbsql_x_4 + 8))
                ELSE 0
              END AS nbsql_log_factorial_4
            FROM (
              SELECT
                source.*,
                CASE
                  WHEN CAST(source."replied" AS TEXT) IN (''''true'''', ''''1'''') THEN TRUE
                  WHEN CAST(source."replied" AS TEXT) IN (''''false'''', ''''0'''') THEN FALSE
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
              AND classes.class_1 = CAST(''''ham'''' AS character varying) COLLATE "C"
              AND classes.class_2 = CAST(''''spam'''' AS character varying) COLLATE "C"
            THEN TRUE ELSE CAST(left(CAST(classes.class_1 AS TEXT), 0) || ''''the classes of the model have changed since this query was made; make it again'''' AS BOOLEAN) END
          ) AS parameters ON TRUE
          LEFT JOIN "spam"."lookups" AS level_1
            ON level_1.feature = ''''sender''''
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
        AND classes.class_1 = CAST(''''ham'''' AS character varying) COLLATE "C"
        AND classes.class_2 = CAST(''''spam'''' AS character varying) COLLATE "C"
      THEN TRUE ELSE CAST(left(CAST(classes.class_1 AS TEXT), 0) || ''''the classes of the model have changed since this query was made; make it again'''' AS BOOLEAN) END
    ) AS parameters ON TRUE
  ) AS source
  ),
  known AS (
    SELECT CAST(class AS TEXT) COLLATE "C" AS class, class_no
    FROM (
      SELECT
        unnest(ARRAY[class_1, class_2]) AS class,
        unnest(ARRAY[1, 2]) AS class_no
      FROM "spam"."parameters" AS parameters
    ) AS classes
  ),
  judged AS (
    SELECT outcomes.*, known.class_no
    FROM outcomes
    LEFT JOIN known ON known.class = outcomes.class
    WHERE outcomes.class IS NOT NULL AND outcomes.weight > 0 AND NOT outcomes.broken
  ),
  one_against_rest AS (
    SELECT
      class_no,
      posterior,
      CASE WHEN other < 1e-8 AND posterior > 0.5 THEN other END AS rest,
      CASE
        WHEN other < 1e-8 AND posterior > 0.5 THEN NULL
        WHEN other >= 0.5 AND posterior >= 1e-8 THEN 1 - other
        ELSE posterior
      END AS rank,
      weight,
      CASE WHEN class_no = true_no THEN weight ELSE 0 END AS positive
    FROM (
      SELECT
        class_no,
        true_no,
        weight,
        posterior,
        CASE WHEN (SELECT count(*) FROM known) = 2 THEN posteriors[greatest(3 - class_no, 1)] END AS other
      FROM (
        SELECT
          judged.class_no AS true_no,
          judged.weight,
          judged.posteriors,
          generate_subscripts(judged.posteriors, 1) AS class_no, unnest(judged.posteriors) AS posterior
        FROM judged
      ) AS posteriors
    ) AS posteriors
  ),
  ranked AS (
    SELECT
      class_no,
      positive,
      weight - positive AS negative,
      sum(positive) OVER (PARTITION BY class_no ORDER BY rest ASC NULLS LAST, rank DESC NULLS LAST) AS true_positives,
      sum(weight - positive) OVER (PARTITION BY class_no ORDER BY rest ASC NULLS LAST, rank DESC NULLS LAST) AS false_positives
    FROM one_against_rest
  ),
  pairs AS (
    SELECT
      class_no,
      sum(negative * true_positives) AS won,
      sum(positive * false_positives) AS lost,
      max(true_positives) * max(false_positives) AS pairs,
      sum(positive * true_positives / (true_positives + false_positives)) / nullif(max(true_positives), 0) AS average_precision
    FROM ranked
    GROUP BY class_no
  ),
  areas AS (
    SELECT class_no, (won - lost + pairs) / nullif(2 * pairs, 0) AS roc_auc, average_precision FROM pairs
  ),
  confusion AS (
    SELECT class, prediction, sum(weight) AS n FROM judged GROUP BY class, prediction
  ),
  classes AS (
    SELECT class, class_no FROM known
    UNION ALL
    SELECT DISTINCT class, class_no FROM judged WHERE class_no IS NULL
  ),
  counts AS (
    SELECT
      classes.class,
      classes.class_no,
      coalesce(actual.n, 0) AS support,
      coalesce(actual.hits, 0) AS hits,
      coalesce(predicted.n, 0) AS predicted
    FROM classes
    LEFT JOIN (
      SELECT class, sum(n) AS n, sum(CASE WHEN prediction = class THEN n ELSE 0 END) AS hits FROM confusion GROUP BY class
    ) AS actual ON actual.class = classes.class
    LEFT JOIN (
      SELECT prediction, sum(n) AS n FROM confusion GROUP BY prediction
    ) AS predicted ON predicted.prediction = classes.class
  ),
  by_class AS (
    SELECT
      counts.*,
      CASE WHEN predicted > 0 THEN hits / predicted WHEN support > 0 THEN 0 END AS precision,
      CASE WHEN support > 0 THEN hits / support WHEN predicted > 0 THEN 0 END AS recall,
      2 * hits / nullif(support + predicted, 0) AS f1,
      CASE WHEN counts.class_no IS NOT NULL THEN areas.roc_auc WHEN support < weight THEN 0.5 END AS roc_auc,
      CASE WHEN counts.class_no IS NOT NULL THEN areas.average_precision ELSE support / weight END AS average_precision
    FROM (
      SELECT
        *,
        nullif(sum(support) OVER (), 0) AS weight,
        first_value(class) OVER (ORDER BY class DESC NULLS LAST) AS larger
      FROM counts
    ) AS counts
    LEFT JOIN areas ON areas.class_no = counts.class_no
  ),
  averages AS (
    SELECT
      avg(precision) AS precision_macro,
      sum(support * precision)
        / nullif(sum(CASE WHEN precision IS NOT NULL THEN support END), 0) AS precision_weighted,
      avg(recall) AS recall_macro,
      sum(support * recall)
        / nullif(sum(CASE WHEN recall IS NOT NULL THEN support END), 0) AS recall_weighted,
      avg(f1) AS f1_macro,
      sum(support * f1)
        / nullif(sum(CASE WHEN f1 IS NOT NULL THEN support END), 0) AS f1_weighted,
      avg(roc_auc) AS roc_auc_macro,
      sum(support * roc_auc)
        / nullif(sum(CASE WHEN roc_auc IS NOT NULL THEN support END), 0) AS roc_auc_weighted,
      avg(average_precision) AS average_precision_macro,
      sum(support * average_precision)
        / nullif(sum(CASE WHEN average_precision IS NOT NULL THEN support END), 0) AS average_precision_weighted,
      max(CASE WHEN class = larger THEN roc_auc END) AS roc_auc_of_larger,
      max(CASE WHEN class = larger THEN average_precision END) AS average_precision_of_larger,
      avg(CASE WHEN support > 0 THEN recall END) AS balanced_accuracy,
      max(weight) AS weight,
      sum(hits) AS hits,
      max(support) AS largest,
      count(*) AS classes
    FROM by_class
  ),
  read AS (
    SELECT
      sum(CASE WHEN class IS NULL THEN 1 ELSE 0 END) AS left_out,
      sum(CASE WHEN broken AND class IS NOT NULL THEN 1 ELSE 0 END) AS broken_weights
    FROM outcomes
  ),
  row_losses AS (
    SELECT
      *,
      -ln(least(greatest(posterior, float8 ''''2.220446049250313e-16''''), 1 - float8 ''''2.220446049250313e-16'''')) AS log_loss,
      squares - CASE WHEN abs(posterior) > 1e-140 THEN posterior * posterior ELSE 0 END + (1 - posterior) * (1 - posterior) AS brier
    FROM (
      SELECT
        *,
        coalesce(posteriors[class_no], 0) AS posterior,
        (SELECT sum(CASE WHEN abs(p) > 1e-140 THEN p * p ELSE 0 END) FROM unnest(posteriors) AS p) AS squares
      FROM judged
    ) AS posteriors
  ),
  losses AS (
    SELECT
      count(*) AS rows,
      sum(CASE WHEN class_no IS NULL THEN 1 ELSE 0 END) AS unknown,
      sum(CASE WHEN prediction IS NULL THEN 1 ELSE 0 END) AS unexplained,
      sum(weight * log_loss) AS log_loss,
      sum(weight * brier) AS brier
    FROM row_losses
  ),
  gaps AS (
    SELECT abs(sum(CASE WHEN prediction = class THEN weight ELSE 0 END) - sum(weight * probability)) AS gap
    FROM judged
    GROUP BY CAST(least(greatest(floor(probability * 10) + CASE WHEN (floor(probability * 10) + 1) * (CAST(1 AS DOUBLE PRECISION) / 10) < probability THEN 1 WHEN floor(probability * 10) * (CAST(1 AS DOUBLE PRECISION) / 10) < probability THEN 0 ELSE -1 END, 0), 9) AS INTEGER)
  ),
  gap AS (
    SELECT sum(gap) AS gap FROM gaps
  ),
  overall AS (
    SELECT
      losses.rows,
      read.left_out,
      losses.unknown,
      losses.unexplained,
      read.broken_weights,
      averages.hits / averages.weight AS accuracy,
      averages.largest / averages.weight AS majority,
      losses.log_loss / averages.weight AS log_loss,
      losses.brier / averages.weight / CASE WHEN averages.classes > 2 THEN 1 ELSE 2 END AS brier,
      gap.gap / averages.weight AS calibration_error,
      averages.*,
      CASE WHEN averages.classes = 2 THEN averages.roc_auc_of_larger ELSE averages.roc_auc_macro END AS roc_auc,
      CASE WHEN averages.classes = 2 THEN averages.average_precision_of_larger ELSE averages.average_precision_macro END AS average_precision
    FROM averages
    CROSS JOIN read
    CROSS JOIN losses
    CROSS JOIN gap
  )
  SELECT class, metric, value
  FROM (
    SELECT
      0 AS part,
      NULL AS class,
      unnest(ARRAY[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]) AS position,
      unnest(ARRAY[''''rows'''', ''''weight'''', ''''left_out'''', ''''unknown'''', ''''unexplained'''', ''''broken_weights'''', ''''accuracy'''', ''''majority'''', ''''balanced_accuracy'''', ''''log_loss'''', ''''brier'''', ''''calibration_error'''', ''''roc_auc'''', ''''average_precision'''', ''''precision_macro'''', ''''recall_macro'''', ''''f1_macro'''', ''''roc_auc_macro'''', ''''average_precision_macro'''', ''''precision_weighted'''', ''''recall_weighted'''', ''''f1_weighted'''', ''''roc_auc_weighted'''', ''''average_precision_weighted'''']) AS metric,
      unnest(CAST(ARRAY[rows, weight, left_out, unknown, unexplained, broken_weights, accuracy, majority, balanced_accuracy, log_loss, brier, calibration_error, roc_auc, average_precision, precision_macro, recall_macro, f1_macro, roc_auc_macro, average_precision_macro, precision_weighted, recall_weighted, f1_weighted, roc_auc_weighted, average_precision_weighted] AS DOUBLE PRECISION[])) AS value
    FROM overall
    UNION ALL
    SELECT
      1 AS part,
      class,
      unnest(ARRAY[1, 2, 3, 4, 5, 6]) AS position,
      unnest(ARRAY[''''support'''', ''''precision'''', ''''recall'''', ''''f1'''', ''''roc_auc'''', ''''average_precision'''']) AS metric,
      unnest(CAST(ARRAY[support, precision, recall, f1, roc_auc, average_precision] AS DOUBLE PRECISION[])) AS value
    FROM by_class
  ) AS metrics
  ORDER BY part ASC NULLS LAST, class ASC NULLS LAST, position ASC NULLS LAST
) AS answer'', ''"nbsql_source"'', CAST(source AS TEXT));
EXCEPTION WHEN syntax_error_or_access_rule_violation OR data_exception THEN
  RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = ''in '' || source || '': '' || replace(SQLERRM, '' source.'', '' '');
END';
