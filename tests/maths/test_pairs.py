"""Averaged one-dependence estimators: by hand, and against the formula of the paper in plain Python."""

from collections import Counter
from math import inf, log
from random import Random

import pytest
from support.inserted import insert
from support.matrices import scores

import nbsql

pytestmark = pytest.mark.usefixtures("form")


NAMES = ("a", "b", "c", "d")
OPTIONS = {"target": "y", "families": {"d": "categorical"}, "method": "aode"}


def rows(seed, count=300):
    """Rows of three classes and four columns that depend on each other, with gaps, and weights."""
    random, found = Random(seed), []  # noqa: S311
    for i in range(count):
        y = random.choice("kkmz")
        a = random.choice("uvw" if y == "k" else "uw")
        b = a if random.random() < 0.7 else random.choice("uvw")
        c = b + y if random.random() < 0.5 else random.choice(["uk", "vk", "wm"])
        row = {"a": a, "b": b, "c": c, "d": random.choice([1, 2])}
        gaps = {name: None for name in NAMES if random.random() < 0.1}
        found.append({"i": i, "y": y, **row, **gaps, "w": random.choice([0.5, 1.0, 2.0])})
    return found


def table(con, name, values):
    con.execute(f"CREATE TABLE {name} (i INTEGER, y VARCHAR, a VARCHAR, b VARCHAR, c VARCHAR, d INTEGER, w DOUBLE)")
    insert(con, name, [list(row.values()) for row in values])


class Reference:
    """The formula by enumeration: P(c, x) = 1 / |S| sum over i of P(c) P(x_i | c) prod over j of P(x_j | c, x_i)."""

    def __init__(self, learnt, alpha=1, shrinkage=None, least=1, *, weight=False):
        self.alpha, self.shrinkage, self.least = alpha, shrinkage, least
        self.learnt = [(row["w"] if weight else 1.0, row) for row in learnt]
        self.labels = sorted({row["y"] for row in learnt})
        self.values = {x: {row[x] for row in learnt} - {None} for x in NAMES}
        self.n = Counter()
        for w, row in self.learnt:
            present = [(x, row[x]) for x in NAMES if row[x] is not None]
            self.n[row["y"]] += w
            for x, v in present:
                self.n[row["y"], x, v] += w
                self.n[row["y"], x] += w
                self.n["met", x, v] += w
                for p, u in present:
                    self.n[row["y"], x, v, p, u] += w
                    self.n[row["y"], x, p, u] += w
                    self.n["met", x, p, u] += w

    def alone(self, y, x, v):
        return (self.n[y, x, v] + self.alpha) / (self.n[y, x] + self.alpha * len(self.values[x]))

    def given(self, y, x, v, p, u):
        n, total = self.n[y, x, v, p, u], self.n[y, x, p, u]
        if not self.n["met", x, p, u] or total + (self.alpha if self.shrinkage is None else self.shrinkage) == 0:
            return self.alone(y, x, v)
        if self.shrinkage is not None:
            return (n + self.shrinkage * self.alone(y, x, v)) / (total + self.shrinkage)
        return (n + self.alpha) / (total + self.alpha * len(self.values[x]))

    def joint(self, row):
        present = {x: row[x] for x in NAMES if row[x] in self.values[x]}
        parents = {p: u for p, u in present.items() if self.n["met", p, u] >= self.least}
        found = {}
        for y in self.labels:
            prior = self.n[y] / sum(self.n[label] for label in self.labels)
            products = []
            for p, u in parents.items():
                product = prior * self.alone(y, p, u)
                for x, v in present.items():
                    product *= 1 if x == p else self.given(y, x, v, p, u)
                products.append(product)
            if not parents:
                products = [prior]
                for x, v in present.items():
                    products[0] *= self.alone(y, x, v)
            mean = sum(products) / len(products)
            found[y] = log(mean) if mean > 0 else -inf
        return found


def expected(reference, asked):
    return {row["i"]: pytest.approx(reference.joint(row), abs=1e-9) for row in asked}


def fit(con, source, **options):
    wanted = {**OPTIONS, "exclude": ["i"] if "weight" in options else ["i", "w"], **options}
    return nbsql.fit(con, source, **wanted)


