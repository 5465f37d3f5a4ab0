WITH numbered AS MATERIALIZED (
  SELECT row_number() OVER () AS nbsql_row, source.* FROM "main"."inbox" AS source
),
parameters AS MATERIALIZED (
  SELECT
    unnest([1, 2]) AS class_no,
    unnest([class_1, class_2]) AS class,
    unnest([log_prior_1, log_prior_2]) AS log_prior,
    unnest([unseen_1_1, unseen_1_2]) AS unseen_1,
    unnest([missing_1_1, missing_1_2]) AS missing_1,
    unnest([true_2_1, true_2_2]) AS true_2,
    unnest([false_2_1, false_2_2]) AS false_2,
    unnest([mean_3_1, mean_3_2]) AS mean_3,
    unnest([peak_3_1, peak_3_2]) AS peak_3,
    unnest([precision_3_1, precision_3_2]) AS precision_3,
    unnest([rate_4_1, rate_4_2]) AS rate_4,
    unnest([log_rate_4_1, log_rate_4_2]) AS log_rate_4,
    unnest([weight_6_1_1, weight_6_1_2]) AS weight_6_1,
    unnest([weight_6_2_1, weight_6_2_2]) AS weight_6_2
  FROM (
    SELECT classes.*
    FROM "spam"."parameters" AS classes
    WHERE CASE WHEN classes.class_count = 2
      AND classes.class_1 = CAST('ham' AS VARCHAR) COLLATE "C"
      AND classes.class_2 = CAST('spam' AS VARCHAR) COLLATE "C"
    THEN TRUE ELSE error('the classes of the model have changed since this query was made; make it again') END
  ) AS parameters
),
contributions AS (
  SELECT
    source.nbsql_row,
    parameters.class_no,
    0 AS feature_no,
    CAST(NULL AS VARCHAR) COLLATE "C" AS feature,
    CAST(NULL AS VARCHAR) COLLATE "C" AS value,
    parameters.log_prior AS contribution
  FROM numbered AS source
  JOIN parameters ON TRUE
  UNION ALL
  SELECT
    number.nbsql_row,
    parameters.class_no,
    unnest([1, 2, 3, 4, 6, 6]) AS feature_no,
    unnest(['sender', 'replied', 'length', 'links', 'parts', 'parts']) AS feature,
    unnest([
      CAST(number."sender" AS VARCHAR) COLLATE "C",
      CAST(number."replied" AS VARCHAR) COLLATE "C",
      CAST(number."length" AS VARCHAR) COLLATE "C",
      CAST(number."links" AS VARCHAR) COLLATE "C",
      'plain',
      'html'
    ]) AS value,
    unnest([
      coalesce(level_1.scores[parameters.class_no], CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1 END, parameters.unseen_1, 0),
      CASE WHEN number.nbsql_x_2 THEN parameters.true_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2 ELSE 0 END,
      coalesce(parameters.peak_3 - parameters.precision_3 * (number.nbsql_x_3 - parameters.mean_3) * (number.nbsql_x_3 - parameters.mean_3), 0),
      coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4 - parameters.rate_4 - lgamma(number.nbsql_x_4 + 1)
        WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4
      END, 0),
      (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1, 0)),
      (coalesce(number.nbsql_x_6_2 * parameters.weight_6_2, 0))
    ]) AS contribution
  FROM (
    SELECT
      source.*,
      source."sender" AS nbsql_x_1,
      CASE WHEN source."replied" IS NOT NULL THEN CASE CAST(source."replied" AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END END AS nbsql_x_2,
      CASE WHEN abs(CAST(source."length" AS DOUBLE)) <= 1e150 THEN CAST(source."length" AS DOUBLE) END AS nbsql_x_3,
      CASE WHEN abs(CAST(source."links" AS DOUBLE)) <= 1e150 THEN CAST(source."links" AS DOUBLE) END AS nbsql_x_4,
      CASE WHEN abs(CAST(source."plain" AS DOUBLE)) <= 1e150 THEN CAST(source."plain" AS DOUBLE) END AS nbsql_x_6_1,
      CASE WHEN abs(CAST(source."html" AS DOUBLE)) <= 1e150 THEN CAST(source."html" AS DOUBLE) END AS nbsql_x_6_2
    FROM numbered AS source
  ) AS number
  JOIN parameters ON TRUE
  LEFT JOIN (
    SELECT
      found.value,
      [found.class_1, found.class_2] AS scores
    FROM "spam"."lookups" AS found
    WHERE feature = 'sender'
  ) AS level_1
    ON level_1.value = CAST(number."sender" AS VARCHAR) COLLATE "C"
  UNION ALL
  SELECT
    tokens.nbsql_row,
    parameters.class_no,
    5 AS feature_no,
    'body' AS feature,
    tokens.value,
    tokens.times * lookups.scores[parameters.class_no] AS contribution
  FROM (
    SELECT nbsql_row, value, sum(times) AS times
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
      WHERE value <> ''
    ) AS occurrences
    GROUP BY nbsql_row, value
  ) AS tokens
  JOIN parameters ON TRUE
  JOIN (
    SELECT
      found.value,
      [found.class_1, found.class_2] AS scores
    FROM (
      SELECT * FROM "spam"."lookups" AS lookups WHERE feature = 'body' AND nullif(value, '') IS NOT NULL
    ) AS found
  ) AS lookups ON lookups.value = tokens.value
)
SELECT
  contributions.nbsql_row AS row_id,
  source."id",
  parameters.class,
  contributions.feature,
  contributions.value,
  contributions.contribution
FROM contributions
JOIN parameters ON parameters.class_no = contributions.class_no
JOIN numbered AS source ON source.nbsql_row = contributions.nbsql_row AND source.nbsql_row IS NOT NULL
ORDER BY
  contributions.nbsql_row ASC NULLS LAST,
  contributions.class_no ASC NULLS LAST,
  contributions.feature_no ASC NULLS LAST,
  contributions.value ASC NULLS LAST
