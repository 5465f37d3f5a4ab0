{{ nbsql.probabilities(ref('delay_statistics'), ref('departures'), where='day > 20') }}
