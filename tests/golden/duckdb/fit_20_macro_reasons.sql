CREATE OR REPLACE MACRO "spam"."reasons"(source, database := '') AS TABLE
FROM query(concat('FROM query(replace(''', replace(
  'WITH ' || 'nbsql_explained AS NOT MATERIALIZED (FROM ' || chr(1) || '"spam"."explain"' || '(''' || replace(source, '''', '''''') || '''' || coalesce(', database := ''' || replace(database, '''', '''''') || '''', '') || ')' || '), ' || 'nbsql_source AS NOT MATERIALIZED (FROM query_table(''' || replace(source, '''', '''''') || ''') AS source WHERE '
  || CASE WHEN coalesce(database, '') = '' AND current_setting('duckdb_api') = 'wasm' THEN '(
  SELECT
    CASE
      WHEN count(*) <= 1 OR list_contains(current_schemas(FALSE), ''spam'') THEN TRUE
      ELSE error(''several databases have a model spam: say which, database := ''''its name'''''')
    END
  FROM duckdb_tables()
  WHERE schema_name = ''spam'' AND table_name = ''statistics''
)' || ' AND ' ELSE '' END || 'TRUE'
  || ') FROM ('
  || 'WITH explained AS MATERIALIZED (
  SELECT * FROM nbsql_explained
),
joint AS (
  SELECT row_id, class, "id", sum(contribution) AS joint FROM explained GROUP BY row_id, class, "id"
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY row_id ORDER BY joint DESC NULLS LAST, class ASC NULLS LAST) AS place FROM joint
),
pairs AS (
  SELECT best.*, following.class AS following
  FROM ranked AS best
  JOIN ranked AS following ON following.row_id = best.row_id AND following.place = 2
  WHERE best.place = 1 AND best.joint > -CAST(''infinity'' AS DOUBLE)
),
terms AS (
  SELECT
    explained.row_id,
    explained.feature,
    explained.value,
    max(CASE WHEN explained.class = pairs.class THEN explained.contribution END)
      - max(CASE WHEN explained.class = pairs.following THEN explained.contribution END) AS log_ratio
  FROM explained
  JOIN pairs ON pairs.row_id = explained.row_id AND explained.class IN (pairs.class, pairs.following)
  GROUP BY explained.row_id, explained.feature, explained.value
),
lines AS (
  SELECT row_id, CASE WHEN feature IS NULL THEN 1 ELSE 2 END AS place, coalesce(feature, ''prior'') AS feature, value, log_ratio FROM terms
  UNION ALL
  SELECT row_id, 3, ''total'', NULL, sum(log_ratio) FROM terms GROUP BY row_id
)
SELECT
  pairs.row_id, pairs."id",
  lines.feature,
  lines.value,
  exp(abs(lines.log_ratio)) AS ratio,
  CASE WHEN lines.log_ratio > 0 THEN pairs.class WHEN lines.log_ratio < 0 THEN pairs.following END AS class,
  CASE WHEN lines.log_ratio > 0 THEN pairs.following WHEN lines.log_ratio < 0 THEN pairs.class END AS other
FROM lines
JOIN pairs ON pairs.row_id = lines.row_id
ORDER BY
  pairs.row_id ASC NULLS LAST,
  lines.place ASC NULLS LAST,
  abs(lines.log_ratio) DESC NULLS LAST,
  lines.feature ASC NULLS LAST,
  lines.value ASC NULLS LAST'
  || ')', '''', ''''''), ''', chr(1), ', CASE
    WHEN database <> '' THEN '''' || replace(database, '''', '''''') || '.'''
    WHEN current_setting('duckdb_api') = 'wasm' THEN ''''''
    ELSE 'coalesce(CASE
  WHEN len(regexp_extract_all(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|[ .])\Qspam\E[.]class_scores(?:,| or |$)'')) > 1 THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
  WHEN regexp_matches(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'') THEN CASE
    WHEN json_serialize_plan(''FROM "spam".spec'') ->> ''error'' = ''false'' THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
    ELSE ''"'' || replace(regexp_extract(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'', 1), ''"'', ''""'') || ''".''
  END
END, '''')'
  END, '))'));
