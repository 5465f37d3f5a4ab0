{# What is known when a flight leaves the gate, and whether it arrived late. arr_delay is the answer, so it is not a feature. #}
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