def test_a_table_written_out(con, joint):
    # Of the yes: a a b with x = u u v; of the no: a b b with x = u v v.
    con.execute("""CREATE TABLE t AS FROM (VALUES ('a', 'u', 'yes'), ('a', 'u', 'yes'), ('b', 'v', 'yes'),
      ('a', 'u', 'no'), ('b', 'v', 'no'), ('b', 'v', 'no')) AS t(p, x, y)""")
    model = nbsql.fit(con, "t", target="y", method="aode")
    found = {(row[0], row[2]): row[3] for row in model.likelihoods if row[1] == "pairs"}
    assert found["yes", '[["p","a"],["x","u"]]'] == pytest.approx((2 + 1) / (2 + 2), abs=1e-15)
    assert found["no", '[["x","v"],["p","a"]]'] == pytest.approx((0 + 1) / (2 + 2), abs=1e-15)
    assert found["no", '[["p","b"]]'] == pytest.approx((2 + 1) / (3 + 2), abs=1e-15)
    # Each of a and u as parent: P(yes) P(a | yes) P(u | yes, a), and P(yes) P(u | yes) P(a | yes, u).
    yes = 0.5 * (3 / 5 * 3 / 4 + 3 / 5 * 3 / 4) / 2
    no = 0.5 * (2 / 5 * 2 / 3 + 2 / 5 * 2 / 3) / 2
    (both,) = joint(model, "SELECT 'a' AS p, 'u' AS x")
    assert both == pytest.approx({"yes": log(yes), "no": log(no)}, abs=1e-12)
    for x in ("NULL", "'new'"):  # one parent without a child is what naive Bayes says
        (one,) = joint(model, f"SELECT 'a' AS p, {x} AS x")
        assert one == pytest.approx({"yes": log(0.5 * 3 / 5), "no": log(0.5 * 2 / 5)}, abs=1e-12)
    (none,) = joint(model, "SELECT NULL AS p, 'new' AS x")
    assert none == pytest.approx({"yes": log(0.5), "no": log(0.5)}, abs=1e-12)


def test_a_bin_that_no_row_is_in_is_a_value(con, joint):
    """As in naive Bayes, so that what the categories add and the ratios are of one formula."""
    con.execute("""CREATE TABLE t AS FROM (VALUES ('a', 1.0, 'yes'), ('a', 1.5, 'yes'), ('b', 2.5, 'yes'),
      ('a', 1.0, 'no'), ('b', 2.2, 'no'), ('b', 2.1, 'no')) AS t(p, x, y)""")
    model = nbsql.fit(con, "t", target="y", method="aode", families={"x": nbsql.Binned(by=[2, 3, 4])})
    # Of four bins two are met: P(x | yes, a) is (2 + 1) / (2 + 4) in the first, and (0 + 1) / (2 + 4) in a bin of no row,
    # which is no parent; P(x | yes) of the first bin is (2 + 1) / (3 + 4), and P(a | yes, x) then (2 + 1) / (2 + 2).
    met, never = joint(model, "SELECT 'a' AS p, x FROM (VALUES (1, 1.0), (2, 3.5)) AS t(i, x) ORDER BY i")
    yes = 0.5 * (3 / 5 * 3 / 6 + 3 / 7 * 3 / 4) / 2
    no = 0.5 * (2 / 5 * 2 / 5 + 2 / 7 * 2 / 3) / 2
    assert met == pytest.approx({"yes": log(yes), "no": log(no)}, abs=1e-12)
    assert never == pytest.approx({"yes": log(0.5 * 3 / 5 * 1 / 6), "no": log(0.5 * 2 / 5 * 1 / 5)}, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({}, nbsql.AODE()),
        ({"alpha": 0.25, "weight": "w"}, nbsql.AODE(least=90)),
        ({"alpha": 0}, nbsql.AODE()),
        ({"alpha": 0.5}, nbsql.AODE(shrinkage=3)),
        ({}, nbsql.AODE(least=1000)),
    ],
)
def test_scores_are_those_of_the_formula(con, options, method):
    learnt, asked = rows(1), rows(2, 60)
    asked += [asked[0] | {"i": 61, "a": "new"}, asked[1] | {"i": 62, "b": "new", "c": "new"}]
    asked += [asked[2] | {"i": 63} | dict.fromkeys(NAMES)]
    table(con, "learnt", learnt)
    table(con, "asked", asked)
    model = fit(con, "learnt", method=method, **options)
    reference = Reference(learnt, options.get("alpha", 1.0), method.shrinkage, method.least, weight="weight" in options)
    assert scores(model, "asked") == expected(reference, asked)


