{# A person reads each ticket that the model is not sure of. #}
SELECT ticket, CASE WHEN probability >= 0.6 THEN prediction ELSE 'a person' END AS route
FROM {{ ref('ticket_teams') }}
