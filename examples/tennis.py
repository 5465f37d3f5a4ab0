"""The fourteen days of tennis (Quinlan 1986): the textbook's fractions, in Python and in SQL.

Run: python examples/tennis.py
"""

import duckdb

import nbsql

con = duckdb.connect()
con.execute("""
    CREATE TABLE days AS FROM (VALUES
        (1, 'sunny', 'hot', 'high', 'weak', 'no'), (2, 'sunny', 'hot', 'high', 'strong', 'no'),
        (3, 'overcast', 'hot', 'high', 'weak', 'yes'), (4, 'rain', 'mild', 'high', 'weak', 'yes'),
        (5, 'rain', 'cool', 'normal', 'weak', 'yes'), (6, 'rain', 'cool', 'normal', 'strong', 'no'),
        (7, 'overcast', 'cool', 'normal', 'strong', 'yes'), (8, 'sunny', 'mild', 'high', 'weak', 'no'),
        (9, 'sunny', 'cool', 'normal', 'weak', 'yes'), (10, 'rain', 'mild', 'normal', 'weak', 'yes'),
        (11, 'sunny', 'mild', 'normal', 'strong', 'yes'), (12, 'overcast', 'mild', 'high', 'strong', 'yes'),
        (13, 'overcast', 'hot', 'normal', 'weak', 'yes'), (14, 'rain', 'mild', 'high', 'strong', 'no')
    ) AS t(day, outlook, temperature, humidity, wind, play)
""")

# Without smoothing (alpha=0) every estimate is a fraction of counts, as in the textbook.
model = nbsql.fit(con, "days", target="play", name="tennis", id="day", alpha=0)

# The same number in three ways: counted by hand, from Python, and from any DuckDB shell.
by_hand = con.execute("SELECT count(*) / 9 FROM days WHERE play = 'yes' AND outlook = 'sunny'").fetchone()[0]
in_python = {(label, feature, value): p for label, feature, value, p, *_ in model.likelihoods}
in_sql = con.execute("""
    SELECT likelihood FROM tennis.likelihoods WHERE class = 'yes' AND feature = 'outlook' AND value = 'sunny'
""").fetchone()[0]
print(f"P(outlook = sunny | yes) = 2/9 = {in_sql:.4f}")
assert by_hand == in_python["yes", "outlook", "sunny"] == in_sql == 2 / 9

priors = {label: prior for label, _, prior, _ in model.priors}
print(f"P(play = yes) = 9/14 = {priors['yes']:.4f}")
assert priors == {"yes": 9 / 14, "no": 5 / 14}
assert in_python["yes", "outlook", "overcast"] == 4 / 9
assert in_python["no", "outlook", "overcast"] == 0

# A new day: sunny, cool, humid and windy. The textbook has 0.0053 for yes against 0.0206 for no.
con.execute("CREATE TABLE today AS FROM days LIMIT 0")
con.execute("INSERT INTO today VALUES (15, 'sunny', 'cool', 'high', 'strong', NULL)")
yes, no = 9 / 14 * (2 / 9) * (3 / 9) * (3 / 9) * (3 / 9), 5 / 14 * (3 / 5) * (1 / 5) * (4 / 5) * (3 / 5)
prediction, probability = con.execute("SELECT prediction, probability FROM tennis.predict('today')").fetchone()
print(f"a sunny, cool, humid, windy day: {prediction}, with probability {probability:.3f}")
assert prediction == "no"
assert abs(probability - no / (yes + no)) < 1e-12
assert model.predict("today").fetchall()[0][-2:] == (prediction, probability)

# Why: the factor of each feature in the odds of no against yes, in rising order. 1 is neutral; the first row is the prior.
model.explain("today").create_table("why")
print("odds of no against yes:")
odds = 1.0
for feature, value, factor in con.execute("""
    SELECT coalesce(feature, 'prior'), value, exp(sum(if(class = 'no', contribution, -contribution))) AS factor
    FROM why GROUP BY ALL ORDER BY factor
""").fetchall():
    print(f"  {feature:<12} {value or '':<8} {factor:6.2f}")
    odds *= factor
assert abs(odds - no / yes) < 1e-12
