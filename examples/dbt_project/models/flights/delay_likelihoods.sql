{{ nbsql.feature_likelihoods(ref('delay_statistics')) }}
