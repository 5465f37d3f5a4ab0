ANALYZE "spam"."lookups";
