{# Incremental: each run adds new months and counts the newest month again. #}
{{ nbsql.statistics(ref('departures'), where='day <= 20') }}