@pytest.mark.slow
def test_what_is_missing_may_be_a_category_and_numbers_are_cut(con):
    learnt = rows(3)
    table(con, "learnt", learnt)
    model = fit(con, "learnt", nulls="category")
    told = [row | {name: row[name] or "missing" for name in NAMES} for row in learnt]
    found = scores(model, "learnt")
    reference = Reference(told)
    assert found == {row["i"]: pytest.approx(reference.joint(row), abs=1e-9) for row in told}
    con.execute("CREATE TABLE wide AS SELECT y, a, b, ascii(y) * 10 + i % 12 + 0.5 AS x FROM learnt")
    cut = nbsql.fit(con, "wide", target="y", method="aode")
    edges = list(cut.families["x"].edges)
    con.execute(f"CREATE TABLE cut AS SELECT y, a, b, 'bin' || len(list_filter({edges}, lambda e: e <= x)) AS x FROM wide")
    other = nbsql.fit(con, "cut", target="y", method="aode")
    by = "SELECT prediction, probability FROM ({}) AS p"
    one, two = (
        [row[-1] for row in con.execute(by.format(m.predict(t).sql)).fetchall()] for m, t in ((cut, "wide"), (other, "cut"))
    )
    assert one == pytest.approx(two, abs=1e-9)


@pytest.mark.slow
def test_the_families_of_a_model_fit_another_source_alike(con):
    table(con, "learnt", rows(8))
    con.execute("CREATE TABLE wide AS SELECT y, a, b, ascii(y) * 10 + i % 12 + 0.5 AS x, i % 2 AS part FROM learnt")
    options = {"target": "y", "exclude": ["part"], "method": "aode"}
    whole = nbsql.fit(con, "wide", **options)
    parts = [nbsql.fit(con, f"FROM wide WHERE part = {part}", families=whole.families, **options) for part in (0, 1)]
    merged = nbsql.merge(con, parts)
    assert merged.families == whole.families
    one, two = ([row[-1] for row in model.log_evidence("wide")] for model in (merged, whole))
    assert one == pytest.approx(two, abs=1e-9)
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "wide", families=whole.families, **options | {"method": "naive"})
    assert str(caught.value) == "pairs come with method='aode', beside the columns they are of; leave them out of families"


def test_joined_columns_are_among_the_pairs(con):
    table(con, "learnt", rows(9))
    con.execute("CREATE TABLE shops AS SELECT d, 'shop ' || d % 2 AS shop, d > 1 AS large FROM range(1, 4) AS r(d)")
    joined = fit(con, "learnt", families={}, exclude=["i", "w"], joins=nbsql.Join("shops", on="d"))
    con.execute("CREATE VIEW flat AS SELECT learnt.* EXCLUDE (d), shop, large FROM learnt LEFT JOIN shops USING (d)")
    flat = fit(con, "flat", families={})
    assert [*joined.families] == ["a", "b", "c", "shop", "large", "pairs"]
    found = scores(flat, "flat")
    assert scores(joined, "learnt") == {i: pytest.approx(joint, abs=1e-9) for i, joint in found.items()}


def test_what_tells_two_classes_apart_has_the_counts_of_both_orders(con):
    learnt = rows(10)
    table(con, "learnt", learnt)
    reference = Reference(learnt)
    met = {f'["{x}","{v}"]': (x, v) for x in NAMES for v in reference.values[x]}
    told = {value: row for feature, value, *row in fit(con, "learnt").discrimination("k", "m") if feature == "pairs"}
    for one, (p, u) in met.items():
        assert told[f"[{one}]"][:2] == [reference.n[y, p, u] for y in "km"]
        for other, (x, v) in met.items():
            if p != x:
                assert told[f"[{one},{other}]"][:2] == [reference.n[y, x, v, p, u] for y in "km"]
                likely = [reference.given(y, x, v, p, u) for y in "km"]
                assert told[f"[{one},{other}]"][2:] == pytest.approx([*likely, log(likely[0] / likely[1])], abs=1e-9)


def test_too_many_pairs_are_refused(con, layout):
    layout(value_pairs=1_000)
    con.execute("""CREATE TABLE many AS SELECT i % 2 = 0 AS y, 'u' || i % 7 AS a, 'v' || i % 5 AS b, 'w' || i AS c
      FROM range(300) AS r(i)""")
    with pytest.raises(nbsql.InputError) as caught:
        nbsql.fit(con, "many", target="y", method="aode")
    assert str(caught.value) == (  # 7 * 5 + 7 * 300 + 5 * 300
        "method='aode' would count 3,635 pairs of values, and takes 1,000; leave out columns of many, such as 'c' with 300, "
        "by exclude=[...]"
    )
    assert [*nbsql.fit(con, "many", target="y", method="aode", exclude=["c"]).families] == ["a", "b", "pairs"]
