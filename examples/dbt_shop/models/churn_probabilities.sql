{{ nbsql.probabilities(ref('churn_statistics'), ref('customers'), columns=['customer_id', 'churned'], where='customer_id > 80') }}
