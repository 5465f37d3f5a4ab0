CREATE OR REPLACE MACRO "spam"."likelihood_ratios"(nbsql_class, nbsql_other, database := '') AS TABLE
WITH nbsql_likelihoods AS NOT MATERIALIZED (
  FROM query(concat('FROM query(concat(''FROM '', ', CASE
    WHEN database <> '' THEN '''' || replace(database, '''', '''''') || '.'''
    WHEN current_setting('duckdb_api') = 'wasm' THEN ''''''
    ELSE 'coalesce(CASE
  WHEN len(regexp_extract_all(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|[ .])\Qspam\E[.]class_scores(?:,| or |$)'')) > 1 THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
  WHEN regexp_matches(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'') THEN CASE
    WHEN json_serialize_plan(''FROM "spam".spec'') ->> ''error'' = ''false'' THEN error(''several databases have a model spam: say which, database := ''''its name'''''')
    ELSE ''"'' || replace(regexp_extract(json_serialize_plan(''FROM class_scores()'') ->> ''candidates'', ''(?:^|, or |, | or )([^ ,]+)[.]\Qspam\E[.]class_scores(?:,| or |$)'', 1), ''"'', ''""'') || ''".''
  END
END, '''')'
  END, ', ''', replace('"spam"."likelihoods"'
  || ' WHERE ' || CASE WHEN coalesce(database, '') = '' AND current_setting('duckdb_api') = 'wasm' THEN '(
  SELECT
    CASE
      WHEN count(*) <= 1 OR list_contains(current_schemas(FALSE), ''spam'') THEN TRUE
      ELSE error(''several databases have a model spam: say which, database := ''''its name'''''')
    END
  FROM duckdb_tables()
  WHERE schema_name = ''spam'' AND table_name = ''statistics''
)' || ' AND ' ELSE '' END || 'TRUE', '''', ''''''), '''))'))
)
SELECT
  feature,
  value,
  likelihood,
  other_likelihood,
  CASE
    WHEN other_likelihood > 0 THEN likelihood / other_likelihood
    WHEN likelihood > 0 THEN CAST('infinity' AS DOUBLE)
  END AS ratio,
  CASE WHEN likelihood > 0 OR other_likelihood > 0 THEN log_likelihood - other_log_likelihood END AS log_ratio
FROM (
  SELECT
    likelihoods.feature,
    likelihoods.value,
    max(max(CASE WHEN likelihoods.class = nbsql_class THEN 1 ELSE 0 END)) OVER () AS has_1,
    max(max(CASE WHEN likelihoods.class = nbsql_other THEN 1 ELSE 0 END)) OVER () AS has_2,
    max(CASE WHEN likelihoods.class = nbsql_class THEN likelihoods.likelihood END) AS likelihood,
    max(CASE WHEN likelihoods.class = nbsql_other THEN likelihoods.likelihood END) AS other_likelihood,
    max(CASE WHEN likelihoods.class = nbsql_class THEN likelihoods.log_likelihood END) AS log_likelihood,
    max(CASE WHEN likelihoods.class = nbsql_other THEN likelihoods.log_likelihood END) AS other_log_likelihood
  FROM nbsql_likelihoods AS likelihoods
  GROUP BY likelihoods.feature, likelihoods.value
) AS ratios
WHERE CASE WHEN has_1 + has_2 = 2 THEN likelihood IS NOT NULL AND other_likelihood IS NOT NULL ELSE error('the model does not have both classes; its view priors lists those that it has') END
ORDER BY abs(CASE WHEN likelihood > 0 OR other_likelihood > 0 THEN log_likelihood - other_log_likelihood END) DESC NULLS LAST, feature ASC NULLS LAST, value ASC NULLS LAST;
