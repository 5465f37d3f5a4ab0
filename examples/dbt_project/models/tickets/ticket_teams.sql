{{ nbsql.predictions(ref('ticket_statistics'), ref('tickets'), where='team IS NULL') }}
