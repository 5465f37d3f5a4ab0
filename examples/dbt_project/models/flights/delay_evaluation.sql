{{ nbsql.evaluation(ref('delay_statistics'), ref('departures'), where='day > 20') }}
