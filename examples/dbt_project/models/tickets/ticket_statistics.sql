{# Words, a count and a yes or no. Fitted anew at every run: a table. #}
{{ nbsql.statistics(ref('tickets')) }}
