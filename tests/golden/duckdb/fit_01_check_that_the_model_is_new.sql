SET VARIABLE nbsql_check = (
  SELECT CASE WHEN count(*) > 0 THEN error('model ''spam'' is there already; replace it with replace=True, or choose another name') END
  FROM duckdb_schemas()
  WHERE lower(schema_name) = lower('spam')
    AND database_name = current_database()
);
