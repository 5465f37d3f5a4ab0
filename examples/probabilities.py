"""Probabilities from a book, rows drawn from them, and what the naive assumption costs: naive, joint, and joint with a backoff.

Run: python examples/probabilities.py
"""

import duckdb

import nbsql

con = duckdb.connect()

# The lecture's table of two columns at once: nobody counted anything, so there is nothing to fit.
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

# The generative story: ten thousand days as the book has them, a class first and then its weather, always the same ones.
book.sample(10_000, seed=1).create_table("days")
share = con.execute("SELECT avg((play = 'yes')::INTEGER) FROM days").fetchone()[0]
print(f"{share:.1%} of the days drawn are yes")
assert abs(share - 0.3) < 0.02

# Temperature and wind depend on each other here, so that each alone says nothing, and the naive classifier finds nothing.
accuracy = {}
for title, options in {"naive": {}, "joint": {"method": "joint"}}.items():
    accuracy[title] = nbsql.fit(con, "days", target="play", **options).evaluate("days").accuracy
    print(f"accuracy of the {title} classifier: {accuracy[title]:.1%}")
best = book.evaluate("days").accuracy
print(f"accuracy of the book itself: {best:.1%}")
assert accuracy["naive"] < 0.72 < accuracy["joint"]
assert accuracy["joint"] == best

# What the joint classifier has never seen it cannot say, unless it may fall back on the naive one.
rare = "FROM days WHERE NOT (temperature = 'mild' AND wind = 'strong')"
new = "SELECT 'mild' AS temperature, 'strong' AS wind"
for backoff in (None, "naive"):
    model = nbsql.fit(con, rare, target="play", method=nbsql.JointBayes(backoff=backoff))
    print(f"a mild and windy day, backoff={backoff!r}: {model.predict(new).fetchall()[0][2]}")
assert model.predict(new).fetchall()[0][2] == nbsql.fit(con, rare, target="play").predict(new).fetchall()[0][2]

# How well the book explains what was drawn from it: on average per day, in nats, close to its own entropy.
print(f"mean log-likelihood of a day: {book.log_likelihood('days', mean=True):.3f}")
