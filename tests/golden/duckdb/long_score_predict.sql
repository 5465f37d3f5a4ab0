SELECT
  source.* NOT LIKE 'nbsql\_%' ESCAPE '\',
  coalesce(prediction, decode(encode(source.nbsql_prediction))) AS prediction,
  coalesce(probability, source.nbsql_probability) AS probability
FROM (
  WITH numbered AS MATERIALIZED (
    SELECT row_number() OVER () AS nbsql_row, source.* FROM "main"."inbox" AS source
  ),
  terms AS (
    SELECT
      number.nbsql_row,
      number.class_no,
      parameters.log_prior
        + (CASE WHEN number.nbsql_x_2 THEN parameters.true_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2 ELSE 0 END + coalesce(parameters.peak_3 - parameters.precision_3 * (number.nbsql_x_3 - parameters.mean_3) * (number.nbsql_x_3 - parameters.mean_3), 0) + coalesce(CASE
      WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4 - parameters.rate_4 - lgamma(number.nbsql_x_4 + 1)
      WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4
    END, 0) + (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1, 0) + coalesce(number.nbsql_x_6_2 * parameters.weight_6_2, 0)))
        + coalesce(number.level_1, CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1 END, parameters.unseen_1, 0) AS term
    FROM (
      SELECT
        CASE WHEN source."replied" IS NOT NULL THEN CASE CAST(source."replied" AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END END AS nbsql_x_2,
        CASE WHEN abs(CAST(source."length" AS DOUBLE)) <= 1e150 THEN CAST(source."length" AS DOUBLE) END AS nbsql_x_3,
        CASE WHEN abs(CAST(source."links" AS DOUBLE)) <= 1e150 THEN CAST(source."links" AS DOUBLE) END AS nbsql_x_4,
        CASE WHEN abs(CAST(source."plain" AS DOUBLE)) <= 1e150 THEN CAST(source."plain" AS DOUBLE) END AS nbsql_x_6_1,
        CASE WHEN abs(CAST(source."html" AS DOUBLE)) <= 1e150 THEN CAST(source."html" AS DOUBLE) END AS nbsql_x_6_2,
        source."sender" AS nbsql_x_1,
        unnest(level_1.scores) AS level_1,
        unnest(classes.class_nos) AS class_no,
        source.nbsql_row
      FROM numbered AS source
      JOIN (
        SELECT list(class_no ORDER BY class_no ASC NULLS LAST) AS class_nos FROM "spam"."parameters" AS parameters
      ) AS classes ON TRUE
      LEFT JOIN "spam"."lookups" AS level_1
        ON level_1.feature = 'sender'
        AND level_1.value = CAST(source."sender" AS VARCHAR) COLLATE "C"
    ) AS number
    JOIN "spam"."parameters" AS parameters
      ON parameters.class_no = number.class_no
    UNION ALL
    SELECT nbsql_row, class_no, sum(term) AS term
    FROM (
      SELECT
        tokens.nbsql_row,
        parameters.class_no,
        lookups.scores[parameters.class_no] AS term
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
      JOIN "spam"."parameters" AS parameters ON TRUE
    ) AS scores
    GROUP BY nbsql_row, class_no
  ),
  joint AS (
    SELECT nbsql_row, class_no, sum(term) AS joint FROM terms GROUP BY nbsql_row, class_no
  ),
  best AS (
    SELECT nbsql_row, max(joint) AS highest, list(joint ORDER BY class_no ASC NULLS LAST) AS joints
    FROM joint
    GROUP BY nbsql_row
  ),
  evidence AS (
    SELECT
      *,
      list_position(joints, highest) AS class_no,
      list_sum(list_transform(joints, lambda joint: exp(joint - highest))) AS mass
    FROM best
  )
  SELECT
    source.*,
    evidence.joints AS nbsql_joints,
    CASE WHEN evidence.highest > -CAST('infinity' AS DOUBLE) THEN parameters.class END AS nbsql_prediction,
    CASE WHEN evidence.highest > -CAST('infinity' AS DOUBLE) THEN 1 / evidence.mass END AS nbsql_probability,
    evidence.highest AS nbsql_highest,
    evidence.mass AS nbsql_relative_evidence,
    CASE WHEN evidence.highest > -CAST('infinity' AS DOUBLE) THEN evidence.highest + ln(evidence.mass) ELSE evidence.highest END AS nbsql_log_evidence
  FROM numbered AS source
  JOIN evidence ON evidence.nbsql_row = source.nbsql_row
  JOIN "spam"."parameters" AS parameters
    ON parameters.class_no = evidence.class_no
) AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY nbsql_row ASC NULLS LAST
