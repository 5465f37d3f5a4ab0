"""Classes of several components: k-means against numpy, the mixture against arithmetic and a model of the components."""

import json
import math
from collections import defaultdict

import numpy as np
import pytest
from support.algebra import alike, same
from support.kmeans import deviations, kmeans, nearest

import nbsql

near = pytest.approx

FAMILIES = {
    "calls": nbsql.Poisson(a=0.5, b=1),
    "size": nbsql.Binned(bins=4),
    "words": nbsql.Multinomial(["w1", "w2"]),
    "note": nbsql.Text(alpha=0.5),
    "title": nbsql.Text(event="bernoulli"),
    "body": nbsql.Text(tfidf=True),
    "sky": nbsql.Categorical(nulls="category", unseen="smooth"),
}
OPTIONS = {"target": "y", "families": FAMILIES, "id": "i"}
NUMBERS = ["wind", "calls", "size", "far"]


@pytest.fixture
def rows(con):
    """Rows of three classes, of two or three lumps each, with a gap here and there."""
    con.execute("""
        CREATE TABLE t AS SELECT
            i, ['u', 'v', 'w'][1 + (hash(i, 1) % 10 >= 4)::INT + (hash(i, 1) % 10 >= 7)::INT] AS y,
            CASE WHEN i % 17 > 0 THEN (hash(i, 4) % 1000) / 250.0 + 9 * lump END::DOUBLE AS wind,
            CASE WHEN i % 13 > 0 THEN (hash(i, 5) % 6)::INT + 4 * (lump = 1)::INT END AS calls,
            (hash(i, 6) % 512)::DOUBLE / 8 - 20 * lump AS size, 1e9 + (hash(i, 7) % 100) + 300 * (lump = 2)::INT AS far,
            CASE WHEN i % 11 > 0 THEN 'v' || (hash(i, 2) % (2 + lump)) END AS sky, hash(i, 3) % 3 = lump AS warm,
            (hash(i, 8) % 4)::INT AS w1, (hash(i, 9) % 3)::INT + lump AS w2,
            CASE WHEN i % 5 > 0 THEN concat_ws(' ', 'n' || (hash(i, 10) % 4), 'm' || (hash(i, 11) % (1 + lump))) END AS note,
            concat_ws(' ', 'p' || (hash(i, 12) % 4), 'q' || (hash(i, 13) % (2 + lump))) AS title,
            concat_ws(' ', 'r' || (hash(i, 14) % 4), 's' || lump, 's' || lump) AS body,
            1 + (hash(i, 15) % 3)::INT AS times
        FROM (SELECT i, (hash(i) % 3)::INT AS lump FROM range(240) AS r(i))
    """)
    con.execute("INSERT INTO t (i, y, sky, times) VALUES (240, 'u', 'v1', 2), (241, 'v', 'v9', 0)")  # without any number
    return con


def matrix(con, label, weight="1"):
    """The numbers of a class, NaN where one is missing, and the weights."""
    columns = ", ".join(f"coalesce({name}::DOUBLE, 'nan')" for name in NUMBERS)
    found = con.execute(
        f"SELECT {columns}, {weight}::DOUBLE FROM t WHERE y = ? AND {weight} > 0 ORDER BY i", [label]
    ).fetchall()
    everything = np.array(found)
    return everything[:, :-1], everything[:, -1]


def centres(model):
    """The centres of each class, a row a component, and the scales."""
    found = defaultdict(lambda: defaultdict(dict))
    scales = defaultdict(dict)
    for label, component, _, _, feature, *_, centre, scale in model.components:
        if centre is not None:
            found[label][component][feature] = centre
            scales[label][feature] = scale
    return {
        label: (
            np.array([[parts[j][name] for name in NUMBERS] for j in sorted(parts)]),
            np.array([scales[label][name] for name in NUMBERS]),
        )
        for label, parts in found.items()
    }


