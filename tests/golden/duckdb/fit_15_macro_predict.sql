CREATE OR REPLACE MACRO "spam"."predict"(source, database := '') AS TABLE
FROM query(concat('FROM query(CASE WHEN ', 'CASE
  WHEN upper(CAST(current_setting(''preserve_identifier_case'') AS VARCHAR)) = ''UPPERCASE''
    THEN error(''this session writes names in capitals: RESET preserve_identifier_case'')
  WHEN list_transform([0], lambda x, place: place)[1] = 0
    THEN error(''this session counts from 0 in lists: RESET dialect_compatibility_mode'')
  ELSE TRUE
END', ' THEN replace(''', replace(concat(
  'WITH ', 'nbsql_scores AS NOT MATERIALIZED (FROM ', chr(1), concat('"spam"."class_scores"', '(''', replace(source, '''', ''''''), '''', ', database := ''' || replace(database, '''', '''''') || '''', ')'), ' AS source WHERE ', 'TRUE', '), ', 'nbsql_source AS NOT MATERIALIZED (FROM query_table(''', replace(source, '''', ''''''), ''') AS source WHERE ',
  CASE WHEN coalesce(database, '') = '' AND current_setting('duckdb_api') = 'wasm' THEN '(
  SELECT
    CASE
      WHEN count(*) <= 1 OR list_contains(current_schemas(FALSE), ''spam'') THEN TRUE
      ELSE error(''several databases have a model spam: say which, database := ''''its name'''''')
    END
  FROM duckdb_tables()
  WHERE schema_name = ''spam'' AND table_name = ''statistics''
)' || ' AND ' ELSE '' END, 'TRUE',
  ') FROM (',
  'SELECT
  source.* NOT LIKE ''nbsql\_%'' ESCAPE ''\'',
  coalesce(prediction, decode(encode(source.nbsql_prediction))) AS prediction,
  coalesce(probability, source.nbsql_probability) AS probability
FROM nbsql_scores AS source
CROSS JOIN (
  SELECT NULL AS prediction, NULL AS probability, NULL AS log_evidence
) AS added
ORDER BY nbsql_row ASC NULLS LAST',
  ')'
), '''', ''''''), ''', chr(1), ', CASE
    WHEN database <> '' THEN '''' || replace(database, '''', '''''') || '.'''
    WHEN current_setting('duckdb_api') = 'wasm' THEN ''''''
    ELSE 'CASE coalesce(len(regexp_extract_all(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|[ .])\Qspam\E[.]class_scores(?:,| or |$)'')), 0)
  WHEN 0 THEN ''''
  WHEN 1 THEN CASE
    WHEN NOT regexp_matches(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^.,]+|[^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'') THEN ''"'' || replace(current_database(), ''"'', ''""'') || ''".''
    WHEN json_serialize_plan(''FROM "spam".spec'') ->> ''error'' = ''false'' THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
    ELSE ''"'' || replace(regexp_extract(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^.,]+|[^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'', 1), ''"'', ''""'') || ''".''
  END
  ELSE error(''several databases have a model spam: say which, database := ''''its name'''''')
END'
  END, ') END)'));
