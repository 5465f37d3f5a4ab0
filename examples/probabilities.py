"""A model from a book's probabilities, rows sampled from it, and the cost of the naive assumption: naive, joint, and joint
with a backoff.

Run: python examples/probabilities.py
"""

import duckdb

import nbsql

con = duckdb.connect()

# The lecture's table of the joint probabilities of two columns. It has no counts, so there is nothing to fit.
day = ("temperature", "wind")
book = nbsql.from_tables(
    con,
    name="book",
    target="play",
    priors={"yes": 0.3, "no": 0.7},
    likelihoods={
        "yes": {day: {("hot", "weak"): 0.4, ("hot", "strong"): 0.05, ("mild", "weak"): 0.15, ("mild", "strong"): 0.4}},
        "no": {day: {("hot", "weak"): 0.1, ("hot", "strong"): 0.4, ("mild", "weak"): 0.4, ("mild", "strong"): 0.1}},
    },
)
con.execute("CREATE TABLE today AS SELECT 'hot' AS temperature, 'weak' AS wind")
no, yes = con.execute("SELECT exp(COLUMNS('joint_.*')) FROM book.joint_log_likelihood('today')").fetchone()
prediction = con.execute("SELECT prediction FROM book.predict('today')").fetchone()[0]
print(f"hot and weak: {yes:.2f} for yes against {no:.2f} for no, so {prediction}")
assert (round(yes, 12), round(no, 12), prediction) == (0.12, 0.07, "yes")

# The generative model: ten thousand days, for each a class and then its weather. The seed makes them repeatable.
book.sample(10_000, seed=1).create_table("days")
share = con.execute("SELECT avg((play = 'yes')::INTEGER) FROM days").fetchone()[0]
print(f"{share:.1%} of the days drawn are yes")
assert abs(share - 0.3) < 0.02

# They are judged on days that they have not learnt.
book.sample(10_000, seed=2).create_table("other_days")

# Temperature and wind depend on each other here. Each alone carries little information, so the naive classifier gains nothing.
accuracy = {}
for title, options in {"naive": {}, "joint": {"method": "joint"}}.items():
    accuracy[title] = nbsql.fit(con, "days", target="play", **options).evaluate("other_days").accuracy
    print(f"accuracy of the {title} classifier: {accuracy[title]:.1%}")
best = book.evaluate("other_days").accuracy
print(f"accuracy of the book itself: {best:.1%}")
assert accuracy["naive"] < 0.72 < accuracy["joint"]
assert accuracy["joint"] == best

# The joint classifier cannot predict for a combination it has never seen, unless it may fall back on the naive one.
rare = "FROM days WHERE NOT (temperature = 'mild' AND wind = 'strong')"
new = "SELECT 'mild' AS temperature, 'strong' AS wind"
for backoff in (None, "naive"):
    model = nbsql.fit(con, rare, target="play", method=nbsql.JointBayes(backoff=backoff))
    print(f"a mild and windy day, backoff={backoff!r}: {model.predict(new).fetchall()[0][2]}")
assert model.predict(new).fetchall()[0][2] == nbsql.fit(con, rare, target="play").predict(new).fetchall()[0][2]

# How well the book explains the days sampled from it: the mean per day in nats, close to its negative entropy.
print(f"mean log-likelihood of a day: {book.log_likelihood('days', mean=True):.3f}")
