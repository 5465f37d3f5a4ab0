-- What `nbsql demo` makes of the flights that ship with nbsql: every tenth or so that left New York City in 2013.
-- Source: R package nycflights13 (H. Wickham, CC0), after the US Bureau of Transportation Statistics.

-- the flights
CREATE TABLE flights AS
SELECT * FROM read_parquet($file);

-- what is known as a flight leaves the gate, and how it ended
-- Left out: arr_delay, which is the answer, and arr_time and air_time, which are known only after the landing.
-- A cancelled flight never arrives, early or late.
CREATE VIEW departures AS
SELECT
  carrier || flight AS flight,
  month,
  day,
  hour,
  carrier,
  origin,
  dest,
  distance,
  dep_delay,
  CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
FROM flights
WHERE arr_delay IS NOT NULL;

-- the flights to learn from
CREATE TABLE learnt AS
SELECT * FROM departures WHERE day <= 20;

-- the flights to be judged on, of other days, which no model has seen
CREATE TABLE held_back AS
SELECT * FROM departures WHERE day > 20;

-- six of those flights, to look at
CREATE VIEW one_afternoon AS
SELECT * FROM held_back WHERE month = 6 AND day = 28 AND hour = 13;

-- one flight, to explain
CREATE VIEW one_flight AS
SELECT * FROM one_afternoon WHERE flight = 'MQ3361';
