INSERT INTO `spam`.`statistics`
SELECT
  CAST(NULL AS STRING) AS slice,
  class,
  CAST('body' AS STRING) AS feature,
  CAST(value AS STRING) AS value,
  CAST(sum(weight * times) AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' AS batch
FROM (
SELECT *
  FROM (
    SELECT
      source.`label` AS class, CAST(source.`trust` AS DOUBLE) AS weight,
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
      FROM `inbox` AS source
    ) AS source
    WHERE source.`label` IS NOT NULL AND CAST(source.`trust` AS DOUBLE) > 0
  ) AS unnested
  WHERE value <> ''
) AS tokens
GROUP BY class, value;