@pytest.mark.few
@pytest.mark.parametrize("weight", [None, "times"])
def test_k_means_is_that_of_numpy(rows, weight):
    model = nbsql.fit(
        rows, "t", method=nbsql.Mixture({"u": 3, "v": 2}), weight=weight, exclude=[] if weight else ["times"], **OPTIONS
    )
    found = centres(model)
    assert set(found) == {"u", "v"}
    for label, k in (("u", 3), ("v", 2)):
        numbers, n = matrix(rows, label, weight or "1")
        expected, scales = kmeans(rows, numbers, n, k)
        assert found[label][0] == near(expected, rel=1e-9)
        assert found[label][1] == near(scales, rel=1e-12)
        sizes = np.bincount(nearest(numbers, expected, 1 / scales**2), n)
        shown = {(row[0], row[1]): row[2:4] for row in model.components}
        total = rows.execute(f"SELECT sum({weight or 1}) FROM t").fetchone()[0]
        assert [shown[label, j + 1] for j in range(k)] == [(size, near(size / total, rel=1e-12)) for size in sizes]


def test_the_mixture_is_that_of_arithmetic(con, joint):
    con.execute("""CREATE TABLE few AS FROM (VALUES
        ('a', -3.0, 1.0, 'r'), ('a', -2.0, 0.5, 'r'), ('a', -2.5, 2.0, 's'), ('a', 3.0, -1.0, 's'), ('a', 3.5, -2.5, 's'),
        ('b', 0.0, 0.0, 'r'), ('b', 1.0, 0.5, 's'), ('b', -1.0, 0.75, 's')) AS t(y, x1, x2, sky)""")
    model = nbsql.fit(con, "few", target="y", method=nbsql.Mixture({"a": 2}))
    parts = {
        "a": [(3 / 8, [(-3.0, 1.0), (-2.0, 0.5), (-2.5, 2.0)], {"r": 3 / 5, "s": 2 / 5}),
              (2 / 8, [(3.0, -1.0), (3.5, -2.5)], {"r": 1 / 4, "s": 3 / 4})],
        "b": [(3 / 8, [(0.0, 0.0), (1.0, 0.5), (-1.0, 0.75)], {"r": 2 / 5, "s": 3 / 5})],
    }  # fmt: skip

    def density(x, values):
        mean, variance = np.mean(values), np.var(values)
        return float(math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance))

    def likelihood(x1, x2, sky, label):
        return sum(
            prior * density(x1, [p[0] for p in points]) * density(x2, [p[1] for p in points]) * skies[sky]
            for prior, points, skies in parts[label]
        )

    cases = [(-2.2, 1.0, "r"), (3.1, -1.5, "s"), (0.2, 0.3, "r"), (1.6, -0.4, "s")]
    source = "FROM (VALUES " + ", ".join(f"({x1}, {x2}, '{sky}')" for x1, x2, sky in cases) + ") AS t(x1, x2, sky)"
    for case, found in zip(cases, joint(model, source), strict=True):
        assert found == {label: near(math.log(likelihood(*case, label)), rel=1e-12) for label in "ab"}
    for case, found in zip(cases, model.predict_proba(source), strict=True):
        a, b = (likelihood(*case, label) for label in "ab")
        assert found[-2:] == (near(a / (a + b), rel=1e-12), near(b / (a + b), rel=1e-12))
    for case, found in zip(cases, model.log_evidence(source), strict=True):
        assert found[-1] == near(math.log(likelihood(*case, "a") + likelihood(*case, "b")), rel=1e-12)

    # A contribution is the mean over the components, each by its share in p(x, c); that of the prior has what is left.
    for number, (x1, x2, sky) in enumerate(cases, start=1):
        shares = [p * density(x1, [v[0] for v in pts]) * density(x2, [v[1] for v in pts]) * s[sky] for p, pts, s in parts["a"]]
        shares = [share / sum(shares) for share in shares]
        expected = {
            None: sum(r * (math.log(p) - math.log(r)) for r, (p, _, _) in zip(shares, parts["a"], strict=True)),
            "x1": sum(
                r * math.log(density(x1, [v[0] for v in pts])) for r, (_, pts, _) in zip(shares, parts["a"], strict=True)
            ),
            "x2": sum(
                r * math.log(density(x2, [v[1] for v in pts])) for r, (_, pts, _) in zip(shares, parts["a"], strict=True)
            ),
            "sky": sum(r * math.log(s[sky]) for r, (_, _, s) in zip(shares, parts["a"], strict=True)),
        }
        rows = [row for row in model.explain(source) if row[0] == number and row[1] == "a"]
        assert {row[2]: row[4] for row in rows} == {name: near(value, rel=1e-9, abs=1e-12) for name, value in expected.items()}


