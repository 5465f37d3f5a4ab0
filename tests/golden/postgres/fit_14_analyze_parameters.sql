ANALYZE "spam"."parameters";
