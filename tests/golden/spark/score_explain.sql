WITH numbered AS (
  SELECT source.* FROM (
  SELECT row_number() OVER (ORDER BY nbsql_read ASC NULLS LAST) AS nbsql_row, source.*
  FROM (
    SELECT monotonically_increasing_id() AS nbsql_read, source.* FROM `inbox` AS source
  ) AS source
) AS source
),
parameters AS (
  SELECT inline(array(
    struct(
      1 AS class_no,
      class_1 AS class,
      log_prior_1 AS log_prior,
      unseen_1_1 AS unseen_1,
      missing_1_1 AS missing_1,
      true_2_1 AS true_2,
      false_2_1 AS false_2,
      mean_3_1 AS mean_3,
      peak_3_1 AS peak_3,
      precision_3_1 AS precision_3,
      rate_4_1 AS rate_4,
      log_rate_4_1 AS log_rate_4,
      weight_6_1_1 AS weight_6_1,
      weight_6_2_1 AS weight_6_2
    ),
    struct(
      2 AS class_no,
      class_2 AS class,
      log_prior_2 AS log_prior,
      unseen_1_2 AS unseen_1,
      missing_1_2 AS missing_1,
      true_2_2 AS true_2,
      false_2_2 AS false_2,
      mean_3_2 AS mean_3,
      peak_3_2 AS peak_3,
      precision_3_2 AS precision_3,
      rate_4_2 AS rate_4,
      log_rate_4_2 AS log_rate_4,
      weight_6_1_2 AS weight_6_1,
      weight_6_2_2 AS weight_6_2
    )
  ))
  FROM (
    SELECT classes.*
    FROM `spam`.`parameters` AS classes
    WHERE CASE WHEN classes.class_count = 2
      AND classes.class_1 = CAST('ham' AS string)
      AND classes.class_2 = CAST('spam' AS string)
    THEN TRUE ELSE raise_error('the classes of the model have changed since this query was made; make it again') END
  ) AS parameters
),
contributions AS (
  SELECT /*+ BROADCAST(parameters) */
    source.nbsql_row,
    parameters.class_no,
    0 AS feature_no,
    CAST(NULL AS STRING) AS feature,
    CAST(NULL AS STRING) AS value,
    parameters.log_prior AS contribution
  FROM numbered AS source
  JOIN parameters ON TRUE
  UNION ALL
  SELECT /*+ BROADCAST(parameters, level_1) */
    number.nbsql_row,
    parameters.class_no,
    inline(arrays_zip(
      array(1, 2, 3, 4, 6, 6),
      array('sender', 'replied', 'length', 'links', 'parts', 'parts'),
      array(
      CAST(number.`sender` AS STRING),
      CAST(number.`replied` AS STRING),
      CAST(number.`length` AS STRING),
      CAST(number.`links` AS STRING),
      'plain',
      'html'
    ),
      array(
      coalesce(try_element_at(level_1.scores, parameters.class_no), CASE WHEN number.nbsql_x_1 IS NULL THEN parameters.missing_1 END, parameters.unseen_1, 0),
      CASE WHEN number.nbsql_x_2 THEN parameters.true_2 WHEN NOT number.nbsql_x_2 THEN parameters.false_2 ELSE 0 END,
      coalesce(parameters.peak_3 - parameters.precision_3 * (number.nbsql_x_3 - parameters.mean_3) * (number.nbsql_x_3 - parameters.mean_3), 0),
      coalesce(CASE
        WHEN number.nbsql_x_4 > 0 THEN number.nbsql_x_4 * parameters.log_rate_4 - parameters.rate_4 - number.nbsql_log_factorial_4
        WHEN number.nbsql_x_4 = 0 THEN -parameters.rate_4
      END, 0),
      (coalesce(number.nbsql_x_6_1 * parameters.weight_6_1, 0)),
      (coalesce(number.nbsql_x_6_2 * parameters.weight_6_2, 0))
    )
    )) AS (feature_no, feature, value, contribution)
  FROM (
    SELECT
      counted.*,
      CASE
        WHEN counted.nbsql_x_4 > 1000000 THEN (counted.nbsql_x_4 + 0.5) * LN(counted.nbsql_x_4 + 1) - (counted.nbsql_x_4 + 1) + 0.9189385332046728D + 1 / (12 * (counted.nbsql_x_4 + 1))
        WHEN counted.nbsql_x_4 > 0 THEN (counted.nbsql_x_4 + 8.5) * LN(counted.nbsql_x_4 + 9) - (counted.nbsql_x_4 + 9) + 0.9189385332046728D
          + (0.08333333333333333D - (0.002777777777777778D - (0.0007936507936507937D - (0.0005952380952380953D - 0.0008417508417508417D / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / ((counted.nbsql_x_4 + 9) * (counted.nbsql_x_4 + 9))) / (counted.nbsql_x_4 + 9)
          - LN((counted.nbsql_x_4 + 1) * (counted.nbsql_x_4 + 2) * (counted.nbsql_x_4 + 3) * (counted.nbsql_x_4 + 4) * (counted.nbsql_x_4 + 5) * (counted.nbsql_x_4 + 6) * (counted.nbsql_x_4 + 7) * (counted.nbsql_x_4 + 8))
        ELSE 0
      END AS nbsql_log_factorial_4
    FROM (
      SELECT
        source.*,
        source.`sender` AS nbsql_x_1,
        CASE WHEN source.`replied` IS NOT NULL THEN CASE CAST(source.`replied` AS DOUBLE) WHEN 1 THEN true WHEN 0 THEN false END END AS nbsql_x_2,
        CASE WHEN abs(CAST(source.`length` AS DOUBLE)) <= 1e150 THEN CAST(source.`length` AS DOUBLE) END AS nbsql_x_3,
        CASE WHEN abs(CAST(source.`links` AS DOUBLE)) <= 1e150 THEN CAST(source.`links` AS DOUBLE) END AS nbsql_x_4,
        CASE WHEN abs(CAST(source.`plain` AS DOUBLE)) <= 1e150 THEN CAST(source.`plain` AS DOUBLE) END AS nbsql_x_6_1,
        CASE WHEN abs(CAST(source.`html` AS DOUBLE)) <= 1e150 THEN CAST(source.`html` AS DOUBLE) END AS nbsql_x_6_2
      FROM numbered AS source
    ) AS counted
  ) AS number
  JOIN parameters ON TRUE
  LEFT JOIN (
    SELECT
      found.value,
      array(found.class_1, found.class_2) AS scores
    FROM `spam`.`lookups` AS found
    WHERE feature = 'sender'
  ) AS level_1
    ON level_1.value = CAST(number.`sender` AS STRING)
  UNION ALL
  SELECT
    tokens.nbsql_row,
    parameters.class_no,
    5 AS feature_no,
    'body' AS feature,
    tokens.value,
    tokens.times * try_element_at(lookups.scores, parameters.class_no) AS contribution
  FROM (
    SELECT nbsql_row, value, sum(times) AS times
    FROM (
      SELECT *
      FROM (
        SELECT
          source.nbsql_row,
          explode(concat(source.nbsql_words, CASE WHEN size(source.nbsql_words) >= 2
        THEN transform(sequence(0, size(source.nbsql_words) - 2), i -> source.nbsql_words[i] || ' ' || source.nbsql_words[i + 1])
        ELSE CAST(array() AS ARRAY<STRING>)
      END)) AS value, 1 AS times
        FROM (
          SELECT
            source.*,
            filter(
              split(regexp_replace(CASE
              WHEN lower(CAST(source.`body` AS STRING)) RLIKE r'[^\x00-\x7F]' THEN reflect('com.ibm.icu.text.Normalizer', 'compose', lower(CAST(source.`body` AS STRING)), FALSE)
              ELSE lower(CAST(source.`body` AS STRING))
            END, r'[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' '), ' '),
              word -> word <> '' AND word NOT IN ('the', 'of')
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
      array(found.class_1, found.class_2) AS scores
    FROM (
      SELECT * FROM `spam`.`lookups` AS lookups WHERE feature = 'body' AND nullif(value, '') IS NOT NULL
    ) AS found
  ) AS lookups ON lookups.value = tokens.value
)
SELECT /*+ BROADCAST(parameters) */
  contributions.nbsql_row AS row_id,
  source.`id`,
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
