{# Incremental: a month that is new is added, and the newest one counted again. #}
{{ nbsql.statistics(ref('departures'), where='day <= 20') }}
