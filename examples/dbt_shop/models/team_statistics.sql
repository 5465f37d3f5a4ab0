{{ nbsql.statistics(ref('messages'), where='message_id <= 60') }}
