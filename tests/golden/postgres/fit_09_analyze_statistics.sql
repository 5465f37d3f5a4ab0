ANALYZE "spam"."statistics";
