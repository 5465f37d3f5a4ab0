{{ nbsql.feature_likelihoods(ref('ticket_statistics')) }}
