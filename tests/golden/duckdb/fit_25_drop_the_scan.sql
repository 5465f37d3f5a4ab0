DROP TABLE IF EXISTS "temp"."main"."nbsql scan";
