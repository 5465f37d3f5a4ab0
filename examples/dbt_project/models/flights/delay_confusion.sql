{{ nbsql.evaluation(ref('delay_statistics'), ref('departures'), table='confusion', where='day > 20') }}
