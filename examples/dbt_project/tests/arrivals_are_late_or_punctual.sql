SELECT * FROM {{ ref('departures') }} WHERE arrival NOT IN ('late', 'punctual')
