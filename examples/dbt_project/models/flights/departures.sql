{# What is known as a flight leaves the gate, and how it ended. arr_delay is the answer, and so no feature. #}
-- depends_on: {{ ref('flights_seed') }}
SELECT
  month,
  day,
  hour,
  carrier,
  origin,
  dest,
  distance,
  dep_delay,
  CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
FROM {{ source('raw', 'flights') }}
WHERE month BETWEEN {{ var('first_month') }} AND {{ var('last_month') }}