def in_order(rows):
    """Rows in an order that rounding does not decide."""
    return sorted(rows, key=lambda row: repr([round(x, 6) if isinstance(x, float) else x for x in row]))


def log_sum(values):
    highest = max(values)
    return highest + math.log(sum(math.exp(value - highest) for value in values))


def divide(rows, model):
    """The table sub: the rows, each with its class and component as its class."""
    part = {}
    found = centres(model)
    for label in "uvw":
        ids = [row[0] for row in rows.execute("SELECT i FROM t WHERE y = ? ORDER BY i", [label]).fetchall()]
        query = f"SELECT {', '.join(NUMBERS)} FROM t WHERE y = ? ORDER BY i"
        found_rows = rows.execute(query, [label]).fetchall()
        numbers = np.array([[np.nan if x is None else float(x) for x in row] for row in found_rows])
        places = nearest(numbers, found[label][0], 1 / found[label][1] ** 2) if label in found else np.zeros(len(ids), int)
        part.update({i: f"{label}{place + 1}" for i, place in zip(ids, places, strict=True)})
    rows.execute("CREATE TABLE parts (i INT, part VARCHAR)")
    rows.executemany("INSERT INTO parts VALUES (?, ?)", list(part.items()))
    rows.execute("CREATE TABLE sub AS SELECT t.* REPLACE (part AS y) FROM t JOIN parts USING (i)")


def mixed(scores):
    """The joint log-likelihoods of classes from those of their components, which are labelled u1, u2, ..."""
    found = []
    for score in scores:
        members = defaultdict(list)
        for name, value in score.items():
            members[name[0]].append(value)
        found.append({label: log_sum(values) for label, values in members.items()})
    return found


@pytest.mark.few
@pytest.mark.slow
@pytest.mark.parametrize("prior", ["empirical", "smoothed"])
def test_other_families_in_components(rows, joint, prior):
    rows.execute("""CREATE OR REPLACE TABLE t AS SELECT * EXCLUDE (body, title, w1, w2), string_split(body, ' ') AS bag,
        map([title[:2], note[:2]], [1, 2]) AS counts, (hash(i, 20) % 9)::INT AS failures, 0.5 + hash(i, 21) % 50 / 9.0 AS wait
        FROM t WHERE note IS NOT NULL AND wind > 0""")
    families = {
        "calls": "geometric",
        "size": nbsql.Kernel(cells=40),
        "far": nbsql.Gaussian(prior=nbsql.NormalInverseGamma(kappa=2, a=3)),
        "wind": nbsql.Gaussian(shared_variance=True),
        "note": nbsql.Text(norm="l2", tfidf=True),
        "failures": nbsql.Categorical(levels=["7"]),
        "wait": "lognormal",
        "both": nbsql.Joint(["sky", "warm"], unseen="smooth"),
    }
    options = {"target": "y", "id": "i", "families": families, "exclude": ["times"]}
    model = nbsql.fit(rows, "t", method=nbsql.Mixture(2), prior=prior, **options)
    assert len({row[:2] for row in model.components}) == 6
    NUMBERS[:], before = ["wind", "calls", "size", "far", "wait"], list(NUMBERS)
    try:
        divide(rows, model)
    finally:
        NUMBERS[:] = before
    priors = {label: value for label, _, value, _ in model.priors}
    sizes = dict(rows.execute("SELECT y, count(*) FROM sub GROUP BY y").fetchall())
    totals = {label: sum(size for name, size in sizes.items() if name[0] == label) for label in "uvw"}
    given = {name: priors[name[0]] * size / totals[name[0]] for name, size in sizes.items()}
    oracle = nbsql.fit(rows, "sub", prior=given, **options)
    source = "SELECT * EXCLUDE (y) FROM t"
    for found, expected in zip(joint(model, source), mixed(joint(oracle, source)), strict=True):
        assert found == {label: near(value, rel=1e-10, abs=1e-10) for label, value in expected.items()}


