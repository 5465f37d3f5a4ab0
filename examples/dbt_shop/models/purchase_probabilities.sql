{{ nbsql.probabilities(ref('purchase_statistics'), ref('visits'), columns=['visit_id', 'bought'], where='mod(visit_id, 4) = 0') }}
