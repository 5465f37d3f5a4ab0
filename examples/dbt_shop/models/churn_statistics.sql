{{ nbsql.statistics(ref('customers'), where='customer_id <= 80') }}
