INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS VARCHAR) COLLATE "C" AS slice,
  class,
  CAST('body' AS VARCHAR) COLLATE "C" AS feature,
  CAST(value AS VARCHAR) COLLATE "C" AS value,
  CAST(sum(weight * times) AS DOUBLE) AS n,
  CAST(NULL AS DOUBLE) AS mean,
  CAST(NULL AS DOUBLE) AS m2,
  '1' COLLATE "C" AS batch
FROM (
SELECT *
  FROM (
    SELECT
      CAST(source."label" AS VARCHAR) COLLATE "C" AS class, CAST(source."trust" AS DOUBLE) AS weight,
      unnest(list_concat(source.nbsql_words, list_transform(range(1, len(source.nbsql_words)), lambda i: source.nbsql_words[i] || ' ' || source.nbsql_words[i + 1]))) COLLATE "C" AS value, 1 AS times
    FROM (
      SELECT
        source.*,
        list_filter(
          string_split(regexp_replace(nfc_normalize(lower(CASE WHEN contains(CAST(source."body" AS VARCHAR) COLLATE "C", 'Σ') THEN regexp_replace(CAST(source."body" AS VARCHAR) COLLATE "C", '(\p{L}\p{M}*)Σ([''’.:·\p{M}]*(?:[^''’.:·\p{M}\p{L}]|$))', '\1ς\2', 'g') ELSE CAST(source."body" AS VARCHAR) COLLATE "C" END)), '[^\p{L}\p{M}\p{N} ][^\p{L}\p{N} ]*|(^| )\p{M}+', ' ', 'g'), ' '),
          lambda word: word <> '' AND NOT list_contains(['the', 'of'], word)
        ) AS nbsql_words
      FROM "main"."inbox" AS source
    ) AS source
    WHERE CAST(source."label" AS VARCHAR) COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE) > 0
  ) AS unnested
  WHERE value <> ''
) AS tokens
GROUP BY class, value;
