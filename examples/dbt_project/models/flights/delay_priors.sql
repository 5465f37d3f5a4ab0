{{ nbsql.class_priors(ref('delay_statistics')) }}