@pytest.mark.slow
def test_the_mixture_is_that_of_a_model_of_the_components(rows, form, joint):
    prior = {"u": 0.2, "v": 0.3, "w": 0.5}
    model = nbsql.fit(rows, "t", method=nbsql.Mixture({"u": 3, "w": 2}), name="m", weight="times", prior=prior, **OPTIONS)
    divide(rows, model)
    sizes = dict(rows.execute("SELECT y, sum(coalesce(times, 0)) FROM sub GROUP BY y").fetchall())
    totals = {label: sum(size for name, size in sizes.items() if name[0] == label) for label in "uvw"}
    priors = {name: prior[name[0]] * (size / totals[name[0]]) for name, size in sizes.items()}
    oracle = nbsql.fit(rows, "sub", weight="times", prior=priors, **OPTIONS)

    source = "SELECT * EXCLUDE (y) FROM t UNION ALL BY NAME SELECT 'never' AS sky, 3 AS wind UNION ALL BY NAME SELECT 999 AS i"
    scores = joint(model, source)
    expected = mixed(joint(oracle, source))
    assert len(scores) == 244
    for found, wanted in zip(scores, expected, strict=True):
        assert found == {label: near(value, rel=1e-10, abs=1e-10) for label, value in wanted.items()}

    # The other verbs say the same, in SQL too.
    evidence = [log_sum(list(score.values())) for score in expected]
    assert [row[-1] for row in model.log_evidence(source)] == near(evidence, rel=1e-10)
    posteriors = model.predict_proba(source).fetchall()
    for row, score, mass in zip(posteriors, expected, evidence, strict=True):
        best = max(score, key=lambda label: score[label])
        assert row[-5:-3] == (best, near(math.exp(score[best] - mass), rel=1e-9))
        assert row[-3:] == tuple(near(math.exp(score[label] - mass), rel=1e-9, abs=1e-300) for label in "uvw")
    sums = defaultdict(float)
    for row in model.explain(source):
        sums[row[0], row[2]] += row[-1]
    for number, score in enumerate(expected, start=1):
        assert {label: sums[number, label] for label in "uvw"} == {k: near(v, rel=1e-9, abs=1e-9) for k, v in score.items()}
    rows.execute(f"CREATE VIEW asked AS {source}")
    for verb in ("predict", "predict_proba", "joint_log_likelihood", "log_evidence", "explain"):
        in_sql = in_order(rows.execute(f"FROM m.{verb}('asked')").fetchall())
        same(in_order(getattr(model, verb)("asked").fetchall()), in_sql)
        same(in_order(rows.execute(model.sql(verb, "asked", inline=True)).fetchall()), in_sql)
    first = model.predict("asked", top_k=1).fetchall()
    assert [row[-3] for row in first] == [row[-5] for row in posteriors]
    assert all(row[-2] == "w" for row in model.predict("asked", thresholds={"w": 0.0}))


@pytest.mark.slow
def test_one_component_is_the_plain_model(rows):
    plain = nbsql.fit(rows, "t", name="plain", **OPTIONS)
    for asked in (1, {"u": 1, "v": 1}):
        one = nbsql.fit(rows, "t", method=nbsql.Mixture(asked), name="one", replace=True, **OPTIONS)
        specs = [json.loads(rows.execute(f"SELECT spec FROM {name}.spec").fetchone()[0]) for name in ("plain", "one")]
        assert specs[0] == specs[1]
        alike(one.statistics.fetchall(), plain.statistics.fetchall())
        same(one.predict_proba("FROM t ORDER BY i").fetchall(), plain.predict_proba("FROM t ORDER BY i").fetchall())
        assert one.sql("predict", "t").replace('"one"', '"plain"') == plain.sql("predict", "t")


