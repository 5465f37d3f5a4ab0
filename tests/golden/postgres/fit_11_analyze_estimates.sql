ANALYZE "spam"."estimates";
