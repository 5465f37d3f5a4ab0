{{ nbsql.probabilities(ref('team_statistics'), ref('messages'), columns=['message_id', 'team'], where='message_id > 60') }}
