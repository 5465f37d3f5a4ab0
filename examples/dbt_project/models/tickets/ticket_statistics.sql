{# Words, a count and a boolean. A table, so that every run fits it again. #}
{{ nbsql.statistics(ref('tickets')) }}