def test_equal_lumps_crosswise(con):
    # Four lumps, two of each class, crosswise: the classes have the same means and variances, and only their parts differ.
    con.execute("""CREATE TABLE crosswise AS SELECT
        a <> b AS y, 10 * a + c / 8.0 AS x1, 10 * b + d / 8.0 AS x2
        FROM range(2) AS r(a), range(2) AS s(b), range(9) AS u(c), range(9) AS v(d)""")
    plain = nbsql.fit(con, "crosswise", target="y")
    assert plain.evaluate("crosswise").accuracy == 0.5
    model = nbsql.fit(con, "crosswise", target="y", method=nbsql.Mixture(2))
    assert model.evaluate("crosswise").accuracy == 1.0
    found = {tuple(row[:2]): row[2:4] for row in model.components}
    assert found == {(label, j): (81.0, 0.25) for label in (False, True) for j in (1, 2)}
    means = {(row[0], row[4], round(row[8], 9)) for row in model.components}
    assert means == {(y, f"x{f}", mean) for y in (False, True) for f in (1, 2) for mean in (0.5, 10.5)}
    assert {round(row[9], 12) for row in model.components} == {round(60 / 9 / 64, 12)}  # (4^2 + ... + 4^2) / 9 eighths squared
    score = model.joint_log_likelihood("SELECT 10.5 AS x1, 0.5 AS x2").fetchall()[0]
    assert score[-1] == near(math.log(1 / 4) - math.log(2 * math.pi * 60 / 9 / 64), rel=1e-12)


def test_a_middle_between_two_sides(con):
    # Class 'sides' is on both sides of 'middle': one density for both sides is a wide one, which the middle is most of.
    con.execute("""CREATE TABLE line AS SELECT 'middle' AS y, i / 10.0 AS x FROM range(-10, 11) AS r(i)
        UNION ALL SELECT 'sides', side + i / 10.0 FROM range(-10, 11) AS r(i), (VALUES (1.5), (-1.5)) AS s(side)""")
    options = {"target": "y", "prior": {"middle": 0.5, "sides": 0.5}}
    plain, model = nbsql.fit(con, "line", **options), nbsql.fit(con, "line", method=nbsql.Mixture({"sides": 2}), **options)
    variance = sum(i * i for i in range(-10, 11)) / 21 / 100
    sides = sorted(row[8:10] for row in model.components if row[0] == "sides")
    assert sides == [(near(-1.5), near(variance)), (near(1.5), near(variance))]

    def middle(x):
        """P(middle | x), of densities that differ in their means alone."""
        sides = (math.exp(-((x - 1.5) ** 2) / (2 * variance)) + math.exp(-((x + 1.5) ** 2) / (2 * variance))) / 2
        return 1 / (1 + sides / math.exp(-(x**2) / (2 * variance)))

    for x, *_, posterior, _ in model.predict_proba("SELECT x FROM line"):
        assert posterior == near(middle(float(x)), rel=1e-9)
    losses = [each.evaluate("line").log_loss for each in (model, plain)]
    assert losses[0] < losses[1] - 0.02


@pytest.mark.slow
def test_large_classes_settle_on_a_sample_first(rows, layout):
    options = {"target": "y", "features": ["wind"], "method": nbsql.Mixture(3)}
    known = {key: near(values, rel=1e-9) for key, values in centres_of(nbsql.fit(rows, "t", **options)).items()}
    layout(sample_rows=40, cluster_rows=20)
    for source in ("t", "FROM t ORDER BY hash(i, 3)"):  # the lumps are far apart, so that there is one best answer
        assert centres_of(nbsql.fit(rows, source, **options)) == known
    layout(cluster_scans=1)
    with pytest.warns(nbsql.NbsqlWarning) as warned:
        nbsql.fit(rows, "t", **options)
    assert [str(w.message) for w in warned][:1] == [
        "the centres of class 'u', 'v', 'w' still moved after 1 scans; they are taken as they are"
    ]


def centres_of(model):
    """The centres by class, sorted: lumps of as many rows have no order."""
    found = defaultdict(list)
    for row in model.components:
        found[row[0], row[4]].append(row[11])
    return {key: sorted(values) for key, values in found.items()}


def test_scales_are_those_of_the_class(rows):
    found = centres(nbsql.fit(rows, "t", method=nbsql.Mixture(2), exclude=["times"], **OPTIONS))
    for label in "uvw":
        assert found[label][1] == near(deviations(*matrix(rows, label)), rel=1e-12)
