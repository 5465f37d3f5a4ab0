"""Who earns more than 50,000 dollars? The US census of 1994 (UCI "Adult"): categories, numbers, weights, missing values.

Run: python examples/census.py PATH/adult.csv.gz
"""

import math
import sys

import duckdb

import nbsql

if len(sys.argv) != 2:
    sys.exit(__doc__)

con = duckdb.connect()
con.execute(
    "CREATE TABLE people AS SELECT row_number() OVER () AS person, * FROM read_csv(?, nullstr = '?')",  # '?' means unknown
    [sys.argv[1]],
)
con.execute("CREATE VIEW train AS SELECT * EXCLUDE (split) FROM people WHERE split = 'train'")
con.execute("CREATE VIEW test AS SELECT * EXCLUDE (split) FROM people WHERE split = 'test'")

options = {
    "target": "income",
    "id": "person",
    "weight": "fnlwgt",  # how many people of the country a row of the sample represents
    # Nine in ten people have neither gains nor losses. A normal distribution cannot express that, a category can.
    "families": {"capital_gain": "categorical", "capital_loss": "categorical"},
}
print("columns by family:")
for name, family in nbsql.families(con, "train", **options).items():
    print(f"  {name:<16} {family}")

# A missing value is left out of a person's score (skip), or is a value of its own (category).
for nulls in ("skip", "category"):
    nbsql.fit(con, "train", name=nulls, nulls=nulls, **options)
print("models in the database:", *nbsql.models(con))


(majority,) = con.execute("SELECT sum(fnlwgt) FILTER (income = '<=50K') / sum(fnlwgt) FROM test").fetchone()
print(f"share of the larger class:       {majority:.1%}")
accuracy, of_unknown = {}, {}
for nulls in ("skip", "category"):
    accuracy[nulls], of_unknown[nulls], unknown = con.execute(f"""
        SELECT
            sum(fnlwgt) FILTER (prediction = income) / sum(fnlwgt),
            sum(fnlwgt) FILTER (prediction = income AND occupation IS NULL) / sum(fnlwgt) FILTER (occupation IS NULL),
            count(*) FILTER (occupation IS NULL)
        FROM {nulls}.predict('test')
    """).fetchone()
    name = f"accuracy with nulls={nulls!r}:"
    print(f"{name:<32} {accuracy[nulls]:.1%}, of the {unknown} without an occupation {of_unknown[nulls]:.1%}")
assert majority < 0.77
assert accuracy["skip"] > 0.85
assert accuracy["category"] > accuracy["skip"]  # a missing occupation carries information
assert of_unknown["category"] > of_unknown["skip"]

# Why is the first person who earns more predicted to earn more? A log-odds above 0 favours more than 50,000 dollars.
con.execute("""
    CREATE TABLE someone AS
    FROM category.predict('test') WHERE income = '>50K' AND prediction = income ORDER BY person LIMIT 1
""")
(probability,) = con.execute("SELECT probability FROM someone").fetchone()
why = con.execute("""
    SELECT coalesce(feature, 'prior'), value, sum(if(class = '>50K', contribution, -contribution)) AS log_odds
    FROM category.explain('someone')
    GROUP BY feature, value
    ORDER BY abs(log_odds) DESC
""").fetchall()
print(f"one person with P(income > 50K) = {probability:.3f}, because:")
for feature, value, log_odds in why[:6]:
    print(f"  {feature:<16} {value or '':<20} {log_odds:+.2f}")
assert len(why) == 14  # thirteen columns and the prior, which add up to the log-odds of the prediction:
assert math.isclose(sum(log_odds for *_, log_odds in why), math.log(probability / (1 - probability)), rel_tol=1e-9)
