{# A ticket of which the model is not sure is read by a person. #}
SELECT ticket, CASE WHEN probability >= 0.6 THEN prediction ELSE 'a person' END AS route
FROM {{ ref('ticket_teams') }}
