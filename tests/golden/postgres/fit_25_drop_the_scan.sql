DROP TABLE IF EXISTS "pg_temp"."nbsql scan";
