"""Will a flight land in time? Flights that left New York in 2013 (nycflights13, CC0), read directly from Parquet. The model has
four classes, is fitted on nine months and evaluated on the next three. It also finds the flights that fit no class.

Run: python examples/flights.py [PATH/flights.parquet]
"""

import sys
from importlib.resources import files

import duckdb

import nbsql

path = sys.argv[1] if sys.argv[1:] else str(files("nbsql") / "data" / "flights.parquet")
con = duckdb.connect()
con.read_parquet(path).create_view("flights")  # a view: the rows stay in the file
con.execute("""
    CREATE VIEW arrivals AS
    SELECT
        month, day, carrier, flight, origin, dest, hour, distance, dep_delay,
        CASE
            WHEN arr_delay <= 0 THEN 'in time'
            WHEN arr_delay <= 15 THEN 'nearly'
            WHEN arr_delay <= 60 THEN 'late'
            ELSE 'very late'
        END AS arrival
    FROM flights
    WHERE arr_delay IS NOT NULL -- NULL: cancelled or diverted
""")
con.execute("CREATE VIEW past AS FROM arrivals WHERE month <= 9")
con.execute("CREATE VIEW future AS FROM arrivals WHERE month > 9")

# The features are known at take-off. An hour is a number, but no normal distribution fits two rush hours.
model = nbsql.fit(
    con,
    "past",
    target="arrival",
    name="arrival",
    id=["month", "day", "flight"],  # not features: explanations include them
    families={"hour": "categorical"},
)
print(model)

# Everything below reads the model in SQL.
priors = con.execute("SELECT class, prior FROM arrival.priors ORDER BY prior DESC").fetchall()
print("classes:", ", ".join(f"{label} {prior:.1%}" for label, prior in priors))
assert priors[0][0] == "in time"
flights, majority, accuracy = con.execute("""
    SELECT
        count(*),
        count(*) FILTER (arrival = 'in time') / count(*),
        count(*) FILTER (arrival = prediction) / count(*)
    FROM arrival.predict('future')
""").fetchone()
print(f"{flights} flights of the last quarter: accuracy {accuracy:.1%}, of always saying 'in time' {majority:.1%}")
assert accuracy > 0.7
assert accuracy > majority + 0.1

# Calibration: among flights with a similar predicted probability of being late, the share that was late.
bands = con.execute("""
    SELECT avg(p) AS said, count(*) FILTER (arrival IN ('late', 'very late')) / count(*) AS was, count(*) AS n
    FROM (SELECT arrival, probability_late + "probability_very late" AS p FROM arrival.predict_proba('future'))
    GROUP BY least(floor(p * 4), 3)
    ORDER BY said
""").fetchall()
print("probability of being late:")
for said, was, n in bands:
    print(f"  said {said:4.0%}, was {was:4.0%} of {n} flights")
assert [was for _, was, _ in bands] == sorted(was for _, was, _ in bands)

# Flights that fit no class have the lowest ln p(x). No label tells the model that Honolulu is far away.
con.execute("""
    CREATE TABLE odd AS
    FROM arrival.log_evidence('future') ORDER BY log_evidence, month, day, carrier, flight LIMIT 100
""")
honolulu, among_odd = con.execute("""
    SELECT (SELECT count(*) FILTER (dest = 'HNL') / count(*) FROM future), count(*) FILTER (dest = 'HNL') / count(*) FROM odd
""").fetchone()
print(f"flights to Honolulu: {honolulu:.2%} of all, {among_odd:.0%} of the hundred oddest")
assert among_odd > 50 * honolulu

# What is odd about the oddest flight: ln p of each column in the class where it is most likely.
con.execute("CREATE TABLE oddest AS FROM odd ORDER BY log_evidence, month, day, carrier, flight LIMIT 1")
print("the oddest:")
for feature, value, best in con.execute("""
    SELECT feature, value, max(contribution) AS best FROM arrival.explain('oddest') WHERE feature IS NOT NULL
    GROUP BY feature, value ORDER BY best
""").fetchall():
    print(f"  {feature:<10} {value:<5} {best:6.1f}")
