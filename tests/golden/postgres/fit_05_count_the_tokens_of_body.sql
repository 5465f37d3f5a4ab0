INSERT INTO "spam"."statistics"
SELECT
  CAST(NULL AS TEXT) COLLATE "C" AS slice,
  class,
  CAST('body' AS TEXT) COLLATE "C" AS feature,
  CAST(value AS TEXT) COLLATE "C" AS value,
  CAST(sum(weight * times) AS DOUBLE PRECISION) AS n,
  CAST(NULL AS DOUBLE PRECISION) AS mean,
  CAST(NULL AS DOUBLE PRECISION) AS m2,
  '1' COLLATE "C" AS batch
FROM (
SELECT *
  FROM (
    SELECT
      CAST(source."label" AS TEXT) COLLATE "C" AS class, CAST(source."trust" AS DOUBLE PRECISION) AS weight,
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
      FROM "public"."inbox" AS source
    ) AS source
    WHERE CAST(source."label" AS TEXT) COLLATE "C" IS NOT NULL AND CAST(source."trust" AS DOUBLE PRECISION) > 0
  ) AS unnested
  WHERE value <> ''
) AS tokens
GROUP BY class, value;
