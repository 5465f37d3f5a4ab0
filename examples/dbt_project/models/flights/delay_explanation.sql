{{ nbsql.explanation(ref('delay_statistics'), ref('departures'), where='month = 6 AND day = 28') }}
